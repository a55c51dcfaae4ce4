/** How calls are shared among the targets of a priority. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { answering, type Several, silent, startSeveral } from '../support/gateways/several.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const level = [{ priority: 0 }, { priority: 0 }, { priority: 0 }];

async function embedTimes(setup: Several, count: number, atOnce = 1): Promise<number[]> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      assert.equal((await setup.embed()).status, 200);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return setup.seen();
}

const afterMs =
  (ms: number): Handler =>
  async (_request, reply) => {
    await reply.sleep(ms);
    await reply.json(200, {});
  };

test('targets of one priority share calls by weight', async (t) => {
  const setup = await startSeveral(t, [answering('a'), answering('b')], {
    target: [
      { priority: 0, weight: 3 },
      { priority: 0, weight: 1 },
    ],
  });
  const [first = 0, second = 0] = await embedTimes(setup, 300);
  assert.ok(first > 180 && second > 40, `${first} and ${second}`);
});

test('a target of weight 0 is never called, even if the others fail', async (t) => {
  const setup = await startSeveral(t, [silent, answering('b')], {
    target: [{}, { weight: 0 }],
    upstream: { timeouts: { first_byte: patiently(12.5) } },
  });
  assert.equal((await setup.embed()).status, 504);
  assert.deepEqual(setup.seen(), [1, 0]);
});

test('a lower priority is called only if the higher one fails', async (t) => {
  const setup = await startSeveral(t, [answering('a'), answering('b'), answering('c')], {
    target: [{ priority: 1 }, { priority: 0 }, { priority: 2 }],
  });
  assert.deepEqual(await embedTimes(setup, 20), [0, 20, 0]);
  await setup.upstreams[1]?.close();
  assert.deepEqual((await embedTimes(setup, 20)).with(1, 0), [20, 0, 0]);
});

test('least_busy avoids a target with many calls in flight', async (t) => {
  const setup = await startSeveral(t, [afterMs(patientMs(150)), afterMs(5), afterMs(5)], {
    target: level,
    model: { balance: 'least_busy' },
  });
  const [slow = 0, ...quick] = await embedTimes(setup, 240, 12);
  assert.ok(
    quick.every((seen) => seen > 3 * slow),
    `${slow} beside ${quick.join(' and ')}`,
  );
});

test('fastest finds the target with the lowest latency', async (t) => {
  const setup = await startSeveral(t, [afterMs(patientMs(80)), afterMs(patientMs(80)), afterMs(2)], {
    target: level,
    model: { balance: 'fastest' },
  });
  const [first = 0, second = 0, fast = 0] = await embedTimes(setup, 90, 2);
  assert.ok(fast > 2 * (first + second), `${first}, ${second} and ${fast}`);
});

test('calls go to a free target instead of waiting', async (t) => {
  const setup = await startSeveral(t, [silent, answering('b')], {
    target: [{ priority: 0 }, { priority: 0 }],
    upstream: { limits: { concurrency: 1 } },
  });
  const stuck: RawConnection[] = [];
  // Which of the two is chosen is a matter of chance, until the silent one is full.
  while (setup.seen()[0] === 0) {
    const client = await connect(setup.rig.port);
    stuck.push(client);
    await client.write(questionBytes());
    await wait(20);
  }
  for (let i = 0; i < 10; i += 1) assert.equal((await setup.embed()).status, 200);
  assert.equal(setup.seen()[0], 1);
  for (const client of stuck) client.destroy();
});
