/** Prepares the beginning of an answer for the parser of the HTTP client: informational heads go, the status line comes in one piece. */

import type { Socket } from 'node:net';
import { errors } from 'undici';

/** As much as the parser takes of any head. */
const heldLimitBytes = 64 * 1024;

const version = Buffer.from('HTTP/1.1 ');
const headEnd = Buffer.from('\r\n\r\n');
const lineEnd = 0x0a;
const digitOne = 0x31;

/**
 * HTTP allows an upstream to say "100 Continue" unasked, which the parser takes for an error, and to say other things before
 * its answer, which nobody here reads. Of a status line in two segments the parser keeps the last piece of the text.
 *
 * Looked at is only where an answer begins: between the head of a request (the one thing that the client writes as text) and
 * the first bytes that are no informational head.
 */
export function readAnswersWhole(socket: Socket): void {
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket);
  let awaitingHead = false;
  let held: Buffer | undefined;

  function readAnswer(): Buffer | null {
    const chunk: unknown = read();
    if (!Buffer.isBuffer(chunk)) return null;
    let bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    let skippedBytes = informationalBytes(bytes);
    while (skippedBytes !== undefined && skippedBytes > 0) {
      bytes = bytes.subarray(skippedBytes);
      skippedBytes = informationalBytes(bytes);
    }
    if (skippedBytes === 0) {
      awaitingHead = false;
      return bytes;
    }
    if (bytes.length > heldLimitBytes) socket.destroy(new errors.HeadersOverflowError());
    held = bytes;
    return null;
  }

  Object.assign(socket, {
    write(chunk: string | Uint8Array, ...more: never[]): boolean {
      if (typeof chunk === 'string') awaitingHead = true;
      return write(chunk, ...more);
    },
    read(size?: number): unknown {
      return awaitingHead ? readAnswer() : read(size);
    },
  });
}

/** How long the informational head is that stands here: 0 where another answer does, or none; undefined while that is open. */
function informationalBytes(bytes: Buffer): number | undefined {
  if (!mayBeHttp(bytes)) return 0;
  const lineEndsAt = bytes.indexOf(lineEnd);
  if (lineEndsAt === -1) return undefined;
  if (!isInformational(bytes, lineEndsAt)) return 0;
  const headEndsAt = bytes.indexOf(headEnd);
  return headEndsAt === -1 ? undefined : headEndsAt + headEnd.length;
}

/** True too of what may yet become the beginning of an answer. */
function mayBeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, version.length);
  return bytes.compare(version, 0, length, 0, length) === 0;
}

/** All but 101, after which no HTTP would follow. */
function isInformational(bytes: Buffer, lineEndsAt: number): boolean {
  if (bytes[version.length] !== digitOne) return false;
  return /^1(?!01)[0-9]{2}(?![0-9])/.test(bytes.toString('latin1', version.length, lineEndsAt));
}
