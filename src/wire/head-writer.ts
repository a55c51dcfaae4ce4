/** Writes message heads as Latin-1 text, and short messages in one piece. */

import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** A longer body costs less as a second piece than as a copy. */
export const mostMessageBytes = 12 * 1024;
/** Each short message is put together here: the system copies it at once, or the next one gets another buffer. */
let message = Buffer.allocUnsafeSlow(mostMessageBytes);

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

/** The system has all that was written: what is encrypted, or waits behind other bytes, is on its way for a while. */
export const hasLeft = (socket: Pick<Socket, 'writableLength'>): boolean =>
  socket.writableLength === 0 && !(socket instanceof TLSSocket);

/** Head and body together are at most `mostMessageBytes`. False where the other side is behind. */
export function writeMessage(
  socket: Pick<Socket, 'write' | 'writableLength'>,
  head: string,
  body: readonly Buffer[],
  written?: () => void,
): boolean {
  // Each message would need a buffer.
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
