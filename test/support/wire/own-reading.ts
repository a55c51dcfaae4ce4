/** Parses segments with the server of `src/wire`, without a network and synchronously. */

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WireFault } from '../../../src/wire/fault.ts';
import { SharedHeads } from '../../../src/wire/head-memo.ts';
import type { ServerAnswer } from '../../../src/wire/server-answer.ts';
import { ServerConnection } from '../../../src/wire/server-connection.ts';
import type { ServerContext, ServerHandler } from '../../../src/wire/server-context.ts';
import type { RequestSink, ServerRequest } from '../../../src/wire/server-request.ts';
import { Wheel } from '../../../src/wire/wheel.ts';
import type { Reading, ReadRequest } from './reading.ts';

/** A socket without a connection: output is dropped, and input is passed by hand. A real socket takes ten times as long to create. */
class NoSocket extends EventEmitter {
  readonly writable = true;
  readonly writableLength = 0;
  isOver = false;

  write(): boolean {
    return true;
  }

  end(): void {
    this.isOver = true;
  }

  destroy(): void {
    this.isOver = true;
  }

  pause(): void {}

  resume(): void {}
}

/** As the gateway's own. */
const settings = {
  headBytes: 16 * 1024,
  fields: { fields: 200, fieldBytes: 16 * 1024 },
  headMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  answersHalfClosed: true,
};

const wheel = new Wheel(60_000);

class Recorder implements ServerHandler {
  readonly requests: ReadRequest[] = [];
  fault: WireFault | undefined = undefined;

  onRequest(request: ServerRequest, answer: ServerAnswer): void {
    request.askForBody();
    request.read(new BodyRecorder(this, request, answer));
  }

  answerTo(fault: WireFault): string {
    this.fault = fault;
    return 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';
  }
}

class BodyRecorder implements RequestSink {
  #body = '';
  readonly #recorder: Recorder;
  readonly #request: ServerRequest;
  readonly #answer: ServerAnswer;

  constructor(recorder: Recorder, request: ServerRequest, answer: ServerAnswer) {
    this.#recorder = recorder;
    this.#request = request;
    this.#answer = answer;
  }

  onBody(piece: Buffer): void {
    this.#body += piece.toString('latin1');
  }

  onBodyEnd(): void {
    const { method, target, minor, fields } = this.#request;
    this.#recorder.requests.push({ method, target, minor, fields: fields.list, body: this.#body });
    this.#answer.send(200, [], '');
  }

  onBodyFault(fault: WireFault): void {
    this.#recorder.fault = fault;
    this.#answer.send(400, [], '');
  }
}

/** One reader after another; each has its connection. */
export function readAsWeDo(segments: readonly Buffer[]): Reading {
  const handler = new Recorder();
  const socket = new NoSocket();
  const context: ServerContext = {
    settings,
    isDraining: false,
    handler,
    wheel,
    heads: new SharedHeads(),
    spread() {},
    closed() {},
  };
  const connection = new ServerConnection(socket as unknown as Socket, context, 0);
  for (const segment of segments) if (!socket.isOver) socket.emit('data', segment);
  const { isOver } = socket;
  const refused = handler.fault;
  if (!isOver) socket.emit('end');
  wheel.remove(connection);
  const { requests } = handler;
  if (refused !== undefined) return { requests, end: 'refused', why: refused.message };
  if (isOver) return { requests, end: 'last' };
  return { requests, end: handler.fault === undefined ? 'clean' : 'cut' };
}

/** In one piece, in two at every position (of long ones at some), and byte by byte. */
export function* splitsOf(bytes: Buffer): Generator<Buffer[]> {
  const step = Math.max(1, Math.floor(bytes.length / 1_000));
  for (let at = 1; at < bytes.length; at += step) yield [bytes.subarray(0, at), bytes.subarray(at)];
  if (bytes.length < 5_000) yield Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}
