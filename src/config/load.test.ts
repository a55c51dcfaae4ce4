import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createDirectory,
  faultsOf,
  loaded,
  loadText,
  sampleFamilies,
} from '../../test/support/gateways/configuration.ts';
import { localhostCertificate, localhostKey } from '../../test/support/upstreams/localhost-certificate.ts';
import { loadConfiguration } from './load.ts';

const options = { env: {}, families: sampleFamilies };

const contractExample = `
server:
  host: 127.0.0.1          # 0.0.0.0 in the container image
  port: 4000
  base_path: ""            # "/ai" puts the routes at /ai/v1/...
  body_limit: 32MiB
  workers: 1               # or a number, or auto; more than 1 wants redis for exact limits
  drain: { delay: 0s, deadline: 30s }
console: { host: 127.0.0.1, port: 4001 }
store: sqlite:data/postern.db        # or postgres://user:pass@host/db
redis: redis://127.0.0.1:6379        # optional: limits and caches shared by all nodes
upstreams:
  - id: openai
    family: openai
    base_url: https://api.openai.com/v1    # each family has its default
    api_key: \${OPENAI_API_KEY}             # or api_key_file, or credentials: [{ api_key, weight }, ...]
    headers: {}                            # static, added to every call
    forward_headers: []                    # client headers let through by name
    timeouts: { connect: 2s, first_byte: 60s, idle: 60s, total: 300s }
    limits: { concurrency: 256, queue: 256 }
models:
  - id: text-embedding-3-small
    aliases: [embed-small]
    operations: [embeddings]               # default: what the family offers
    visible: true
    space: text-embedding-3-small          # vector space; also by model: balance, retry, hedge, cache, coalesce, price, accepts_messages
    targets:                               # also by target: bridge, unsupported, defaults
      - { upstream: openai, model: text-embedding-3-small, priority: 0, weight: 1 }
keys:
  - id: dev
    secret: \${POSTERN_DEV_KEY}             # at least 24 characters
    models: ["*"]
`;

test('the example file of the product contract loads without warnings', async (t) => {
  const env = { OPENAI_API_KEY: 'sk-0123456789', POSTERN_DEV_KEY: 'k'.repeat(24) };
  const { snapshot, warnings } = await loaded(t, contractExample, { env });
  assert.deepEqual(warnings, []);
  assert.equal(snapshot.models.resolve('embed-small')?.id, 'text-embedding-3-small');
  assert.deepEqual(snapshot.upstreams.get('openai')?.credentials[0].headers, ['authorization', 'Bearer sk-0123456789']);
  assert.equal(snapshot.keys.size, 1);
});

test('reports all faults of a file at once, in file order, with lines', async (t) => {
  const faults = await faultsOf(
    t,
    `server:
  prot: 4000
upstreams:
  - id: a
    family: opnai
  - id: b
    family: openai
    api_key: \${NOT_SET}
models:
  - id: m
    visble: true
    targets:
      - upstream: c
keys:
  - id: dev
    secret: short
`,
  );
  assert.deepEqual(
    faults.map(({ path, line }) => [line, path]),
    [
      [2, 'server.prot'],
      [5, 'upstreams[0].family'],
      [8, 'upstreams[1].api_key'],
      [11, 'models[0].visble'],
      [13, 'models[0].targets[0].upstream'],
      [16, 'keys[0].secret'],
    ],
  );
});

test('the configuration file is the given one, else POSTERN_CONFIG, else the one in the working directory', async (t) => {
  const cwd = await createDirectory(t, {
    'named.yaml': 'server: { port: 1 }',
    'environment.yaml': 'server: { port: 2 }',
    'postern.yml': 'server: { port: 3 }',
    'postern.json': '{ "server": { "port": 4 } }',
  });
  const env = { POSTERN_CONFIG: 'environment.yaml' };
  const portOf = async (more: object) => {
    const result = await loadConfiguration({ ...options, cwd, ...more });
    return result.ok && [result.snapshot.server.port, result.file];
  };
  assert.deepEqual(await portOf({ configPath: 'named.yaml', env }), [1, join(cwd, 'named.yaml')]);
  assert.deepEqual(await portOf({ env }), [2, join(cwd, 'environment.yaml')]);
  assert.deepEqual(await portOf({ env: { POSTERN_CONFIG: '' } }), [3, join(cwd, 'postern.yml')]);
});

test('warns of a configuration file in the working directory that is not used', async (t) => {
  const cwd = await createDirectory(t, { 'postern.yaml': 'server: {}', 'postern.json': '{}' });
  const result = await loadConfiguration({ ...options, cwd });
  assert.match(String(result.ok && result.warnings), /postern\.json is not read/);
});

test('without a configuration file the built-in configuration is used, and the default locations are watched', async (t) => {
  const cwd = await createDirectory(t);
  const result = await loadConfiguration({ ...options, cwd });
  assert.ok(result.ok);
  assert.equal(result.file, undefined);
  assert.deepEqual(
    result.files,
    ['postern.yaml', 'postern.yml', 'postern.json'].map((name) => join(cwd, name)),
  );
  assert.deepEqual(
    result.snapshot.models.all.map(({ id }) => id),
    ['local/hash-embed', 'local/echo'],
  );
});

test('a configuration file that cannot be used is reported as a single fault', async (t) => {
  const cwd = await createDirectory(t, {
    'empty.yaml': '',
    'comment.yaml': '# nothing yet\n',
    'list.yaml': '- a\n',
    'text.yaml': 'just text\n',
    'null.yaml': 'null\n',
    'large.yaml': `# ${'x'.repeat(5 * 1024 * 1024)}\n`,
  });
  await writeFile(join(cwd, 'binary.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]));
  await mkdir(join(cwd, 'directory.yaml'));
  await symlink('nowhere.yaml', join(cwd, 'dangling.yaml'));
  for (const [name, message] of [
    ['missing.yaml', /there is no such file/],
    ['dangling.yaml', /there is no such file/],
    ['directory.yaml', /it is a directory/],
    ['large.yaml', /larger than 4096 KiB/],
    ['binary.yaml', /not UTF-8/],
    ['empty.yaml', /is empty/],
    ['comment.yaml', /is empty/],
    ['null.yaml', /not a mapping/],
    ['list.yaml', /not a mapping/],
    ['text.yaml', /not a mapping/],
    ['', /it is a directory/],
  ] as const) {
    const result = await loadConfiguration({ ...options, cwd, configPath: name });
    assert.ok(!result.ok, name);
    assert.equal(result.faults.length, 1, name);
    assert.match(String(result.faults[0]?.message), message, name);
  }
});

test('a dangling symbolic link in place of the configuration file is a fault, not a missing file', async (t) => {
  const cwd = await createDirectory(t);
  await symlink('nowhere.yaml', join(cwd, 'postern.yaml'));
  const result = await loadConfiguration({ ...options, cwd });
  assert.equal(result.ok, false);
});

test('a configuration file without read permission is a fault', async (t) => {
  const cwd = await createDirectory(t, { 'postern.yaml': 'server: {}' });
  await chmod(join(cwd, 'postern.yaml'), 0);
  // Root can read everything: become an unprivileged user for a moment.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  const result = await loadConfiguration({ ...options, cwd }).finally(() => {
    if (isRoot) process.seteuid?.(0);
  });
  assert.match(JSON.stringify(result), /may not be read/);
});

test('reads a configuration in JSON, also when it is indented with tabs', async (t) => {
  const { snapshot } = await loaded(t, '{\n\t"server": {\n\t\t"port": 5,\n\t\t"base_path": "\\/ai"\n\t}\n}');
  assert.deepEqual([snapshot.server.port, snapshot.server.basePath], [5, '/ai']);
});

test('lists every file that was read once, by absolute path, so that it can be watched', async (t) => {
  const text = `
upstreams:
  - { id: a, family: openai, api_key_file: keys/a }
  - { id: b, family: openai, credentials: [{ api_key_file: keys/a }], tls: { ca: ca, cert: cert, key: key } }
`;
  const pem = { ca: localhostCertificate, cert: localhostCertificate, key: localhostKey };
  const { file = '', files } = await loaded(t, text, { files: { 'keys/a': 'sk-0123456789\n', ...pem } });
  assert.deepEqual(
    files,
    [file, '../keys/a', '../ca', '../cert', '../key'].map((path) => (path === file ? file : join(file, path))),
  );
});

test('no fault or warning repeats a secret, wherever the file contains it', async (t) => {
  const secret = 'hunter2-hunter2-hunter2';
  const texts = [
    `keys: [{ id: a, secret: ${secret} }]`,
    `keys: [{ id: a, secret: { b: ${secret} } }]`,
    `keys: [${secret}]`,
    `keys: ${secret}`,
    `upstreams: [{ id: a, family: openai, api_key: "${secret} ${secret}" }]`,
    `upstreams: [{ id: a, family: openai, credentials: [${secret}] }]`,
    `upstreams: [{ id: a, family: openai, credentials: ${secret} }]`,
    `upstreams: [{ id: a, family: openai, credentials: [{ api_key: ${secret} }, { api_key: ${secret}, weight: "\${S}" }] }]`,
    `upstreams: [{ id: a, family: openai, tls: { ca: "\${S}", server_name: "\${S}/" }, health_check: { path: "\${S}" } }]`,
    `upstreams: [{ id: a, family: openai, headers: { x-a: ["${secret}"], host: ${secret}, x-b: "${secret}\\n" } }]`,
    `upstreams: [{ id: a, family: openai, base_url: "https://u:${secret}@host/v1" }]`,
    `upstreams: [{ id: a, family: openai, base_url: "${secret}" }]`,
    `store: postgres://u:${secret}@host`,
    `console: { host: 0.0.0.0, token: "${secret} x" }`,
    `alerts: { webhooks: [{ url: "https://u:${secret}@host/", secret: "${secret} x" }] }`,
    `projects: [{ id: "\${S}" }]\nkeys: [{ id: a, secret: ${secret}-1234, project: "\${S}s" }]`,
    `keys: [{ id: a, secret: ${secret}-1234, budgets: [{ every: "\${S}", amount: "\${S}" }] }]`,
    `store: ${secret}`,
    `redis: ${secret}`,
    `server: { host: "\${S} x", port: "\${S}", workers: "\${S}", diagnostics: "\${S}", body_limit: "\${S}" }`,
    `upstreams: [{ id: "\${S}!", family: "\${S}", legacy_engines: "\${S}" }]`,
    `upstreams: [{ id: "\${S}", family: openai }, { id: "\${S}", family: openai }]`,
    `models: [{ id: "\${S}", targets: [{ upstream: "\${S}" }], operations: ["\${S}"] }]`,
    `models: [{ id: m, targets: [{ upstream: a }], balance: "\${S}", retry: "\${S}", hedge: { after: "\${S}" } }]`,
    `upstreams: [{ id: "\${S}", family: openai }]
models:
  - { id: m, operations: [rerank], targets: [{ upstream: "\${S}", model: x }, { upstream: "\${S}", model: x }] }
  - { id: "\${S}", operations: [embeddings], targets: [{ upstream: "\${S}" }, { upstream: "\${S}", model: x }] }
  - { id: n, operations: [embeddings], targets: [{ upstream: "\${S}" }, { upstream: "\${S}", model: "\${S}x" }] }`,
    `default_model: { edits: "\${S}" }`,
    `a: "${secret}`,
    `a: "x" ${secret}`,
    `${secret}\na: 1`,
    `a: &${secret} 1\nb: *c`,
    `a: "\\${secret}"`,
  ];
  for (const text of texts) {
    const faults = await faultsOf(t, text, { env: { S: secret } });
    assert.ok(
      !JSON.stringify(faults.map(({ message }) => message)).includes('hunter2'),
      `${text}\n${JSON.stringify(faults)}`,
    );
  }
});

test('an empty section of the file means the same as an absent one', async (t) => {
  const { snapshot } = await loaded(
    t,
    'server:\n  drain:\n  cors:\nconsole:\nupstreams:\nmodels:\nkeys:\ndefault_model:\n',
  );
  assert.equal(snapshot.server.port, 4000);
});

test('an empty credential is a fault', async (t) => {
  const [fault] = await faultsOf(t, 'upstreams:\n  - id: a\n    family: openai\n    api_key:\n');
  assert.deepEqual([fault?.path, fault?.line], ['upstreams[0].api_key', 4]);
});

test('loading any file content gives a configuration or faults, and throws nothing', async (t) => {
  const words = fc.constantFrom(
    'server',
    'upstreams',
    'models',
    'keys',
    'id',
    'family',
    'openai',
    'targets',
    'upstream',
    'operations',
    'api_key',
    'secret',
    'timeouts',
    'tls',
    'limits',
    'health_check',
    'retry',
    'hedge',
    'after',
    'always',
    'p95',
    'headers',
    '__proto__',
    'constructor',
    'toString',
    'total',
    '5s',
    '*',
    `\${A}`,
    `\${`,
    '',
    'x'.repeat(300),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      words,
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('mapping'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    mapping: fc.dictionary(words, tie('value'), { maxKeys: 6 }),
  }));
  const cwd = await createDirectory(t);
  await fc.assert(
    fc.asyncProperty(value, async (tree) => {
      await writeFile(join(cwd, 'postern.yaml'), JSON.stringify(tree));
      const result = await loadConfiguration({ ...options, cwd });
      assert.ok(result.ok || result.faults.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('loading a valid file with any edit of its text throws nothing', async (t) => {
  const env = { OPENAI_API_KEY: 'sk-0123456789', POSTERN_DEV_KEY: 'k'.repeat(24) };
  const cwd = await createDirectory(t);
  const cut = fc.tuple(
    fc.nat(contractExample.length),
    fc.nat(40),
    fc.constantFrom('', '[', '{', '"', '\n', '\t', ': ', '- ', '&a ', '*a', '!', `\${`, '\0'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), async (cuts) => {
      let text = contractExample;
      for (const [at, length, insert] of cuts) text = text.slice(0, at) + insert + text.slice(at + length);
      await writeFile(join(cwd, 'postern.yaml'), text);
      const result = await loadConfiguration({ ...options, env, cwd });
      assert.ok(result.ok || result.faults.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('the first example in the docs loads without changes', async (t) => {
  const page = await readFile(new URL('../../docs/guides/configuration.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const result = await loadText(t, example, {
    env: { OPENAI_API_KEY: 'sk-0123456789', POSTERN_DEV_KEY: 'k'.repeat(24) },
  });
  assert.ok(result.ok);
  assert.deepEqual(result.warnings, []);
});

test('loading an unchanged file again gives the same keys, positions and faults', async (t) => {
  const key = 'keys:\n  - { id: first, secret: a-secret-with-enough-characters }\n';
  const cwd = await createDirectory(t, { 'postern.yaml': key });
  const load = () => loadConfiguration({ env: {}, cwd, families: sampleFamilies });
  const [first, second] = [await load(), await load()];
  assert.ok(first.ok && second.ok);
  assert.deepEqual([...second.snapshot.keys], [...first.snapshot.keys]);
  assert.deepEqual([...second.keyPositions], [...first.keyPositions]);
  await writeFile(join(cwd, 'postern.yaml'), `${key}  - { id: second, secret: a-secret-with-enough-characters }\n`);
  const [faulty, again] = [await load(), await load()];
  assert.ok(!faulty.ok && !again.ok);
  assert.deepEqual(again.faults, faulty.faults);
});
