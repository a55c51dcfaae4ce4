/** A client connection of `src/wire` whose server side is scripted. */

import { Socket } from 'node:net';
import { AnswerMemo } from '../../../src/wire/answer-head.ts';
import { type AnswerHandler, ClientCall, type ClientRequest, toBeginning } from '../../../src/wire/client-call.ts';
import { ClientConnection } from '../../../src/wire/client-connection.ts';
import { Wheel } from '../../../src/wire/wheel.ts';

/** A socket without a connection: output is kept, and input is passed by hand. */
class NoSocket extends Socket {
  written = '';
  /** Takes no more than so many pieces before it asks to wait. */
  patience = Number.POSITIVE_INFINITY;

  override write(chunk: string | Uint8Array): boolean {
    this.written += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
    this.patience -= 1;
    return this.patience > 0;
  }

  constructor() {
    super();
    Object.defineProperty(this, 'writableNeedDrain', { get: () => this.patience <= 0 });
  }
}

/** Records the events of an answer, joining consecutive pieces of a body. */
export class Recorder implements AnswerHandler {
  events: string[] = [];
  error: Error | undefined = undefined;

  onStart(): void {
    this.events.push('start');
  }

  onSent(): void {
    this.events.push('sent');
  }

  onFirstByte(): void {
    this.events.push('first byte');
  }

  onHead(status: number, text: string, headers: readonly string[]): void {
    this.events.push(`head ${status} ${text} ${headers.join('|')}`);
  }

  onBody(piece: Buffer): void {
    const last = this.events.at(-1) ?? '';
    if (last.startsWith('body ')) this.events[this.events.length - 1] = last + piece.toString('latin1');
    else this.events.push(`body ${piece.toString('latin1')}`);
  }

  onEnd(trailers: readonly string[]): void {
    this.events.push(`end ${trailers.join('|')}`);
  }

  onError(error: Error): void {
    this.error = error;
    this.events.push(`error ${error.name}`);
  }
}

export const question: ClientRequest = { method: 'POST', path: '/x', headers: ['x-a', '1'], body: Buffer.from('{}') };

export function openNowhere(request = question, handler = new Recorder()) {
  const socket = new NoSocket();
  const owner = { freed: 0, closed: 0 };
  const connection = new ClientConnection(
    socket,
    {
      onFree: () => {
        owner.freed += 1;
      },
      onEndedEarly: () => undefined,
      onClosed: () => {
        owner.closed += 1;
      },
    },
    { wheel: new Wheel(1_000), heads: new AnswerMemo(), keepAliveMs: 4_000, lifeMs: 60_000 },
  );
  const ask = (recorder = handler) => {
    const call = new ClientCall(request, toBeginning(request.method, request.path, 'host.test'), recorder);
    connection.send(call);
    return call;
  };
  return { socket, owner, connection, recorder: handler, ask };
}
