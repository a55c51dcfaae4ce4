import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { limitNames } from '../../../../src/admin/contract.ts';
import { toMapping, toMappings } from '../../parts/forms/documents.ts';
import { toModelDocument, toModelValues } from './model-document.ts';

const prices = {
  input: '0.01',
  cached_input: '0.005',
  cache_write: '0.012',
  cache_write_1h: '0.02',
  audio_input: '1',
  image_input: '2',
  output: '3',
  audio_output: '4',
  image_output: '5',
  search_unit: '0.002',
  request: '0.1',
  item: '0.2',
  minute: '0.3',
  character: '15',
  tools: { web_search: '0.01', code: '0.03' },
  factors: { service_tier: { priority: 2, flex: 0.5 }, speed: { fast: 6 }, inference_geo: { us: 1.1 } },
  batch: '50%',
};

/** Everything that the configuration has for a model. */
const written = {
  id: 'bge',
  aliases: ['b'],
  operations: ['embeddings'],
  visible: false,
  space: 'bge-m3',
  scores: 'sigmoid',
  accepts_messages: true,
  usage: 'ask',
  shape: 'voyage',
  lane: 'bulk',
  pace: '30s',
  slo: { interactive: { p95: '150ms' } },
  context: 8192,
  max_output: 1024,
  max_tool_calls: 3,
  max_audio: '10m',
  dimensions: 1024,
  matryoshka: true,
  roles: { query: 'query: ', document: 'passage: ' },
  targets: [
    {
      upstream: 'one',
      model: 'BAAI/bge-m3',
      priority: 1,
      weight: 3,
      unsupported: 'drop',
      bridge: 'chat',
      scores: 'raw',
      max_items: 32,
      max_tokens: 4096,
      max_bytes: '1MiB',
      price: {
        ...prices,
        image: [
          { quality: 'high', price: '0.04' },
          { size: '1024x1024', price: '0.02' },
        ],
      },
      token_ids: 'pass',
    },
    { upstream: 'three', price: { image: '0.02' } },
    { upstream: 'two', price: 'free', defaults: { input_type: 'search_query' } },
  ],
  balance: 'fastest',
  retry: { scope: 'always', attempts: 2, same_target: 1 },
  hedge: { after: 'p95' },
  price: { ...prices, image: [{ size: '1024x1024', quality: 'high', price: '0.04' }] },
  limits: {
    requests_per_minute: 60,
    requests_per_day: 600,
    tokens_per_minute: 6000,
    tokens_per_day: 60_000,
    items_per_minute: 600,
    items_per_day: 6000,
    concurrency: 6,
  },
  budgets: [{ every: 'month', amount: '50', alerts: ['90%'] }],
  metadata: { team: 'search' },
  dedupe: true,
  cache: { ttl: '1h', scope: 'shared', max: '128MiB', limits: 'all' },
  coalesce: { window: '5ms', max_items: 64 },
  shadow: { model: 'newer', share: 0.1 },
  canary: { texts: ['one', 'two'], every: '1h' },
};

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The names of all fields below one; `[]` for list elements. */
function fieldsOf(schema: Schema, defs: Readonly<Record<string, Schema>>, at: string): string[] {
  const { $ref, anyOf = [], properties = {}, items } = schema;
  const meant = $ref === undefined ? undefined : defs[$ref.split('/').at(-1) ?? ''];
  return [
    ...(meant === undefined ? [] : fieldsOf(meant, defs, at)),
    ...anyOf.flatMap((one) => fieldsOf(one, defs, at)),
    ...(items === undefined ? [] : fieldsOf(items, defs, `${at}[]`)),
    ...Object.entries(properties).flatMap(([name, field]) => [
      `${at}.${name}`,
      ...fieldsOf(field, defs, `${at}.${name}`),
    ]),
  ];
}

function namesIn(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => namesIn(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [`${at}.${name}`, ...namesIn(one, `${at}.${name}`)]);
}

test('the test document has every field of a model', async () => {
  const file = new URL('../../../../postern.schema.json', import.meta.url);
  const schema: { properties: { models: { items: Schema } }; $defs: Record<string, Schema> } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  const tried = new Set(namesIn(written, 'models[]'));
  const known = fieldsOf(schema.properties.models.items, schema.$defs, 'models[]');
  assert.ok(known.length > 60);
  assert.deepEqual(
    known.filter((name) => !tried.has(name)),
    [],
  );
});

test('every field of the form is one of the configuration', () => {
  const known = new Set(namesIn(written, ''));
  const others = namesIn(toModelValues(written), '').filter((name) => !known.has(name));
  assert.deepEqual([...new Set(others)].sort(), ['.cache.on', '.coalesce.on', '.price.kind', '.targets[].price.kind']);
});

test('a model read into the form is written back unchanged, also fields that the form lacks', () => {
  assert.deepEqual(toModelDocument(toModelValues(written)), written);
  const short = { id: 'm', targets: [{ upstream: 'one' }] };
  assert.deepEqual(toModelDocument(toModelValues(short)), short);
  const retry = { id: 'm', targets: [{ upstream: 'one' }], retry: 'always' };
  assert.deepEqual(toModelDocument(toModelValues(retry)), retry);
  const again = { ...retry, retry: { same_target: 2 } };
  assert.deepEqual(toModelDocument(toModelValues(again)), again);
  const unknown = { newer: { as: ['it', ' is '] } };
  const newer = {
    ...{ id: 'm', usage: 'pass', cache: unknown, price: unknown, limits: unknown, slo: unknown, ...unknown },
    targets: [{ upstream: 'one', price: unknown, ...unknown }],
    budgets: [{ every: 'day', amount: 5, ...unknown }],
  };
  assert.deepEqual(toModelDocument(toModelValues(newer)), newer);
});

test("emptied form fields are left out of the model's document", () => {
  const values = toModelValues(written);
  const document = toModelDocument({
    ...values,
    limits: Object.fromEntries(limitNames.map((name) => [name, ''])),
    cache: { ...toMapping(values.cache), on: false },
    coalesce: { ...toMapping(values.coalesce), on: false },
    shadow: { ...toMapping(values.shadow), model: ' ' },
    canary: { ...toMapping(values.canary), texts: [] },
    ...{ dedupe: false, matryoshka: false, usage: false, visible: true, accepts_messages: false },
    roles: { query: '', document: '' },
    price: { ...toMapping(values.price), kind: 'standard' },
    ...{ budgets: [], aliases: [], operations: [] },
    ...{ space: ' ', pace: '', context: '' },
    // A cleared choice is null.
    ...{ balance: null, scores: null, shape: null, lane: null },
    slo: { interactive: { p95: '' } },
    retry: { scope: null, attempts: '', same_target: '' },
    targets: toMappings(values.targets).map((target) => ({ ...target, priority: '', weight: 1, model: ' ' })),
  });
  const left = ['dimensions', 'hedge', 'id', 'max_audio', 'max_output', 'max_tool_calls', 'metadata', 'targets'];
  assert.deepEqual(Object.keys(document).sort(), left);
  for (const target of toMappings(document.targets)) {
    for (const name of ['priority', 'weight', 'model']) assert.equal(name in target, false, name);
  }
});

test('prices typed in the form are written to the document, and one image price replaces a list of them', () => {
  const values = toModelValues(written);
  const price = toMapping(values.price);
  const factors = { ...toMapping(price.factors), speed: ['fast: x'] };
  const typed = { ...price, image: '0.05', tools: ['web_search:0.02', 'nothing'], factors };
  const document = toMapping(toModelDocument({ ...values, price: typed }).price);
  assert.equal(document.image, '0.05');
  // Text that is no amount stays as typed, so that the server's error names it.
  assert.deepEqual(document.tools, { web_search: '0.02', nothing: '' });
  assert.deepEqual(toMapping(document.factors).speed, { fast: 'x' });
});
