import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { canaryBaseline } from '../core/drift.ts';
import { cache } from './cache.ts';
import { drift } from './drift.ts';

const configuration = {
  upstreams: [{ id: 'u', family: 'openai', api_key: 'sk-0123456789' }],
  models: [
    {
      id: 'm',
      operations: ['embeddings'],
      cache: {},
      canary: { texts: ['a'] },
      targets: [{ upstream: 'u', model: 'real' }],
    },
    { id: 'plain', operations: ['embeddings'], targets: [{ upstream: 'u' }] },
  ],
};

const state = { model: 'm', upstream: 'u', upstreamModel: 'real', checkedAtS: 1_800_000_000, agreement: 0.5 };
const agreement = {
  model: 'm',
  shadow: 'next',
  compared: 7,
  failed: 1,
  cosine: 0.98,
  overlap: null,
  ranks: null,
  verdicts: null,
};

test("drift without an action shows every node's shadow and canary results, as tables or JSON", async (t) => {
  const { run, withStore } = await setUpCommand(t, drift, configuration);
  await withStore(async () => undefined);
  assert.match((await run()).lines[0] ?? '', /No gateway with this store is running/);
  await withStore(({ health }) =>
    health.report('node-1', [], { shadows: [agreement], canaries: [{ ...state, hasChanged: true, failure: null }] }),
  );
  const { lines } = await run();
  assert.match(lines.join('\n'), /m +u: real +0\.5000 +2027-01-15T08:00:00\.000Z +CHANGED +node-1/);
  assert.match(lines.join('\n'), /m +next +7 +1 +0\.9800 +- +- +- +node-1/);
  const [node] = JSON.parse((await run('show', '--json')).lines.join('\n'));
  assert.deepEqual(node.shadows, [agreement]);
});

test('drift accept needs a model with a canary, and cache clear needs a model with a cache', async (t) => {
  const { run, withStore } = await setUpCommand(t, drift, configuration);
  await withStore(async () => undefined);
  await run('accept', '--model', 'm');
  await withStore(async ({ settings }) => assert.equal(await settings.get(canaryBaseline('m', 'u', 'real')), null));
  await assert.rejects(run('accept', '--model', 'plain'), userFault(/no model "plain" with a canary/));
  await assert.rejects(run('accept'), userFault(/name the model/));

  const clearing = await setUpCommand(t, cache, configuration);
  assert.match((await clearing.run('clear', '--model', 'm')).lines[0] ?? '', /is cleared on every node/);
  await clearing.withStore(async ({ settings }) => assert.deepEqual(await settings.get('cleared_caches'), { m: 1 }));
  await assert.rejects(clearing.run('clear', '--model', 'plain'), userFault(/has no cache/));
  await assert.rejects(clearing.run('clear', '--model', 'n'), userFault(/no model "n"; did you mean "m"\?/));
});
