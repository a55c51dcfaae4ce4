import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { faultsOf, loaded, loadText } from '../../../../test/support/gateways/configuration.ts';
import { operationRows } from '../../../core/operations/index.ts';
import { families } from '../../../families/index.ts';
import { routes } from '../../../routes/index.ts';

const upstreams = `upstreams:
  - { id: a, family: openai }
  - { id: b, family: openai, timeouts: { first_byte: 10s } }
  - { id: r, family: ranker }
  - { id: keys, family: openai, credentials: [{ api_key: x }, { api_key: y }] }
`;

const textOf = (fields: string) => `${upstreams}models:\n  - id: m\n    ${fields.replaceAll('\n', '\n    ')}\n`;
const firstLine = 8;

async function policyOf(t: TestContext, fields: string) {
  const { snapshot, warnings } = await loaded(t, textOf(fields));
  const model = snapshot.models.resolve('m')?.model;
  assert.ok(model);
  const { balance, retry, hedge } = model;
  return { balance, retry, hedge, warnings };
}

const one = 'operations: [embeddings]\ntargets: [{ upstream: a }]';
const two = 'operations: [embeddings]\ntargets: [{ upstream: a }, { upstream: b }]';
const ranked = 'operations: [embeddings]\ntargets: [{ upstream: a }, { upstream: b, priority: 1 }]';

test('by default a model balances by weight, retries where that is safe, and does not hedge', async (t) => {
  const standard = {
    balance: 'weighted',
    retry: { scope: 'safe', attempts: 5, sameTarget: undefined },
    hedge: undefined,
    warnings: [],
  };
  assert.deepEqual(await policyOf(t, one), standard);
  assert.deepEqual(await policyOf(t, `${one}\nbalance: weighted\nretry: safe`), standard);
  const { snapshot } = await loaded(t, 'upstreams: [{ id: l, family: local }]');
  assert.deepEqual(snapshot.models.all[0]?.retry, standard.retry);
});

test('the retry setting of a model is a scope, or a mapping with scope and attempts', async (t) => {
  const edits = two.replace('embeddings', 'edits');
  for (const [written, scope, attempts] of [
    ['always', 'always', 5],
    ['{ scope: always }', 'always', 5],
    ['{ attempts: 1 }', 'safe', 1],
    ['{ scope: always, attempts: 10 }', 'always', 10],
    ['{}', 'safe', 5],
  ] as const) {
    const { retry, warnings } = await policyOf(t, `${edits}\nretry: ${written}`);
    assert.deepEqual([retry, warnings], [{ scope, attempts, sameTarget: undefined }, []], written);
  }
});

test('retry.same_target is stored as configured, also if it is 0', async (t) => {
  const { retry } = await policyOf(t, `${two}\nretry: { same_target: 2 }`);
  assert.deepEqual(retry, { scope: 'safe', attempts: 5, sameTarget: 2 });
  assert.equal((await policyOf(t, `${two}\nretry: { same_target: 0 }`)).retry.sameTarget, 0);
});

test('an empty retry setting means the default, and its numbers may come from the environment', async (t) => {
  assert.deepEqual((await policyOf(t, `${two}\nretry:`)).retry, { scope: 'safe', attempts: 5, sameTarget: undefined });
  const { snapshot } = await loaded(t, textOf(`${two}\nretry: { attempts: "\${N}" }`), { env: { N: '3' } });
  assert.equal(snapshot.models.resolve('m')?.model.retry.attempts, 3);
});

test('the delay of a hedge is a fixed time, or p95', async (t) => {
  assert.deepEqual((await policyOf(t, `${two}\nhedge: { after: 200ms }`)).hedge, { afterMs: 200 });
  assert.deepEqual((await policyOf(t, `${two}\nhedge: { after: p95 }`)).hedge, { afterMs: 'p95' });
});

test('warns of balance and retry settings that have no effect', async (t) => {
  const keys = one.replace('upstream: a', 'upstream: keys');
  const idle = two.replace('upstream: b', 'upstream: b, weight: 0');
  const single = 'as there is a single target to call';
  for (const [fields, ...expected] of [
    [`${one}\nbalance: fastest`, `balance has no effect, ${single}`],
    [`${idle}\nbalance: least_busy`, `balance has no effect, ${single}`],
    [`${ranked}\nbalance: least_busy`, 'balance has no effect, as no two targets have the same priority'],
    [`${one}\nretry: always`],
    [`${one}\nretry: { attempts: 2, same_target: 1 }`],
    [
      `${one}\nretry: { attempts: 2, same_target: 2 }`,
      'retry.same_target: 2 is more than retry.attempts (2) leaves after the first call',
    ],
    [`${keys}\nretry: { attempts: 2 }`],
    [`${two}\nretry: always`],
    [`${two}\nbalance: fastest`],
    [`${ranked}\nretry: { attempts: 2 }`],
  ] as const) {
    const { warnings } = await policyOf(t, fields);
    assert.deepEqual(
      warnings,
      expected.map((warning) => `models[0].${warning}`),
      fields,
    );
  }
});

for (const [fields, line, path, error] of [
  [`${two}\nbalance: least-busy`, 3, 'balance', /one of weighted, least_busy, fastest; .* did you mean least_busy\?/],
  [`${two}\nretry: allways`, 3, 'retry', /wanted: safe, always, or a mapping .*; did you mean always\?/],
  [`${two}\nretry: 3`, 3, 'retry', /wanted: safe, always, or a mapping of scope, attempts and same_target; came: 3$/],
  [`${two}\nretry: [safe]`, 3, 'retry', /came: a list/],
  [`${two}\nretry:\n  attempts: 11`, 4, 'retry.attempts', /a whole number from 1 to 10; came: 11/],
  [`${two}\nretry:\n  same_target: 10`, 4, 'retry.same_target', /a whole number from 0 to 9; came: 10/],
  [`${two}\nretry:\n  attempt: 2`, 4, 'retry.attempt', /unknown key; did you mean attempts\?/],
  [`${two}\nretry:\n  scope: save`, 4, 'retry.scope', /one of safe, always; came: "save"; did you mean safe\?/],
  [`${two}\nhedge: true`, 3, 'hedge', /wanted: a mapping/],
  [`${two}\nhedge: {}`, 3, 'hedge.after', /is missing; wanted: a time with its unit, such as 200ms, or p95/],
  [`${two}\nhedge: { after: p99 }`, 3, 'hedge.after', /such as 200ms, or p95; came: "p99"; did you mean p95\?/],
  [`${two}\nhedge: { after: 0s }`, 3, 'hedge.after', /a time from 1ms/],
  [`${one}\nhedge: { after: p95 }`, 3, 'hedge', /needs two targets with a weight above 0 .*; add one/],
  [`${two.replace(': b', ': b, weight: 0')}\nhedge: { after: p95 }`, 3, 'hedge', /needs two targets/],
  [
    'operations: [moderations, rerank]\ntargets: [{ upstream: a }, { upstream: r }]\nhedge: { after: p95 }',
    3,
    'hedge',
    /that offer the same operation/,
  ],
  [
    `${two.replace('embeddings', 'embeddings, edits')}\nhedge: { after: p95 }`,
    3,
    'hedge',
    /which is done with edits only where retry is always; set that, or give it a model without a hedge/,
  ],
  [`${two}\nhedge: { after: 10s }`, 3, 'hedge.after', /10s is not shorter than the first_byte .* targets\[1\] \(10s\)/],
  [`${two.replace(': b', ': nowhere')}\nhedge: { after: 1s }`, 2, 'targets[1].upstream', /unknown upstream/],
] as const) {
  test(`an invalid ${path} of a model is refused with the message ${error.source}`, async (t) => {
    const faults = await faultsOf(t, textOf(fields));
    assert.deepEqual(
      faults.map((fault) => [fault.line, fault.path]),
      [[firstLine + line - 1, `models[0].${path}`]],
      JSON.stringify(faults),
    );
    assert.match(String(faults[0]?.message), error);
  });
}

test('a hedge is refused for operations that cannot be replayed, unless retry is always', async (t) => {
  for (const { operation, label } of routes) {
    const family = label === 'anthropic' ? label : label === 'gemini' || label === 'interactions' ? 'gemini' : 'openai';
    const text = (retry: string) => `upstreams: [{ id: a, family: ${family} }, { id: b, family: ${family} }]
models:
  - id: m
    operations: [${operation}]
    targets: [{ upstream: a }, { upstream: b }]
    hedge: { after: p95 }
    retry: ${retry}
`;
    const safe = await loadText(t, text('safe'), { families });
    assert.equal(safe.ok, operationRows[operation].replayable, operation);
    const always = await loadText(t, text('always'), { families });
    assert.equal(always.ok, true, operation);
  }
});
