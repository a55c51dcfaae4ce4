import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loaded } from '../../../../test/support/gateways/configuration.ts';
import { families } from '../../../families/index.ts';

const upstreams = `upstreams:
  - { id: a, family: openai, base_url: "http://10.0.0.7:8000/v1" }
  - { id: b, family: openai, base_url: "http://10.0.0.8:8000/v1", budgets: [{ every: day, amount: 1 }] }
`;
const budgets = 'budgets: [{ every: month, amount: 5 }]';
const keyed = (models: string) =>
  `keys: [{ id: k, secret: a-secret-with-enough-characters, models: ["${models}"], ${budgets} }]\n`;

async function warningsOf(t: TestContext, model: string, more = ''): Promise<readonly string[]> {
  const { warnings } = await loaded(t, `${upstreams}models: [{ ${model} }]\n${more}`, { families });
  return warnings;
}

test('warns once per model that its price is unknown, if a budget would count it', async (t) => {
  const model = 'id: m, operations: [embeddings], space: s, targets: [{ upstream: a }, { upstream: a, model: n }]';
  const whole =
    'models[0]: its price is not known, so budgets do not count it; set price (or price: unknown, if that is meant)';
  assert.deepEqual(await warningsOf(t, model), []);
  assert.deepEqual(await warningsOf(t, model, keyed('m*')), [whole]);
  assert.deepEqual(await warningsOf(t, model, keyed('other-*')), []);
  assert.deepEqual(await warningsOf(t, model, keyed('m')), [whole]);
  assert.ok((await warningsOf(t, model.replace('id: m', 'id: "n*"'), keyed('m'))).includes(whole));
  assert.deepEqual(await warningsOf(t, model, `projects: [{ id: p, ${budgets} }]\n`), [whole]);
  assert.deepEqual(await warningsOf(t, `${model}, ${budgets}`), [whole]);
  assert.deepEqual(await warningsOf(t, `${model}, price: unknown, ${budgets}`), []);
  assert.deepEqual(await warningsOf(t, `${model}, price: { input: 1 }, ${budgets}`), []);
});

test("a budget of an upstream causes price warnings only for that upstream's targets", async (t) => {
  const warnings = await warningsOf(t, 'id: m, operations: [embeddings], targets: [{ upstream: a }, { upstream: b }]');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^models\[0\]: the price of targets\[1\] is not known, so budgets do not count it/);
});

test('warns of a price for units that are never billed, and of an input price without output', async (t) => {
  const rows: [operations: string, price: string, warning: RegExp | undefined][] = [
    ['embeddings', '{ output: 1 }', /^models\[0\]\.price names nothing that embeddings is billed by/],
    ['rerank', '{ output: 1 }', /names nothing that rerank is billed by.*search_unit, input, request, item$/],
    ['rerank', '{ search_unit: 1 }', undefined],
    ['moderations', '{ image: 1 }', undefined],
    ['completions', '{ search_unit: 1 }', /names nothing that completions is billed by/],
    ['completions', '{ input: 1 }', /has input without output/],
    ['completions', '{ input: 1, output: 0 }', undefined],
    ['completions', '{ input: 1, request: 1 }', undefined],
    ['completions', 'free', undefined],
  ];
  for (const [operations, price, warning] of rows) {
    const model = `id: m, operations: [${operations}], price: ${price}, targets: [{ upstream: a }]`;
    const found = (await warningsOf(t, model)).filter((text) => text.includes('price'));
    if (warning === undefined) assert.deepEqual(found, [], price);
    else assert.match(found.join('\n'), warning, price);
  }
});

test('warns once that built-in prices are old, if a budget counts by them', async (t) => {
  const text = (more: string) => `upstreams: [{ id: o, family: openai, api_key: x }]
models:
  - { id: one, operations: [embeddings], targets: [{ upstream: o, model: text-embedding-3-small }] }
  - { id: two, operations: [embeddings], targets: [{ upstream: o, model: text-embedding-3-large }] }
  - { id: own, operations: [embeddings], price: { input: 1 }, targets: [{ upstream: o, model: text-embedding-3-large }] }
${more}`;
  const of = async (more: string, day: string) =>
    (await loaded(t, text(more), { families, nowMs: () => Date.parse(day) })).warnings.filter((one) =>
      one.includes('as of'),
    );
  assert.deepEqual(await of('', '2026-11-25'), []);
  assert.deepEqual(await of(`projects: [{ id: p, ${budgets} }]`, '2026-01-01'), []);
  assert.deepEqual(await of(`projects: [{ id: p, ${budgets} }]`, '2026-11-25'), [
    'budgets count "one", "two" by the prices that come with Postern, which are as of 2025-11-01, 389 days old; set price, or import newer ones, where they have changed',
  ]);
});
