import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

async function healthCheckOf(t: TestContext, fields: string) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai${fields} }]`);
  return snapshot.upstreams.get('a')?.healthCheck;
}

test('health checks are off without a health_check path', async (t) => {
  assert.equal(await healthCheckOf(t, ''), undefined);
  assert.deepEqual(await healthCheckOf(t, ', health_check: { path: "/health?ready=1" }'), {
    path: '/health?ready=1',
    intervalMs: 10_000,
    timeoutMs: 2000,
  });
});

test('the default timeout of health checks is shortened to a short interval', async (t) => {
  const check = await healthCheckOf(t, ', health_check: { path: /, interval: 1s }');
  assert.deepEqual(check, { path: '/', intervalMs: 1000, timeoutMs: 1000 });
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  {
    text: `${upstream}    health_check: { path: health }`,
    line: 4,
    path: 'upstreams[0].health_check.path',
    error: /begins with \/, such as \/health; came: other text/,
  },
  {
    text: `${upstream}    health_check: { path: "/a b" }`,
    line: 4,
    path: 'upstreams[0].health_check.path',
    error: /begins with \//,
  },
  {
    text: `${upstream}    health_check: { path: "/a#b" }`,
    line: 4,
    path: 'upstreams[0].health_check.path',
    error: /begins with \//,
  },
  {
    text: `${upstream}    health_check: { interval: 1s }`,
    line: 4,
    path: 'upstreams[0].health_check.path',
    error: /is missing/,
  },
  {
    text: `${upstream}    health_check:\n      path: /\n      timeout: 11s`,
    line: 6,
    path: 'upstreams[0].health_check.timeout',
    error: /11s is longer than interval \(10s\), .*; raise interval, or lower this/,
  },
  {
    text: `${upstream}    health_check: { path: /, interval: 50ms }`,
    line: 4,
    path: 'upstreams[0].health_check.interval',
    error: /from 100ms to 24d/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: local\n    health_check: { path: / }',
    line: 4,
    path: 'upstreams[0].health_check',
    error: /family local needs no network; leave this out/,
  },
];

test('reports each fault in health_check once, with path, line and expected value', (t) => assertFaults(t, faultRows));
