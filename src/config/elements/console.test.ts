import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../test/support/gateways/configuration.ts';

test('settings of console, ledger and alerts have defaults', async (t) => {
  const { snapshot } = await loaded(t, 'server: {}');
  assert.deepEqual(snapshot.console, {
    host: '127.0.0.1',
    port: 4001,
    isPortGiven: false,
    token: undefined,
    url: undefined,
    traceUrl: undefined,
    oidc: undefined,
  });
  assert.deepEqual(snapshot.ledger, {
    directory: 'data/journal',
    durability: 'fast',
    journalWaitMs: undefined,
    retentionMs: 90 * 86_400_000,
    hiddenFields: [],
  });
  assert.deepEqual(snapshot.alerts, { webhooks: [], smtp: undefined, errorShare: 0.05, p95Ms: undefined, off: [] });
  assert.equal(snapshot.redis, undefined);
});

test('configured console, ledger, alerts, redis and store values are compiled; an explicit port is marked as such', async (t) => {
  const { snapshot } = await loaded(
    t,
    `console: { host: 0.0.0.0, port: 4001, token: a-token-of-24-characters, url: https://Postern.example/, trace_url: 'https://traces.example/t/{trace_id}?a=b' }
ledger: { journal: /var/journal, durability: strict, journal_wait: 2s, retention: 1d }
alerts: { webhooks: [{ url: https://hooks.example/x, secret: a-secret-of-16-c }, { url: "http://127.0.0.1:9" }] }
redis: rediss://u:p@host:6380/1
store: postgresql://u:p@host/db`,
  );
  const token = 'a-token-of-24-characters';
  assert.deepEqual(snapshot.console, {
    host: '0.0.0.0',
    port: 4001,
    isPortGiven: true,
    token,
    url: 'https://postern.example',
    traceUrl: 'https://traces.example/t/{trace_id}?a=b',
    oidc: undefined,
  });
  assert.deepEqual(snapshot.ledger, {
    directory: '/var/journal',
    durability: 'strict',
    journalWaitMs: 2_000,
    retentionMs: 86_400_000,
    hiddenFields: [],
  });
  assert.deepEqual(snapshot.alerts.webhooks, [
    { url: 'https://hooks.example/x', secret: 'a-secret-of-16-c', addresses: undefined, format: 'postern' },
    { url: 'http://127.0.0.1:9', addresses: undefined, format: 'postern' },
  ]);
  assert.equal(snapshot.redis, 'rediss://u:p@host:6380/1');
  assert.equal(snapshot.store, 'postgresql://u:p@host/db');
});

test('the console needs a token unless it listens on loopback only', async (t) => {
  for (const host of ['127.0.0.1', '127.8.0.1', '"::1"', 'localhost']) await loaded(t, `console: { host: ${host} }`);
});

const faultRows: readonly FaultRow[] = [
  ...['0.0.0.0', '"::"', '10.0.0.1', 'console.internal', '"::ffff:10.0.0.1"'].map((host) => ({
    text: `console:\n  host: ${host}`,
    line: 1,
    path: 'console.token',
    error: /other machines reach console\.host, so set a token of at least 24 characters/,
  })),
  {
    text: 'console: { token: short }',
    line: 1,
    path: 'console.token',
    error: /at least 24 visible ASCII.*; came: other text/,
  },
  {
    text: 'console: { host: "[::1]", token: a-token-of-24-characters }',
    line: 1,
    path: 'console.host',
    error: /without brackets/,
  },
  ...['postern.example', 'https://x/path', 'https://u:p@x', 'ftp://x'].map((url) => ({
    text: `console: { url: "${url}" }`,
    line: 1,
    path: 'console.url',
    error: /an http:\/\/ or https:\/\/ URL without a path/,
  })),
  ...['https://x/{id}', 'javascript:{trace_id}', 'https://{trace_id}/', 'https://u:p@x/{trace_id}'].map((url) => ({
    text: `console: { trace_url: "${url}" }`,
    line: 1,
    path: 'console.trace_url',
    error: /with \{trace_id\} in it/,
  })),
  { text: 'console: { port: 70000 }', line: 1, path: 'console.port', error: /from 0 to 65535/ },
  { text: 'ledger: { durability: slow }', line: 1, path: 'ledger.durability', error: /one of fast, strict/ },
  { text: 'ledger: { retention: 1h }', line: 1, path: 'ledger.retention', error: /from 1d to 3650d/ },
  {
    text: 'alerts: { webhooks: [{ url: "ftp://x" }] }',
    line: 1,
    path: 'alerts.webhooks[0].url',
    error: /an http:\/\/ or https:\/\/ URL; came: other text/,
  },
  {
    text: 'alerts: { webhooks: [{ url: "https://u:p@x/" }] }',
    line: 1,
    path: 'alerts.webhooks[0].url',
    error: /without a user name and a password/,
  },
  {
    text: 'redis: "redis://u:p@host:99999"',
    line: 1,
    path: 'redis',
    error: /redis:\/\/user:password@host:6379\/2; this one cannot/,
  },
  { text: 'redis: "redis://u:p@[::1"', line: 1, path: 'redis', error: /this one cannot be read/ },
  { text: 'redis: "redis://host/two"', line: 1, path: 'redis', error: /this one cannot be read/ },
  { text: 'redis: "redis://host/1/2"', line: 1, path: 'redis', error: /this one cannot be read/ },
  { text: 'redis: "redis://?db=2"', line: 1, path: 'redis', error: /this one cannot be read/ },
  { text: 'redis: "http://x"', line: 1, path: 'redis', error: /a redis:\/\/ or rediss:\/\/ URL/ },
];

test('reports each fault in console, ledger and alerts once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));
