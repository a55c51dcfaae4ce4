/** Names and values in turn of the rate headers of a limiter's answer. */
export const headersIn = (answer: { lines(): string }): string[] =>
  answer
    .lines()
    .split(/: |\r\n/)
    .slice(0, -1);
