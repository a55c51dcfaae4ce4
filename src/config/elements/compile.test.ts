import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, loaded } from '../../../test/support/gateways/configuration.ts';

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';
const target = '    targets: [{ upstream: a }]\n';

test('a reference to an element with a fault is not reported as another fault', async (t) => {
  const text = `
upstreams:
  - { id: a, family: opnai }
  - { id: b }
models:
  - { id: m, targets: [{ upstream: a }] }
  - { id: n, targets: [{ upstream: b }] }
default_model: { edits: m, completions: n }
`;
  const faults = await faultsOf(t, text);
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['upstreams[0].family', 'upstreams[1].family'],
  );
});

test('several faults of different kinds within one element are all reported', async (t) => {
  const text = `
upstreams:
  - id: a
    family: openai
    baseurl: https://h
    headers: { host: h }
    timeouts: { idle: soon }
    forward_headers: [cookie]
`;
  const faults = await faultsOf(t, text);
  assert.deepEqual(
    faults.map(({ line }) => line),
    [5, 6, 7, 8],
  );
});

test('the compiled configuration snapshot is immutable', async (t) => {
  const { snapshot } = await loaded(t, `${upstream}models:\n  - id: m\n    operations: [edits]\n${target}`);
  const model = snapshot.models.resolve('m')?.model;
  for (const part of [
    snapshot,
    snapshot.server,
    snapshot.upstreams.get('a'),
    snapshot.models,
    snapshot.models.all,
    model,
    model?.targets,
  ]) {
    assert.ok(Object.isFrozen(part));
  }
});

test('server settings have defaults', async (t) => {
  const { snapshot } = await loaded(t, 'server: {}', { nowMs: () => 1_700_000_000_999, availableBytes: 1000 });
  assert.equal(snapshot.createdAtS, 1_700_000_000);
  assert.equal(snapshot.store, 'sqlite:data/postern.db');
  assert.deepEqual(snapshot.server, {
    host: '127.0.0.1',
    port: 4000,
    socket: undefined,
    workers: 1,
    basePath: '',
    bodyLimitBytes: 32 * 1024 * 1024,
    bodyMemoryBytes: 64 * 1024 * 1024,
    uploadLimitBytes: 256 * 1024 * 1024,
    uploadDiskBytes: 1024 * 1024 * 1024,
    uploadDirectory: 'data/uploads',
    bodyWaitMs: 5000,
    diagnostics: true,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 60_000,
    keepAliveTimeoutMs: 75_000,
    maxConnections: 10_000,
    maxConnectionsPerAddress: undefined,
    maxHeaderBytes: 32 * 1024,
    answersHalfClosed: false,
    drain: { delayMs: 0, deadlineMs: 30_000 },
    tls: undefined,
    trustedProxies: undefined,
    corsOrigins: [],
    firstKey: undefined,
    logClientAddress: false,
    revealModels: false,
    shedding: { loopDelayMs: 500, memoryBytes: 850 },
  });
});

test('server.base_path is stored with a leading slash and without a trailing one', async (t) => {
  for (const [written, path] of [
    ['ai', '/ai'],
    ['/ai/', '/ai'],
    ['/', ''],
    ['', ''],
    ['/team/a.i-1', '/team/a.i-1'],
  ] as const) {
    const { snapshot } = await loaded(t, `server: { base_path: "${written}" }`);
    assert.equal(snapshot.server.basePath, path);
  }
});

test('CORS origins are normalised as browsers send them', async (t) => {
  const { snapshot } = await loaded(t, 'server: { cors: { origins: ["https://App.Example.com:443/", "*"] } }');
  assert.deepEqual(snapshot.server.corsOrigins, ['https://app.example.com', '*']);
});

test('an address can be checked against the configured trusted_proxies', async (t) => {
  const { snapshot } = await loaded(t, 'server: { trusted_proxies: [10.0.0.0/8] }');
  assert.equal(snapshot.server.trustedProxies?.check('10.1.2.3'), true);
});

test('a default model may be an alias or a name that matches a pattern', async (t) => {
  const text = `${upstream}models:
  - { id: m, aliases: [n], operations: [edits], targets: [{ upstream: a }] }
  - { id: gpt-*, operations: [completions], targets: [{ upstream: a }] }
default_model: { edits: n, completions: gpt-4 }
`;
  const { snapshot } = await loaded(t, text);
  assert.deepEqual(snapshot.defaultModels, { edits: 'n', completions: 'gpt-4' });
});

test('warns that a configuration file without upstreams serves nothing', async (t) => {
  const { warnings } = await loaded(t, 'server: {}');
  assert.match(warnings.join(), /nothing is served/);
});
