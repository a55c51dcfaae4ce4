import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { type AnswerCarrier, ServerAnswer } from './server-answer.ts';

function answerOver(socket: unknown): ServerAnswer {
  return new ServerAnswer({ socket } as AnswerCarrier, 'POST', 1, true);
}

test('bytes count as sent once the operating system has them all, but never on a TLS connection', () => {
  assert.equal(answerOver({ writableLength: 0 }).hasLeft, true);
  assert.equal(answerOver({ writableLength: 1 }).hasLeft, false);
  assert.equal(answerOver(new TLSSocket(new PassThrough() as never)).hasLeft, false);
});
