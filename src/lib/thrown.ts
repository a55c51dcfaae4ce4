/** Reads message and code of a thrown value of any type. */

/** Its message. An error of several addresses has its messages in the parts. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(reasonOf).join(', ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Message and stack, for bugs of our own. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** The system's error name, such as ENOSPC. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
