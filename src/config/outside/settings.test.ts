import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { type LoadOptions, loadConfiguration } from '../load.ts';
import { outsideNames } from './settings.ts';

const secret = 'k'.repeat(24);
const file = `
server: { port: 4000, drain: { delay: 1s } }
upstreams:
  - { id: up, family: openai, api_key: sk-up }
models:
  - { id: m, targets: [{ upstream: up }] }
`;

async function load(
  t: Parameters<typeof createDirectory>[0],
  { text = file, ...options }: Partial<LoadOptions> & { text?: string | null },
) {
  const cwd = await createDirectory(t, text === null ? {} : { 'postern.yaml': text });
  return loadConfiguration({ env: {}, families: sampleFamilies, cwd, refusesUnknownVariables: true, ...options });
}

async function loaded(t: Parameters<typeof createDirectory>[0], options: Parameters<typeof load>[1]) {
  const found = await load(t, options);
  if (!found.ok) assert.fail(JSON.stringify(found.faults));
  return found;
}

async function faults(t: Parameters<typeof createDirectory>[0], options: Parameters<typeof load>[1]) {
  const found = await load(t, options);
  assert.ok(!found.ok);
  return found.faults.map(({ origin, path, line, message }) => [origin, line, path, message]);
}

test('each setting has an environment variable of its own', () => {
  assert.equal(new Set(outsideNames.map(({ variable }) => variable)).size, outsideNames.length);
  for (const { variable } of outsideNames) assert.match(variable, /^POSTERN_[A-Z0-9_]+$/);
});

test('an environment variable overrides the file, --set overrides both, and other settings stay', async (t) => {
  const env = { POSTERN_SERVER_PORT: '5000', POSTERN_SERVER_BODY_LIMIT: '1MiB', POSTERN_SERVER_DIAGNOSTICS: 'false' };
  const { server } = (await loaded(t, { env, set: ['server.port=6000'] })).snapshot;
  assert.deepEqual([server.port, server.bodyLimitBytes, server.diagnostics], [6000, 1024 ** 2, false]);
  assert.equal(server.drain.delayMs, 1000);
});

test('a gateway can be configured by environment variables alone', async (t) => {
  const env = {
    POSTERN_UPSTREAMS: `[{ id: up, family: openai, api_key: "\${OPENAI}" }]`,
    POSTERN_MODELS: '[{"id":"m","targets":[{"upstream":"up"}]}]',
    POSTERN_KEYS: `- { id: dev, secret: ${secret} }`,
    POSTERN_SERVER_CORS_ORIGINS: 'https://a.example, https://b.example',
    POSTERN_STORE: 'sqlite:elsewhere.db',
    OPENAI: 'sk-env',
  };
  const { snapshot, declared } = await loaded(t, { text: null, env });
  assert.deepEqual(snapshot.upstreams.get('up')?.credentials[0].headers, ['authorization', 'Bearer sk-env']);
  assert.equal(snapshot.upstreams.has('local'), false);
  assert.deepEqual(snapshot.server.corsOrigins, ['https://a.example', 'https://b.example']);
  assert.deepEqual([snapshot.keys.size, snapshot.store], [1, 'sqlite:elsewhere.db']);
  assert.deepEqual((await declared()).find(({ id }) => id === 'm')?.place, { file: 'POSTERN_MODELS', line: 1 });
});

test('an environment variable for a section replaces that section of the file, and one for a part only the part', async (t) => {
  const env = { POSTERN_SERVER_PORT: '7000', POSTERN_SERVER: '{ port: 5000, body_limit: 2MiB }' };
  const { server } = (await loaded(t, { env })).snapshot;
  assert.deepEqual([server.port, server.bodyLimitBytes, server.drain.delayMs], [7000, 2 * 1024 ** 2, 0]);
});

test('a fault in a setting from the environment names the variable, and repeats no value', async (t) => {
  const env = {
    POSTERN_SERVER_PORT: 'secret-port',
    POSTERN_MODELS: '- id: m\n  targets: [{ upstream: up }]\n  visble: true\n',
    POSTERN_KEYS: '[{ id: a',
    POSTERN_SERVER_TIMEOUTS_KEEPALIVE: '5s',
    POSTERN_NONSENSE_ALTOGETHER: 'x',
  };
  assert.deepEqual(
    await faults(t, {
      env,
      set: [
        'server.prt=1',
        'server.host',
        'redis=redis://h',
        'models[0].id=x',
        'server.host=sk-ant-api03-0123456789abcdef',
        'models=[{id: m, targets: [{upstream: u, defaults: {a: b}}]}]',
        'store=postgres://h/d',
      ],
    }),
    [
      ['POSTERN_MODELS', 3, 'models[0].visble', 'unknown key; did you mean visible?'],
      ['POSTERN_KEYS', 1, '', 'the indentation does not fit, or a bracket is not closed'],
      [
        'POSTERN_SERVER_PORT',
        undefined,
        'server.port',
        'wanted: a whole number from 0 to 65535; came: other text, of 11 characters',
      ],
      ['--set server.prt', undefined, '', 'is no setting; did you mean server.port?'],
      ['--set server.host', undefined, '', 'needs a value, as in --set server.host=VALUE'],
      [
        '--set redis',
        undefined,
        '',
        'may hold a secret, and everyone who lists the processes reads what stands in a command line; write it in the file, or set POSTERN_REDIS',
      ],
      ['--set models[0].id', undefined, '', 'is no setting; a list is set as a whole'],
      ...(['server.host', 'models', 'store'] as const).map((name): [string, undefined, string, string] => [
        `--set ${name}`,
        undefined,
        '',
        `may hold a secret, and everyone who lists the processes reads what stands in a command line; write it in the file, or set POSTERN_${name.replace('.', '_').toUpperCase()}`,
      ]),
      [
        'POSTERN_SERVER_TIMEOUTS_KEEPALIVE',
        undefined,
        '',
        'is no setting, and the configuration refers to no such variable; did you mean POSTERN_SERVER_TIMEOUTS_KEEP_ALIVE?',
      ],
      [
        'POSTERN_NONSENSE_ALTOGETHER',
        undefined,
        '',
        'is no setting, and the configuration refers to no such variable; take it out of the environment',
      ],
    ],
  );
});

test('variables for substitution, other programs and Kubernetes service links are not treated as settings', async (t) => {
  const env = {
    POSTERN_MY_KEY: secret,
    POSTERN_KEY: secret,
    POSTERN_DIRECT: 'off',
    POSTERN_WARM_UP: 'off',
    POSTERN_REDIS: '',
    POSTERN_PORT: 'tcp://10.0.0.1:4000',
    POSTERN_PORT_4000_TCP: 'tcp://10.0.0.1:4000',
    POSTERN_PORT_4000_TCP_ADDR: '10.0.0.1',
    POSTERN_SERVICE_HOST: '10.0.0.1',
    POSTERN_SERVICE_PORT_HTTP: '4000',
    POSTERN_CONSOLE_PORT: 'tcp://10.0.0.2:4001',
  };
  const { snapshot } = await loaded(t, { text: `${file}keys: [{ id: dev, secret: "\${POSTERN_MY_KEY}" }]\n`, env });
  assert.deepEqual([snapshot.console.port, snapshot.redis, snapshot.keys.size], [4001, undefined, 1]);
});

test('$ and braces in a setting from the environment are not substituted', async (t) => {
  const env = { POSTERN_STORE: `postgres://u:pa$\${x}@h/db` };
  assert.equal((await loaded(t, { env })).snapshot.store, `postgres://u:pa$\${x}@h/db`);
});
