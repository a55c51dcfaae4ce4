/** Results of the response parsers of `src/wire` and `node:http` for given bytes. All text is Latin-1: a character is a byte. */

import { EventEmitter } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { AnswerMemo } from '../../../src/wire/answer-head.ts';
import { type AnswerHandler, ClientCall, toBeginning } from '../../../src/wire/client-call.ts';
import { ClientConnection } from '../../../src/wire/client-connection.ts';
import { Wheel } from '../../../src/wire/wheel.ts';

/** One that came whole. */
interface ReadAnswer {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn, of the head and of the trailers. */
  readonly fields: readonly string[];
  readonly trailers: readonly string[];
  readonly body: string;
}

/** Or why there is none. */
export type AnswerReading = ReadAnswer | { readonly why: string };

/** Leads nowhere; a real socket costs ten times as much to make. */
class NoSocket extends EventEmitter {
  readonly writableNeedDrain = false;
  isOver = false;

  write(): boolean {
    return true;
  }

  destroy(): void {
    this.isOver = true;
  }

  ref(): void {}

  unref(): void {}

  pause(): void {}

  resume(): void {}
}

class Recorder implements AnswerHandler {
  reading: AnswerReading | undefined = undefined;
  #head: Pick<ReadAnswer, 'status' | 'reason' | 'fields'> = { status: 0, reason: '', fields: [] };
  #body = '';

  onStart(): void {}

  onSent(): void {}

  onFirstByte(): void {}

  onHead(status: number, reason: string, fields: readonly string[]): void {
    this.#head = { status, reason, fields };
  }

  onBody(piece: Buffer): void {
    this.#body += piece.toString('latin1');
  }

  onEnd(trailers: readonly string[]): void {
    this.reading = { ...this.#head, trailers, body: this.#body };
  }

  onError(error: Error): void {
    this.reading = { why: error.message };
  }
}

const wheel = new Wheel(60_000);
/** Of all answers: a known head must be read as if it were the first. */
const heads = new AnswerMemo();
const owner = { onFree() {}, onEndedEarly() {}, onClosed() {} };

/** The server ends the connection behind the segments. */
export function readAnswerAsWeDo(method: string, segments: readonly Buffer[]): AnswerReading {
  const socket = new NoSocket();
  const options = { wheel, heads, keepAliveMs: 60_000, lifeMs: 60_000 };
  const connection = new ClientConnection(socket as unknown as Socket, owner, options);
  const recorder = new Recorder();
  connection.send(new ClientCall({ method, path: '/', headers: [] }, toBeginning(method, '/', 'a'), recorder));
  for (const segment of segments) if (!socket.isOver) socket.emit('data', segment);
  if (!socket.isOver) socket.emit('end');
  connection.destroy(new Error('nothing came of it'));
  return recorder.reading ?? { why: 'nothing came of it' };
}

class MemoryConnection extends Duplex {
  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): void {}

  setKeepAlive(): void {}

  ref(): void {}

  unref(): void {}
}

export function readAnswerAsNodeDoes(method: string, bytes: Buffer): Promise<AnswerReading> {
  return new Promise((resolve) => {
    const connection = new MemoryConnection();
    connection.on('error', () => {});
    const call = request({
      method,
      path: '/',
      headers: { host: 'a' },

      createConnection: () => connection,
    });
    // An answer that was complete earlier is reported later.
    const fail = (why: string): void => void setImmediate(() => setImmediate(() => resolve({ why })));
    call.on('error', (error: Error & { code?: string }) => fail(error.code ?? error.message));
    call.on('close', () => fail('nothing came of it'));
    call.on('upgrade', () => resolve({ why: 'another protocol' }));
    call.on('response', (answer) => record(answer, resolve));
    call.on('socket', () => {
      connection.push(bytes);
      connection.push(null);
    });
    call.end();
  });
}

function record(answer: IncomingMessage, resolve: (reading: AnswerReading) => void): void {
  const { statusCode: status = 0, statusMessage: reason = '', rawHeaders: fields } = answer;
  let body = '';
  answer.setEncoding('latin1');
  answer.on('data', (piece: string) => {
    body += piece;
  });
  answer.on('error', () => {});
  answer.on('end', () => {
    if (answer.complete) resolve({ status, reason, fields, trailers: answer.rawTrailers, body });
    else resolve({ why: 'it ended early' });
  });
}
