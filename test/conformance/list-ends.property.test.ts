/** Lists that end in any way, at any moment: what is billed is what the upstreams served, to the token, or the row is marked as an estimate. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { testKey } from '../support/gateways/rig.ts';
import { refusingWith, resetting, startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeds, inputsOf } from '../support/upstreams/list-service.ts';

const firstSeed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.POSTERN_FUZZ_RUNS ?? 6);
const clients = 6;

const faults: Readonly<Record<string, Handler>> = {
  refused: refusingWith(400),
  failing: refusingWith(500),
  reset: resetting,
};
const settings = [
  {},
  { coalesce: { window: '20ms', max_items: 8 } },
  { cache: { scope: 'shared' } },
  { dedupe: true },
  { cache: { scope: 'shared' }, coalesce: { window: '20ms', max_items: 8 } },
];

function randomFrom(seed: number) {
  let state = seed % 2 ** 31;
  const below = (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * most);
  };
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}

for (let round = 0; round < rounds; round += 1) {
  test(`bills the served parts of lists that end in any way, round ${round}`, async (t) => {
    const seed = firstSeed + round;
    t.diagnostic(`seed ${seed}`);
    const { below, pick } = randomFrom(seed);
    let served = 0;
    const script: Handler = async (request, reply) => {
      const inputs = inputsOf(request);
      const fault = Object.keys(faults).find((name) => inputs.includes(name));
      await reply.sleep(below(30));
      const refuse = faults[fault ?? ''];
      if (refuse !== undefined) return refuse(request, reply);
      served += inputs.join('').length;
      return embeds(request, reply);
    };
    const { rig } = await startSeveral(t, below(2) === 0 ? [script] : [script, script], {
      model: { operations: ['embeddings'], price: { input: 1_000 }, ...pick(settings) },
      target: [{ max_items: 3 }, { max_items: 2 }],
      upstream: { limits: { concurrency: pick([2, 8, 64]), queue: 100 } },
      more: { keys: [{ id: 'test', secret: testKey }] },
    });

    async function ask(): Promise<void> {
      const input = Array.from({ length: 1 + below(20) }, (_, index) => `text ${below(12)} ${index % 7}`);
      if (below(2) === 0) input[below(input.length)] = pick(Object.keys(faults));
      if (below(5) < 3) {
        await rig.post('/v1/embeddings', { model: 'm', input });
        return;
      }
      const leaving = await connect(rig.port);
      await leaving.write(questionBytes(JSON.stringify({ model: 'm', input })));
      await wait(5 + below(60));
      leaving.destroy();
    }

    await Promise.all(Array.from({ length: clients }, () => ask()));
    await rig.exchange(clients);
    const billed = rig.settled.reduce((sum, { bill }) => sum + (bill?.inputTokens ?? 0), 0);
    const isMarked = rig.settled.some(({ bill }) => bill?.isEstimated);
    assert.ok(isMarked || billed === served, `${billed} tokens are billed, and ${served} were served`);
  });
}
