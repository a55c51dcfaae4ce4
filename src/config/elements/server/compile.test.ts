import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFaults, type FaultRow, faultsOf, loaded } from '../../../../test/support/gateways/configuration.ts';
import { localhostCertificate, localhostKey } from '../../../../test/support/upstreams/localhost-certificate.ts';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

test('the files of server.tls are read with the configuration, and watched for changes', async (t) => {
  const files = { 'tls/cert.pem': localhostCertificate, 'tls/key.pem': localhostKey };
  const result = await loaded(t, 'server: { tls: { cert: tls/cert.pem, key: ./tls/key.pem } }', { files });
  assert.deepEqual(result.snapshot.server.tls, { cert: localhostCertificate, key: localhostKey });
  const { file = '' } = result;
  assert.deepEqual(result.files, [file, join(file, '../tls/cert.pem'), join(file, '../tls/key.pem')]);
});

test('drain.delay defaults to 5 s in Kubernetes and 0 elsewhere', async (t) => {
  const delayOf = async (text: string, env: Readonly<Record<string, string>>) =>
    (await loaded(t, text, { env })).snapshot.server.drain.delayMs;
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  assert.equal(await delayOf('server: {}', {}), 0);
  assert.equal(await delayOf('server: {}', inCluster), 5_000);
  assert.equal(await delayOf('server: { drain: { deadline: 1s } }', inCluster), 5_000);
  assert.equal(await delayOf('server: { drain: { delay: 0s } }', inCluster), 0);
});

test('workers: auto is the number of processors', async (t) => {
  const workersOf = async (written: string) =>
    (await loaded(t, `server: { workers: ${written} }\nredis: redis://h`, { availableCores: 6 })).snapshot.server
      .workers;
  assert.equal(await workersOf('auto'), 6);
  assert.equal(await workersOf('3'), 3);
});

test('more than one worker causes no warning, with or without redis', async (t) => {
  const warningsOf = async (text: string) => {
    const { warnings } = await loaded(t, text, { availableCores: 4 });
    return warnings.filter((warning) => warning.startsWith('server.workers'));
  };
  assert.deepEqual(await warningsOf('server: { workers: auto }'), []);
  assert.deepEqual(await warningsOf('server: { workers: 4 }\nredis: redis://h'), []);
  assert.deepEqual(await warningsOf('server: { workers: 1 }'), []);
});

test('server.shedding.memory is a size, or a percentage of the memory available', async (t) => {
  const availableBytes = 1000 * 1024 ** 2;
  const sheddingOf = async (fields: string) => {
    const { snapshot, warnings } = await loaded(t, `server: { shedding: { ${fields} } }`, { availableBytes });
    assert.doesNotMatch(warnings.join(), /shedding/);
    return snapshot.server.shedding;
  };
  assert.deepEqual(await sheddingOf('memory: 512MiB'), { loopDelayMs: 500, memoryBytes: 512 * 1024 ** 2 });
  assert.deepEqual(await sheddingOf('memory: 33%, loop_delay: 2s'), { loopDelayMs: 2000, memoryBytes: 346_030_080 });
  assert.deepEqual(await sheddingOf('memory: 100%'), { loopDelayMs: 500, memoryBytes: availableBytes });
});

test('warns of a server.shedding.memory above the memory available, which is never reached', async (t) => {
  const { warnings } = await loaded(t, 'server: { shedding: { memory: 2GiB } }', { availableBytes: 1024 ** 3 });
  assert.equal(warnings[0], 'server.shedding.memory: 2GiB is more than this process may have, so it is never reached');
});

test('body memory is an eighth by default, may be a percentage or a size, and always fits two bodies', async (t) => {
  const availableBytes = 4 * GiB;
  const memoryOf = async (fields: string, bytes = availableBytes) => {
    const { snapshot, warnings } = await loaded(t, `server: { ${fields} }\nredis: redis://h`, {
      availableBytes: bytes,
    });
    return [
      snapshot.server.bodyMemoryBytes / MiB,
      warnings.filter((warning) => warning.startsWith('server.body_memory')),
    ];
  };
  assert.deepEqual(await memoryOf('port: 1'), [512, []]);
  assert.deepEqual(await memoryOf('workers: 4'), [128, []]);
  assert.deepEqual(await memoryOf('workers: 4, body_memory: 25%'), [256, []]);
  assert.deepEqual(await memoryOf('workers: 4, body_memory: 1GiB'), [1024, []]);
  assert.deepEqual(await memoryOf('body_limit: 1GiB, body_memory: 2GiB'), [2048, []]);
  assert.deepEqual(await memoryOf('port: 1', 512 * MiB), [64, []]);
  const [little, warnings] = await memoryOf('port: 1', 128 * MiB);
  assert.equal(little, 64);
  assert.match(String(warnings), /two bodies of server\.body_limit, 64MiB, are more than a quarter of the 128MiB/);
  const [most, tooMuch] = await memoryOf('body_memory: 8GiB');
  assert.equal(most, 8192);
  assert.match(String(tooMuch), /8GiB is more than this process may have/);
});

test('body_wait is shortened to stay below the request timeout', async (t) => {
  const waitOf = async (fields: string) => (await loaded(t, `server: { ${fields} }`)).snapshot.server.bodyWaitMs;
  assert.equal(await waitOf('port: 1'), 5_000);
  assert.equal(await waitOf('body_wait: 2m'), 30_000);
  assert.equal(await waitOf('body_wait: 0s'), 0);
  assert.equal(await waitOf('timeouts: { request: 3s }'), 1_500);
});

test('detects how much memory is available to the process', async (t) => {
  const { snapshot } = await loaded(t, 'server: { shedding: { memory: 100% } }');
  assert.ok(snapshot.server.shedding.memoryBytes > 0);
  assert.ok(snapshot.server.shedding.memoryBytes <= totalmem());
});

const faultRows: readonly FaultRow[] = [
  {
    text: 'server: { shedding: { memory: 85 } }',
    line: 1,
    path: 'server.shedding.memory',
    error: /a size from 64MiB to 1024GiB, or a percentage from 10% to 100%; came: 85/,
  },
  {
    text: 'server: { shedding: { memory: 101% } }',
    line: 1,
    path: 'server.shedding.memory',
    error: /from 10% to 100%/,
  },
  { text: 'server: { shedding: { memory: 1MiB } }', line: 1, path: 'server.shedding.memory', error: /from 64MiB/ },
  {
    text: 'server: { shedding: { loop_delay: 1ms } }',
    line: 1,
    path: 'server.shedding.loop_delay',
    error: /from 10ms to 1m/,
  },
  {
    text: 'server: { body_limit: 10MiB, body_memory: 19MiB }',
    line: 1,
    path: 'server.body_memory',
    error: /wanted: at least two of server\.body_limit, 20MiB/,
  },
  {
    text: 'server: { body_limit: 1GiB, body_memory: 1%, workers: 1024 }\nredis: redis://h',
    line: 1,
    path: 'server.body_memory',
    error: /1% are \d+MiB here; wanted: at least two of server\.body_limit, 2GiB/,
  },
  { text: 'server: { body_memory: 0% }', line: 1, path: 'server.body_memory', error: /a percentage from 1% to 100%/ },
  { text: 'server: { host: "localhost:4000" }', line: 1, path: 'server.host', error: /without the port/ },
  { text: 'server: { host: "[::1]" }', line: 1, path: 'server.host', error: /without brackets/ },
  { text: 'server: { base_path: /a/../b }', line: 1, path: 'server.base_path', error: /a path such as/ },
  { text: 'server: { base_path: "/a?b" }', line: 1, path: 'server.base_path', error: /a path such as/ },
  { text: 'server: { base_path: /a//b }', line: 1, path: 'server.base_path', error: /a path such as/ },
  {
    text: 'server:\n  trusted_proxies:\n    - 10.0.0.0/8\n    - 10.0.0.0/33',
    line: 4,
    path: 'server.trusted_proxies[1]',
    error: /CIDR/,
  },
  {
    text: 'server: { cors: { origins: ["https://a.example/path"] } }',
    line: 1,
    path: 'server.cors.origins[0]',
    error: /without a path/,
  },
  {
    text: 'server: { cors: { origins: [a.example] } }',
    line: 1,
    path: 'server.cors.origins[0]',
    error: /an origin such as/,
  },
  { text: 'server: { workers: 2000 }', line: 1, path: 'server.workers', error: /from 1 to 1024/ },
  { text: 'server: { workers: many }', line: 1, path: 'server.workers', error: /or auto; came: "many"/ },
  {
    text: 'server: { tls: { cert: c, key: k } }',
    line: 1,
    path: 'server.tls.key',
    error: /no such file/,
    files: { c: '' },
  },
  {
    text: 'server: { tls: { cert: c, key: c } }',
    line: 1,
    path: 'server.tls',
    error: /no PEM certificate/,
    files: { c: 'x' },
  },
  { text: 'store: postgres://u@h', line: 1, path: 'store', error: /or postgres:\/\/user:password@host\/database/ },
  { text: 'store: "postgres:///db"', line: 1, path: 'store', error: /wanted: sqlite:/ },
  {
    text: 'server: { workers: 2 }\nstore: "sqlite::memory:"',
    line: 2,
    path: 'store',
    error: /memory of one process, and server.workers is 2/,
  },
  { text: 'store: data/postern.db', line: 1, path: 'store', error: /wanted: sqlite:/ },
];

test('reports each fault of the server section once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));

test('server.socket replaces host and port, unless one of them is set too', async (t) => {
  const socket = 'socket: { path: /run/p.sock }';
  for (const [text, port] of [
    [socket, undefined],
    [`${socket}, host: 0.0.0.0`, 4000],
    [`${socket}, port: 5000`, 5000],
    ['workers: 1', 4000],
  ] as const) {
    const { snapshot } = await loaded(t, `server: { ${text} }`);
    assert.equal(snapshot.server.port, port, text);
  }
  const { snapshot } = await loaded(
    t,
    `server: { socket: { path: /run/p.sock, mode: '0660', owner: ann, group: 7, trusted: true } }`,
  );
  assert.deepEqual(snapshot.server.socket, {
    path: '/run/p.sock',
    mode: 0o660,
    owner: 'ann',
    group: 7,
    isTrusted: true,
  });
});

test('server.socket needs an absolute path, and its mode in octal', async (t) => {
  for (const [text, path, error] of [
    ['path: p.sock', 'server.socket.path', /the whole path of a file/],
    [`path: /${'x'.repeat(103)}`, 'server.socket.path', /103 bytes at most/],
    ['path: /p, mode: 0660', 'server.socket.mode', /three octal digits in quotes/],
    ["path: /p, mode: '0888'", 'server.socket.mode', /three octal digits in quotes/],
  ] as const) {
    const [fault] = await faultsOf(t, `server: { socket: { ${text} } }`);
    assert.equal(fault?.path, path, text);
    assert.match(fault?.message ?? '', error);
  }
});
