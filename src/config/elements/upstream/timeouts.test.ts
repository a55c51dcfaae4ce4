import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

async function timeoutsOf(t: TestContext, section = '{}') {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai, timeouts: ${section} }]`);
  const upstream = snapshot.upstreams.get('a');
  assert.ok(upstream);
  return upstream.timeouts;
}

test('the default timeouts of completions are longer than those of other operations', async (t) => {
  const timeouts = await timeoutsOf(t);
  assert.deepEqual(timeouts.completions, { connectMs: 2000, firstByteMs: 600_000, idleMs: 60_000, totalMs: 900_000 });
  for (const operation of ['edits', 'rerank', 'moderations', 'embeddings'] as const) {
    assert.deepEqual(timeouts[operation], { connectMs: 2000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 300_000 });
  }
});

test('a configured timeout applies to every operation', async (t) => {
  const timeouts = await timeoutsOf(t, '{ connect: 1s, first_byte: 2s, idle: 3s, total: 4s }');
  for (const one of Object.values(timeouts)) {
    assert.deepEqual(one, { connectMs: 1000, firstByteMs: 2000, idleMs: 3000, totalMs: 4000 });
  }
});

test('default timeouts are shortened to a short total timeout', async (t) => {
  const timeouts = await timeoutsOf(t, '{ total: 1s }');
  const short = { connectMs: 1000, firstByteMs: 1000, idleMs: 1000, totalMs: 1000 };
  assert.deepEqual([timeouts.completions, timeouts.embeddings], [short, short]);
});

test('an idle timeout longer than the default total timeout is allowed', async (t) => {
  const timeouts = await timeoutsOf(t, '{ idle: 10m }');
  assert.equal(timeouts.embeddings.idleMs, 600_000);
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  {
    text: `${upstream}    timeouts: { first_byte: 2m, total: 1m }`,
    line: 4,
    path: 'upstreams[0].timeouts.first_byte',
    error: /2m is longer than total \(1m\)/,
  },
  {
    text: `${upstream}    timeouts: { first_byte: 10m }`,
    line: 4,
    path: 'upstreams[0].timeouts.first_byte',
    error: /longer than total \(5m, the default\)/,
  },
  {
    text: `${upstream}    timeouts: { connect: 2s, total: 1s }`,
    line: 4,
    path: 'upstreams[0].timeouts.connect',
    error: /2s is longer than total \(1s\); raise total, or lower this/,
  },
  {
    text: `${upstream}    timeouts:\n      connect: 6m`,
    line: 5,
    path: 'upstreams[0].timeouts.connect',
    error: /6m is longer than total \(5m, the default\)/,
  },
];

test('reports each fault in timeouts of an upstream once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));
