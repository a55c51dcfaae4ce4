import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Source } from '../../test/support/upstreams/answer-source.ts';
import { toFailure } from '../upstream/failures.ts';
import { HeldAnswer, heldBytes } from './held-answer.ts';

function open() {
  const source = new Source();
  return { source, held: new HeldAnswer(source) };
}

test('a short response is buffered whole for inspection, then passed on unchanged', async () => {
  const { source, held } = open();
  assert.deepEqual(source.send('one ', 'two'), [true, true]);
  source.end();
  assert.equal((await held.beginning).toString(), 'one two');
  assert.deepEqual([held.waiting.length, held.isOver], [1, true]);
  const client = new Client();
  held.take(client);
  assert.deepEqual([client.text, client.endings], ['one two', 1]);
});

test('inspecting a response without a body ends at once with nothing', async () => {
  const { source, held } = open();
  source.end();
  assert.equal((await held.beginning).length, 0);
  assert.deepEqual(held.waiting, []);
});

test('only the beginning of a long response is read for inspection; the rest is read when the client takes it', async () => {
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

test('a broken response is inspected up to the break, and breaks for the client too', async () => {
  const { source, held } = open();
  source.send('half');
  const failure = toFailure(new Error('reset'), true);
  source.sink?.onBroken(failure);
  assert.equal((await held.beginning).toString(), 'half');
  const client = new Client();
  held.take(client);
  assert.deepEqual([client.text, client.failure, held.isOver], ['half', failure, true]);
});
