import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { loadConfiguration } from '../load.ts';

const secretOf = (name: string): string => `${name}-${'s'.repeat(24)}`;

test('every secret may come from a file, and that file is watched for changes', async (t) => {
  const cwd = await createDirectory(t, {
    'postern.yaml': `
store_file: secrets/store
redis_file: secrets/redis
console:
  token_file: secrets/token
  oidc: { issuer: "https://id.example", client_id: postern, client_secret_file: secrets/oidc }
alerts:
  webhooks: [{ url_file: secrets/url, secret_file: secrets/signing }]
upstreams: [{ id: up, family: openai, api_key_file: secrets/up }]
keys: [{ id: a, secret_file: secrets/a }, { id: b, secret_file: "\${B_FILE}" }]
`,
    'secrets/store': 'postgres://u:p@h/db\n',
    'secrets/redis': 'redis://:p@h\n',
    'secrets/token': secretOf('token'),
    'secrets/oidc': secretOf('oidc'),
    'secrets/url': 'https://hooks.example/T0/B0',
    'secrets/signing': secretOf('signing'),
    'secrets/up': 'sk-up',
    'secrets/a': `${secretOf('a')}\r\n`,
    'secrets/b': secretOf('b'),
  });
  const load = () =>
    loadConfiguration({ env: { B_FILE: 'secrets/b' }, families: sampleFamilies, cwd, availableBytes: 2 ** 32 });
  const found = await load();
  if (!found.ok) assert.fail(JSON.stringify(found.faults));
  const { snapshot, files } = found;
  assert.deepEqual([snapshot.store, snapshot.redis], ['postgres://u:p@h/db', 'redis://:p@h']);
  assert.equal(snapshot.console.token, secretOf('token'));
  assert.equal(snapshot.console.oidc?.client_secret, secretOf('oidc'));
  const [webhook] = snapshot.alerts.webhooks;
  assert.deepEqual([webhook?.url, webhook?.secret], ['https://hooks.example/T0/B0', secretOf('signing')]);
  assert.deepEqual([...snapshot.keys.keys()], [digestOf(secretOf('a')), digestOf(secretOf('b'))]);
  for (const name of ['store', 'redis', 'token', 'oidc', 'url', 'signing', 'up', 'a', 'b']) {
    assert.ok(files.includes(join(cwd, 'secrets', name)), name);
  }
  await writeFile(join(cwd, 'secrets/a'), secretOf('anew'));
  const again = await load();
  assert.ok(again.ok && again.snapshot.keys.has(digestOf(secretOf('anew'))));
});

test('a gateway key may be given by its digest alone', async (t) => {
  const cwd = await createDirectory(t, {
    'postern.yaml': `keys: [{ id: a, secret_sha256: ${digestOf(secretOf('a')).toUpperCase()} }]`,
  });
  const found = await loadConfiguration({ env: {}, families: sampleFamilies, cwd });
  assert.ok(found.ok && found.snapshot.keys.get(digestOf(secretOf('a')))?.id === 'a');
});

test('a secret file that is missing, empty or without a valid secret is a fault that does not show its content', async (t) => {
  const cwd = await createDirectory(t, {
    'postern.yaml': `
redis_file: gone
console:
  token: ${secretOf('token')}
  token_file: token
keys:
  - { id: a, secret_file: short }
  - { id: b, secret_file: two }
  - { id: c, secret_file: empty }
  - { id: d }
  - { id: e, secret: ${secretOf('e')}, secret_sha256: "${'0'.repeat(64)}" }
  - { id: f, secret_sha256: nonsense }
`,
    token: secretOf('other'),
    short: 'hush',
    two: `${secretOf('a')}\n${secretOf('b')}\n`,
    empty: '\n',
  });
  const found = await loadConfiguration({ env: {}, families: sampleFamilies, cwd });
  assert.ok(!found.ok);
  assert.deepEqual(
    found.faults.map(({ path, message }) => `${path}: ${message}`),
    [
      'redis_file: the file cannot be used: there is no such file',
      'console.token_file: stands beside token; keep one of the two',
      'keys[0].secret: wanted: at least 24 visible ASCII characters, without spaces; came: other text, of 4 characters',
      'keys[1].secret_file: the file cannot be used: it holds more than one line',
      'keys[2].secret_file: the file cannot be used: it is empty',
      'keys[3].secret: is missing; wanted: secret, secret_file or secret_sha256',
      'keys[4].secret_sha256: stands beside secret or secret_file; keep one of them',
      'keys[5].secret_sha256: wanted: 64 hexadecimal digits, as sha256sum prints them; came: "nonsense"',
    ],
  );
  assert.doesNotMatch(JSON.stringify(found.faults), /hush|ssss/);
  await rm(join(cwd, 'token'));
});

test('an environment variable overrides a secret setting and its _file setting', async (t) => {
  const cwd = await createDirectory(t, {
    'postern.yaml': 'redis_file: file\n',
    file: 'redis://file',
    own: 'redis://own',
  });
  const redisWith = async (env: Record<string, string>) => {
    const found = await loadConfiguration({ env, families: sampleFamilies, cwd });
    return found.ok ? found.snapshot.redis : found.faults;
  };
  assert.equal(await redisWith({ POSTERN_REDIS: 'redis://variable' }), 'redis://variable');
  assert.equal(await redisWith({ POSTERN_REDIS_FILE: 'own' }), 'redis://own');
});
