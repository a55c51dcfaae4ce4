import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Source } from '../../../test/support/upstreams/answer-source.ts';
import { toFailure } from '../../upstream/failures.ts';
import { HeldAnswer, heldBytes } from './held-answer.ts';

function open() {
  const source = new Source();
  return { source, held: new HeldAnswer(source) };
}

test('a short answer is shown once it is whole, in one piece, and handed on as it came', async () => {
  const { source, held } = open();
  assert.deepEqual(source.send('one ', 'two'), [true, true]);
  source.end();
  assert.equal((await held.beginning).toString(), 'one two');
  assert.deepEqual([held.waiting.length, held.isOver], [1, true]);
  const client = new Client();
  held.take(client);
  assert.deepEqual([client.text, client.endings], ['one two', 1]);
});

test('of an answer without a body nothing waits', async () => {
  const { source, held } = open();
  source.end();
  assert.equal((await held.beginning).length, 0);
  assert.deepEqual(held.waiting, []);
});

test('of a long answer the beginning is shown and the rest waits for the client', async () => {
  const { source, held } = open();
  assert.deepEqual(source.send('x'.repeat(heldBytes - 1), 'y'), [true, false]);
  assert.equal((await held.beginning).length, heldBytes);
  const client = new Client();
  held.take(client);
  assert.equal(source.resumes, 1);
  source.send('z');
  source.end();
  assert.deepEqual([client.text.length, client.text.at(-1), client.endings], [heldBytes + 1, 'z', 1]);
});

test('an answer that breaks off is shown as far as it came, and breaks off for the client, too', async () => {
  const { source, held } = open();
  source.send('half');
  const failure = toFailure(new Error('reset'), true);
  source.sink?.onBroken(failure);
  assert.equal((await held.beginning).toString(), 'half');
  const client = new Client();
  held.take(client);
  assert.deepEqual([client.text, client.failure, held.isOver], ['half', failure, true]);
});
