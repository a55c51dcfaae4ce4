import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

async function limitsOf(t: TestContext, fields: string) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai${fields} }]`);
  return snapshot.upstreams.get('a')?.limits;
}

test('limits of an upstream that are not set have defaults', async (t) => {
  assert.deepEqual(await limitsOf(t, ''), { concurrency: 256, queue: 256, queueTimeoutMs: 5000, bulkShare: 0.1 });
  assert.deepEqual(await limitsOf(t, ', limits: { concurrency: 8 }'), {
    concurrency: 8,
    queue: 256,
    queueTimeoutMs: 5000,
    bulkShare: 0.1,
  });
  assert.deepEqual(await limitsOf(t, ', limits: { concurrency: 1, queue: 0, queue_timeout: 250ms }'), {
    concurrency: 1,
    queue: 0,
    queueTimeoutMs: 250,
    bulkShare: 0.1,
  });
});

test('a learned concurrency limit has a minimum and a maximum, with defaults', async (t) => {
  const concurrencyOf = async (limits: string) => {
    const { concurrency, auto } = (await limitsOf(t, `, limits: { ${limits} }`)) ?? {};
    return [auto?.min, concurrency];
  };
  assert.deepEqual(await concurrencyOf('concurrency: auto'), [2, 256]);
  assert.deepEqual(await concurrencyOf('concurrency: auto, max_concurrency: 1'), [1, 1]);
  assert.deepEqual(await concurrencyOf('concurrency: auto, min_concurrency: 4, max_concurrency: 64'), [4, 64]);
});

test('the default queue timeout is shortened to a short total timeout', async (t) => {
  const limits = await limitsOf(t, ', timeouts: { total: 1s }');
  assert.equal(limits?.queueTimeoutMs, 1000);
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  {
    text: `${upstream}    limits: { max_concurrency: 8 }`,
    line: 4,
    path: 'upstreams[0].limits.max_concurrency',
    error: /is for concurrency: auto; leave it out/,
  },
  {
    text: `${upstream}    limits: { concurrency: auto, min_concurrency: 9, max_concurrency: 8 }`,
    line: 4,
    path: 'upstreams[0].limits.min_concurrency',
    error: /more than max_concurrency \(8\)/,
  },
  {
    text: `${upstream}    limits: { concurrency: automatic }`,
    line: 4,
    path: 'upstreams[0].limits.concurrency',
    error: /auto, or a whole number from 1 to 1000000/,
  },
  {
    text: `${upstream}    timeouts: { total: 10s }\n    limits:\n      queue_timeout: 11s`,
    line: 6,
    path: 'upstreams[0].limits.queue_timeout',
    error: /11s is longer than total \(10s\); raise total, or lower this/,
  },
  {
    text: `${upstream}    limits: { queue_timeout: 6m }`,
    line: 4,
    path: 'upstreams[0].limits.queue_timeout',
    error: /longer than total \(5m, the default\)/,
  },
  {
    text: `${upstream}    limits: { concurrency: 0 }`,
    line: 4,
    path: 'upstreams[0].limits.concurrency',
    error: /from 1 to 1000000; came: 0/,
  },
  {
    text: `${upstream}    limits: { concurency: 1 }`,
    line: 4,
    path: 'upstreams[0].limits.concurency',
    error: /did you mean concurrency\?/,
  },
];

test('reports each fault in limits of an upstream once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));
