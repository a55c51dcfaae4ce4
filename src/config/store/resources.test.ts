import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { toResource } from '../../../test/support/stores/memory-resources.ts';
import type { Resource } from '../../core/store/resources.ts';
import { parseKeyRing } from '../../lib/secrets/sealed.ts';
import { type LoadOptions, loadConfiguration } from '../load.ts';
import { sealDocument } from './sealed-fields.ts';

const upstream = { id: 'openai', family: 'openai', base_url: 'http://127.0.0.1:9/v1' };
const model = { id: 'm', operations: ['embeddings'], targets: [{ upstream: 'openai' }] };

async function load(
  t: TestContext,
  text: string,
  resources: readonly Resource[],
  more: Partial<LoadOptions> = {},
): ReturnType<typeof loadConfiguration> {
  const cwd = await createDirectory(t, { 'postern.yaml': text });
  return loadConfiguration({ env: {}, families: sampleFamilies, resources, ...more, cwd });
}

async function faultsOf(...args: Parameters<typeof load>) {
  const result = await load(...args);
  assert.ok(!result.ok, 'the configuration is accepted');
  return result.faults;
}

async function loaded(...args: Parameters<typeof load>) {
  const result = await load(...args);
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

test('upstreams and models of file and store form one configuration and may refer to each other', async (t) => {
  const file =
    'upstreams:\n  - { id: near, family: homemade, base_url: "http://127.0.0.1:8" }\nmodels:\n  - { id: far-model, space: s, targets: [{ upstream: far }] }\n';
  const { snapshot, warnings } = await loaded(t, file, [
    toResource('upstream', { id: 'far', family: 'homemade', base_url: 'http://127.0.0.1:7' }),
    toResource('model', { id: 'near-model', space: 's', targets: [{ upstream: 'near' }] }),
    toResource('project', { id: 'search', name: 'Search' }),
  ]);
  assert.deepEqual([...snapshot.upstreams.keys()], ['near', 'far']);
  assert.equal(snapshot.models.resolve('far-model')?.model.targets[0].upstream.id, 'far');
  assert.equal(snapshot.models.resolve('near-model')?.model.targets[0].upstream.id, 'near');
  assert.equal(snapshot.projects.get('search')?.managedBy, 'store');
  assert.deepEqual(warnings, []);
});

test('a stored model has a creation time, and a model of the file has none', async (t) => {
  const file = `upstreams:\n  - ${JSON.stringify(upstream)}\nmodels:\n  - ${JSON.stringify({ ...model, id: 'filed' })}\n`;
  const stored = { ...toResource('model', model), createdAtMs: 1_700_000_000_900 };
  const { snapshot } = await loaded(t, file, [stored]);
  assert.equal(snapshot.models.resolve('m')?.model.createdAtS, 1_700_000_000);
  assert.equal(snapshot.models.resolve('filed')?.model.createdAtS, undefined);
});

test('does not warn of a file without upstreams if the store has upstreams', async (t) => {
  const { warnings } = await loaded(t, 'server: {}\n', [toResource('upstream', upstream)]);
  assert.deepEqual(warnings, []);
});

test('without a configuration file, stored elements are added to the built-in configuration', async (t) => {
  const cwd = await createDirectory(t);
  const options = { env: {}, families: sampleFamilies, cwd };
  const found = await loadConfiguration({ ...options, resources: [toResource('upstream', upstream)] });
  assert.ok(found.ok);
  assert.deepEqual([...found.snapshot.upstreams.keys()], ['local', 'openai']);
});

test('an element of the file whose ID is no text is a fault, also when the store has elements', async (t) => {
  const file = 'upstreams:\n  - { id: {}, family: openai }\n';
  const faults = await faultsOf(t, file, [toResource('upstream', upstream)]);
  assert.deepEqual(
    faults.map(({ path, line }) => `${path} ${line}`),
    ['upstreams[0].id 2'],
  );
});

test('an element declared in both file and store is a fault with both locations', async (t) => {
  const file = [
    'upstreams:',
    '  - { id: near, family: openai }',
    '  - { id: openai, family: openai }',
    'models:',
    '  - { id: m, operations: [embeddings], targets: [{ upstream: near }] }',
    'projects:',
    '  - { id: search }',
    '',
  ].join('\n');
  const faults = await faultsOf(t, file, [
    toResource('upstream', upstream, 3),
    toResource('model', model),
    toResource('project', { id: 'search' }),
  ]);
  assert.deepEqual(
    faults.map(({ origin, path, line, message }) => [origin, path, line, message.split(';')[0]]),
    [
      [
        'store: upstream "openai" (version 3)',
        'id',
        undefined,
        '"openai" is declared by the configuration file too: upstreams[1].id (line 3)',
      ],
      [
        'store: model "m" (version 1)',
        'id',
        undefined,
        '"m" is declared by the configuration file too: models[0].id (line 5)',
      ],
      [
        'store: project "search" (version 1)',
        'id',
        undefined,
        '"search" is declared by the configuration file too: projects[0].id (line 7)',
      ],
    ],
  );
});

test('an alias declared in both file and store is a fault with both locations', async (t) => {
  const file =
    'upstreams:\n  - { id: openai, family: openai }\nmodels:\n  - { id: a, aliases: [x], operations: [embeddings], targets: [{ upstream: openai }] }\n';
  const [fault, ...others] = await faultsOf(t, file, [toResource('model', { ...model, id: 'b', aliases: ['x'] })]);
  assert.equal(fault?.origin, 'store: model "b" (version 1)');
  assert.equal(fault?.path, 'aliases[0]');
  assert.equal(fault?.message, '"x" is taken by models[0].aliases[0] (line 4); each name stands for one thing');
  assert.deepEqual(others, []);
});

test('faults of stored elements are all reported at once, each at its own location, as for the file', async (t) => {
  const file = 'server:\n  prot: 1\nupstreams:\n  - { id: near, family: openai }\n';
  const faults = await faultsOf(t, file, [
    toResource('upstream', { ...upstream, famly: 'x', limits: { concurrency: 0 } }, 2),
    toResource('model', { ...model, targets: [{ upstream: 'opnai' }] }),
    toResource('project', { id: 'p', limits: { requests_per_minute: -1 } }),
  ]);
  assert.deepEqual(
    faults.map(({ origin, path, line }) => [origin, path, line]),
    [
      [undefined, 'server.prot', 2],
      ['store: upstream "openai" (version 2)', 'limits.concurrency', undefined],
      ['store: upstream "openai" (version 2)', 'famly', undefined],
      ['store: model "m" (version 1)', 'targets[0].upstream', undefined],
      ['store: project "p" (version 1)', 'limits.requests_per_minute', undefined],
    ],
  );
  assert.match(faults[3]?.message ?? '', /did you mean openai\?/);
});

test('environment references in stored elements are not substituted', async (t) => {
  const env = { NAME: 'http://127.0.0.1:1' };
  const faults = await faultsOf(t, 'server: {}\n', [toResource('upstream', { ...upstream, base_url: `\${NAME}` })], {
    env,
  });
  assert.deepEqual(
    faults.map(({ path, message }) => [path, message]),
    [['base_url', 'wanted: a URL that begins with http:// or https:// and a host, or unix: and the path of a socket']],
  );
});

test('a stored document with another ID than its own, or with a __proto__ key, is a fault', async (t) => {
  const hostile: Resource = {
    ...toResource('upstream', upstream),
    document: JSON.parse('{"id":"openai","family":"openai","__proto__":{"api_key":"x"}}'),
  };
  assert.deepEqual(
    (await faultsOf(t, 'server: {}\n', [hostile])).map(({ path, message }) => [path, message.split(';')[0]]),
    [['__proto__', 'unknown key']],
  );
  const moved = { ...toResource('upstream', upstream), id: 'other' };
  const [fault] = await faultsOf(t, 'server: {}\n', [moved]);
  assert.equal(fault?.path, 'id');
  assert.match(fault?.message ?? '', /is not the ID that it has in the store, which is "other"/);
});

const secretKey = randomBytes(32).toString('hex');
const sealedUpstream = (key = secretKey, version = 1): Resource => {
  const sealing = sealDocument(
    { kind: 'upstream', id: 'openai' },
    { ...upstream, api_key: 'sk-canary-0123456789' },
    parseKeyRing(key),
    undefined,
  );
  assert.ok('document' in sealing);
  return toResource('upstream', sealing.document, version);
};

test('encrypted values of stored elements are decrypted on load', async (t) => {
  const { snapshot } = await loaded(t, 'server: {}\n', [sealedUpstream()], { env: { POSTERN_SECRET_KEY: secretKey } });
  assert.deepEqual(snapshot.upstreams.get('openai')?.credentials[0].headers, [
    'authorization',
    'Bearer sk-canary-0123456789',
  ]);
});

test('POSTERN_SECRET_KEY_FILE is read, and an older key after the current one still decrypts', async (t) => {
  const other = randomBytes(32).toString('base64');
  const cwd = await createDirectory(t, { 'postern.yaml': 'server: {}\n', 'secret.key': `${other},${secretKey}\n` });
  const env = { POSTERN_SECRET_KEY_FILE: 'secret.key' };
  const found = await loadConfiguration({ env, families: sampleFamilies, cwd, resources: [sealedUpstream()] });
  assert.ok(found.ok);
});

test('an encrypted value with a missing or wrong secret key or altered text is a fault with advice', async (t) => {
  const other = randomBytes(32).toString('hex');
  const keyId = parseKeyRing(secretKey).sealingKeyId;
  const rows: readonly (readonly [
    env: Record<string, string>,
    origin: string | undefined,
    path: string,
    expected: RegExp,
  ])[] = [
    [{}, 'store: upstream "openai" (version 4)', 'api_key', new RegExp(`sealed under the key ${keyId}.*not set`)],
    [
      { POSTERN_SECRET_KEY: other },
      'store: upstream "openai" (version 4)',
      'api_key',
      new RegExp(`sealed under the key ${keyId}, and POSTERN_SECRET_KEY holds [0-9a-f]{8};`),
    ],
    [{ POSTERN_SECRET_KEY: 'short' }, undefined, '', /^POSTERN_SECRET_KEY: key 1 is not 32 bytes/],
    [{ POSTERN_SECRET_KEY_FILE: 'nowhere' }, undefined, '', /^POSTERN_SECRET_KEY_FILE: .*no such file/],
    [{ POSTERN_SECRET_KEY: other, POSTERN_SECRET_KEY_FILE: 'x' }, undefined, '', /are both set/],
  ];
  for (const [env, origin, path, expected] of rows) {
    const faults = await faultsOf(t, 'server: {}\n', [sealedUpstream(secretKey, 4)], { env });
    assert.deepEqual(
      faults.map((fault) => [fault.origin, fault.path]),
      [[origin, path]],
    );
    assert.match(faults[0]?.message ?? '', expected);
  }
});

test('an encrypted value that was copied to another upstream cannot be decrypted', async (t) => {
  const { document } = sealedUpstream();
  const moved = toResource('upstream', { ...document, id: 'mine', base_url: 'http://127.0.0.1:6/v1' });
  const faults = await faultsOf(t, 'server: {}\n', [moved], { env: { POSTERN_SECRET_KEY: secretKey } });
  assert.match(faults[0]?.message ?? '', /cannot be decrypted: it was changed, or encrypted for another field/);
});
