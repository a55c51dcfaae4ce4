/** Writes message heads as Latin-1 text, and short messages in one piece. */

import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Limit of a message that is copied into one piece; a longer body costs less as a second piece. */
export const mostMessageBytes = 12 * 1024;
/** The buffer for short messages. The system copies them at once; otherwise the next message gets another buffer. */
let message = Buffer.allocUnsafeSlow(mostMessageBytes);

/** Characters that no field may have: they would end the line, or are not in Latin-1. */
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether a text can be the value of a field. */
export const isWritable = (text: string): boolean => !unwritable.test(text);

/** The reason phrase; empty where it cannot be written. */
export const toReason = (text: string): string => (isWritable(text) ? text : '');

/** Header lines from a list of names and values alternately. */
export function toFieldLines(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (!isWritable(value)) throw new TypeError(`the header ${headers[i]} holds what no header may hold`);
    lines += `${headers[i]}: ${value}\r\n`;
  }
  return lines;
}

/** Whether the system has all written bytes; false for TLS, which encrypts later, and if bytes wait for others. */
export const hasLeft = (socket: Pick<Socket, 'writableLength'>): boolean =>
  socket.writableLength === 0 && !(socket instanceof TLSSocket);

/** Writes head and body, together at most `mostMessageBytes`. False where the other side does not read fast enough. */
export function writeMessage(
  socket: Pick<Socket, 'write' | 'writableLength'>,
  head: string,
  body: readonly Buffer[],
  written?: () => void,
): boolean {
  // While bytes wait, the shared buffer would be replaced for every message.
  if (!hasLeft(socket)) {
    let text = head;
    for (const piece of body) text += piece.toString('latin1');
    return socket.write(text, 'latin1', written);
  }
  let end = message.write(head, 'latin1');
  for (const piece of body) end += piece.copy(message, end);
  const isOpen = socket.write(message.subarray(0, end), written);
  if (socket.writableLength > 0) message = Buffer.allocUnsafeSlow(mostMessageBytes);
  return isOpen;
}

/** Makes the `date` line of answers, at most once a second. */
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
