import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../test/support/gateways/configuration.ts';

const secret = 'a-secret-of-24-characters';

test("models and upstreams take limits and budgets, and an upstream's concurrency is parsed into its own field", async (t) => {
  const { snapshot } = await loaded(
    t,
    `upstreams:
  - id: a
    family: openai
    limits: { concurrency: 8, items_per_minute: 7 }
    budgets: [{ every: total, amount: 9000000 }]
models:
  - { id: m, operations: [edits], limits: { requests_per_day: 5, concurrency: 3 }, targets: [{ upstream: a }] }
`,
  );
  const upstream = snapshot.upstreams.get('a');
  assert.equal(upstream?.limits.concurrency, 8);
  assert.deepEqual(upstream?.caps, {
    rates: [{ measure: 'items', window: 'minute', most: 7 }],
    concurrency: undefined,
    budgets: [{ period: 'total', nanos: 9_000_000_000_000_000, alerts: [80, 100] }],
  });
  assert.deepEqual(snapshot.models.resolve('m')?.model.caps, {
    rates: [{ measure: 'requests', window: 'day', most: 5 }],
    concurrency: 3,
    budgets: [],
  });
});

const keyWith = (fields: string): string => `keys:\n  - id: k\n    secret: ${secret}\n    ${fields}\n`;
const amount = (written: string): string => keyWith(`budgets: [{ every: day, amount: ${written} }]`);

const faultRows: readonly FaultRow[] = [
  {
    text: keyWith('limits: { requests_per_minute: 0 }'),
    line: 4,
    path: 'keys[0].limits.requests_per_minute',
    error: /from 1 to 1000000000000; came: 0/,
  },
  {
    text: keyWith('limits: { tokens_per_day: -5 }'),
    line: 4,
    path: 'keys[0].limits.tokens_per_day',
    error: /from 1 to 1000000000000; came: -5/,
  },
  {
    text: keyWith('limits: { items_per_day: 1e15 }'),
    line: 4,
    path: 'keys[0].limits.items_per_day',
    error: /from 1 to 1000000000000/,
  },
  {
    text: keyWith('limits: { items_per_minute: 1.5 }'),
    line: 4,
    path: 'keys[0].limits.items_per_minute',
    error: /a whole number/,
  },
  {
    text: keyWith('limits: { concurrency: 0 }'),
    line: 4,
    path: 'keys[0].limits.concurrency',
    error: /from 1 to 1000000/,
  },
  {
    text: keyWith('limits: { tokens_per_minut: 1 }'),
    line: 4,
    path: 'keys[0].limits.tokens_per_minut',
    error: /did you mean tokens_per_minute/,
  },
  {
    text: amount('12 EUR'),
    line: 4,
    path: 'keys[0].budgets[0].amount',
    error: /in US dollars, without a currency, such as 12\.50; came: "12 EUR"/,
  },
  { text: amount('$12'), line: 4, path: 'keys[0].budgets[0].amount', error: /without a currency/ },
  {
    text: amount('-1'),
    line: 4,
    path: 'keys[0].budgets[0].amount',
    error: /from 0\.000000001 to 9000000 in US dollars; came: -1/,
  },
  { text: amount('0'), line: 4, path: 'keys[0].budgets[0].amount', error: /from 0\.000000001/ },
  { text: amount('9000000.01'), line: 4, path: 'keys[0].budgets[0].amount', error: /to 9000000 in US dollars/ },
  { text: amount('1.0000000001'), line: 4, path: 'keys[0].budgets[0].amount', error: /at most nine decimals/ },
  { text: amount('1e-10'), line: 4, path: 'keys[0].budgets[0].amount', error: /at most nine decimals/ },
  { text: amount('.inf'), line: 4, path: 'keys[0].budgets[0].amount', error: /an amount/ },
  {
    text: keyWith('budgets: [{ every: year, amount: 1 }]'),
    line: 4,
    path: 'keys[0].budgets[0].every',
    error: /one of day, week, month, total/,
  },
  {
    text: keyWith('budgets: [{ every: day }]'),
    line: 4,
    path: 'keys[0].budgets[0].amount',
    error: /is missing; wanted: an amount/,
  },
  {
    text: keyWith('budgets: [{ every: day, amount: 1, alerts: [101%] }]'),
    line: 4,
    path: 'keys[0].budgets[0].alerts[0]',
    error: /from 1% to 100%/,
  },
  {
    text: keyWith('budgets:\n      - { every: day, amount: 1 }\n      - { every: day, amount: 2 }'),
    line: 6,
    path: 'keys[0].budgets[1].every',
    error: /same period \(day\) as keys\[0\]\.budgets\[0\] \(line 5\); there is one budget for each period/,
  },
  {
    text: 'projects:\n  - { id: p, limits: { requests_per_day: x } }',
    line: 2,
    path: 'projects[0].limits.requests_per_day',
    error: /a whole number/,
  },
  {
    text: 'projects:\n  - { id: p }\n  - { id: p }',
    line: 3,
    path: 'projects[1].id',
    error: /"p" is taken by projects\[0\]\.id \(line 2\)/,
  },
  {
    text: `projects: [{ id: search }]\n${keyWith('project: serch')}`,
    line: 5,
    path: 'keys[0].project',
    error: /unknown project "serch"; did you mean search\?/,
  },
  { text: keyWith('project: search'), line: 4, path: 'keys[0].project', error: /declare it under projects/ },
  {
    text: keyWith('metadata: { "a b": x }'),
    line: 4,
    path: 'keys[0].metadata["a b"]',
    error: /names of 1 to 64 letters/,
  },
  { text: keyWith('metadata: { a: 5 }'), line: 4, path: 'keys[0].metadata.a', error: /text of up to 512/ },
  { text: keyWith('capture: 1s'), line: 4, path: 'keys[0].capture', error: /from 1m to 365d/ },
  {
    text: 'upstreams:\n  - { id: a, family: openai, limits: { tokens_per_minute: 0 } }',
    line: 2,
    path: 'upstreams[0].limits.tokens_per_minute',
    error: /from 1/,
  },
];

test('reports each fault in limits, budgets and projects once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));

test('a key that refers to a project with a fault does not get a second fault', async (t) => {
  await assertFaults(t, [
    {
      text: `projects: [{ id: search, nme: x }]\n${keyWith('project: search')}`,
      line: 1,
      path: 'projects[0].nme',
      error: /did you mean name/,
    },
  ]);
});
