/** Writes message heads as Latin-1 text. */

/** What no field may hold: it would end the line, or be no character of Latin-1. */
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether it can be the value of a field. */
export const isWritable = (text: string): boolean => !unwritable.test(text);

/** A reason phrase, or none where that could not be written. */
export const toReason = (text: string): string => (isWritable(text) ? text : '');

/** Names and values in turn, each a line. */
export function toFieldLines(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (!isWritable(value)) throw new TypeError(`the header ${headers[i]} holds what no header may hold`);
    lines += `${headers[i]}: ${value}\r\n`;
  }
  return lines;
}

/** The date of an answer, made once a second at most. */
export class DateLine {
  #text = '';
  #second = 0;

  at(nowMs: number): string {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toUTCString();
    }
    return this.#text;
  }
}
