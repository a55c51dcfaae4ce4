import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';
import type { Family } from '../../../core/family.ts';
import { families } from '../../../families/index.ts';
import { listOf } from '../../../prices/listed.ts';

interface Written {
  readonly upstream?: string;
  readonly model?: string;
  readonly target?: string;
  readonly families?: readonly Family[];
}

async function priceOf(t: TestContext, { upstream = 'family: openai', model = '', target = '' }: Written) {
  const text = `upstreams: [{ id: a, ${upstream} }]
models: [{ id: text-embedding-3-small, operations: [embeddings]${model}, targets: [{ upstream: a${target} }] }]`;
  const { snapshot } = await loaded(t, text, { families });
  return snapshot.models.resolve('text-embedding-3-small')?.model.targets[0].price;
}

test("a target has its own price, else its model's price, else that of the built-in price table", async (t) => {
  const model = ', price: { input: 0.5 }';
  assert.equal(
    (await priceOf(t, { model, target: ', price: { input: "0.25", cached_input: 0.1 }' }))?.input,
    250_000_000,
  );
  assert.equal((await priceOf(t, { model }))?.input, 500_000_000);
  assert.equal((await priceOf(t, {}))?.input, 20_000_000);
  assert.equal((await priceOf(t, { model, target: ', price: free' }))?.input, 0);
  assert.equal(await priceOf(t, { model, target: ', price: unknown' }), undefined);
  assert.equal(await priceOf(t, { model: ', price: unknown' }), undefined);
});

test('a price without some units leaves those units unpriced', async (t) => {
  const price = await priceOf(t, { model: ', price: { search_unit: 0.002, request: 1e-9, item: 0, image: 3 }' });
  const named = Object.entries(price ?? {}).filter(([, amount]) => amount !== undefined);
  assert.deepEqual(Object.fromEntries(named), { searchUnit: 2_000_000, request: 1, item: 0, image: 3_000_000_000 });
});

test('the built-in price table applies to the original vendors only, not to compatible services', async (t) => {
  assert.equal(await priceOf(t, { upstream: 'family: openai, base_url: http://10.0.0.7:8000/v1' }), undefined);
  assert.equal(
    await priceOf(t, { upstream: 'family: openai, base_url: https://api.openai.com.example/v1' }),
    undefined,
  );
  assert.equal(await priceOf(t, { target: ', model: my-own' }), undefined);
  const azure = await priceOf(t, { upstream: 'family: azure, base_url: https://us.openai.azure.com, api_key: k' });
  assert.equal(azure?.input, 20_000_000);
  assert.match((azure && listOf(azure)?.source) ?? '', /azure/);
});

test('models of the local family have a price of zero', async (t) => {
  const { snapshot } = await loaded(t, 'upstreams: [{ id: l, family: local }]', { families });
  for (const { targets } of snapshot.models.all) assert.equal(targets[0].price?.input, 0);
  assert.ok(snapshot.models.all.length > 0);
});

const modelWith = (price: string): string =>
  `upstreams: [{ id: a, family: openai }]\nmodels:\n  - id: m\n    operations: [edits]\n    price: ${price}\n    targets: [{ upstream: a }]`;

const faultRows: readonly FaultRow[] = [
  { text: modelWith('5'), line: 5, path: 'models[0].price', error: /a mapping of prices, free or unknown/ },
  { text: modelWith('fre'), line: 5, path: 'models[0].price', error: /did you mean free/ },
  { text: modelWith('{}'), line: 5, path: 'models[0].price', error: /at least one price/ },
  { text: modelWith('{ input: -1 }'), line: 5, path: 'models[0].price.input', error: /from 0 to 100000 in US dollars/ },
  { text: modelWith('{ output: 100001 }'), line: 5, path: 'models[0].price.output', error: /from 0 to 100000/ },
  { text: modelWith('{ request: 1 EUR }'), line: 5, path: 'models[0].price.request', error: /without a currency/ },
  { text: modelWith('{ inputs: 1 }'), line: 5, path: 'models[0].price.inputs', error: /did you mean input\?/ },
];

test('reports each fault of a price once, with path, line and expected value', (t) => assertFaults(t, faultRows));
