import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as batch, setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { patientMs } from '../../test/support/time/patience.ts';
import { TickBatches, within } from './reading-time.ts';

const mostMs = patientMs(20);
const longerMs = 1.5 * mostMs;

/** Blocks this thread only. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** A thread that answers at once. */
async function startEcho(t: TestContext): Promise<Socket> {
  const program = `
    const { createServer } = require('node:net');
    const { parentPort } = require('node:worker_threads');
    const server = createServer((socket) => socket.pipe(socket));
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(program, { eval: true });
  t.after(() => worker.terminate());
  const [port] = await once(worker, 'message');
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Like the Redis client: written in an immediate, answered in order. */
function ask(socket: Socket): Promise<void> {
  setImmediate(() => socket.write('?'));
  return new Promise((resolve) => socket.once('data', () => resolve()));
}

for (const [when, delay] of [
  ['before the request was sent', async () => holdUp(longerMs)],
  [
    'after the request was sent',
    async () => {
      await batch();
      await batch();
      holdUp(longerMs);
    },
  ],
  ['at any time', async () => undefined],
] as const) {
  test(`an answer received before the timeout counts although the event loop was blocked ${when}`, async (t) => {
    const socket = await startEcho(t);
    for (let time = 0; time < 5; time += 1) {
      const answer = within(ask(socket), mostMs);
      await delay();
      if (when === 'at any time') setTimeout(holdUp, 1, longerMs);
      await answer;
    }
  });
}

test('unanswered requests sent together time out together, with the time they were sent', async (t) => {
  const server = createServer(() => undefined);
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const verdicts: { readonly asked: readonly string[]; readonly leftAtMs: number }[] = [];
  const turns = new TickBatches<string>(20, (asked, leftAtMs) => verdicts.push({ asked, leftAtMs }));
  const askedAtMs = performance.now();
  turns.add('one');
  turns.add('two');
  await wait(5);
  turns.add('three');
  await assert.rejects(within(new Promise(() => undefined), 40), /no answer within 40 ms/);
  assert.deepEqual(
    verdicts.map(({ asked }) => asked),
    [['one', 'two'], ['three']],
  );
  assert.ok(verdicts.every(({ leftAtMs }) => leftAtMs >= askedAtMs));
});
