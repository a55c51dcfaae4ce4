/** A new configuration while running: whole or not at all, and no request notices the change. */

import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startClosedLoop } from '../support/clients/closed-loop.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type RawResponse, request, toRequestBytes } from '../support/clients/raw-client.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const key = 'the-first-key-with-enough-characters';
const otherKey = 'the-other-key-with-enough-characters';

async function startUpstream(t: TestContext): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { ok: true }));
  t.after(() => upstream.close());
  return upstream;
}

interface Wanted {
  readonly models?: readonly string[];
  readonly keys?: readonly string[];
  readonly server?: readonly string[];
  readonly credential?: string;
}

function toYaml(
  { url }: FakeUpstream,
  { models = ['m'], keys = [key], server = ['port: 0'], credential = 'api_key: sk-upstream-key' }: Wanted = {},
): string {
  return [
    'store: sqlite:postern.db',
    'server:',
    ...server.map((line) => `  ${line}`),
    'upstreams:',
    `  - { id: up, family: openai, base_url: "${url}", ${credential} }`,
    'models:',
    ...models.map((id) => `  - { id: ${id}, operations: [embeddings], targets: [{ upstream: up }] }`),
    'keys:',
    ...keys.map((secret, index) => `  - { id: key-${index}, secret: ${secret} }`),
    '',
  ].join('\n');
}

/** In one step, as careful tools write files. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text);
  await rename(`${path}.next`, path);
}

const isReload = ({ msg }: Record<string, unknown>): boolean =>
  typeof msg === 'string' && /^configuration (not )?reloaded/.test(msg);

/** Writes a configuration and returns the gateway's log line about it; another reload may come in between. */
async function change(
  gateway: GatewayProcess,
  put: () => Promise<void>,
  ...expected: readonly RegExp[]
): Promise<Record<string, unknown>> {
  const said = gateway.log().filter(isReload).length;
  await put();
  const deadlineMs = performance.now() + patientMs(2_500);
  while (performance.now() < deadlineMs) {
    const lines = gateway.log().filter(isReload).slice(said);
    const line = lines.find((one) => expected.every((text) => text.test(JSON.stringify(one))));
    if (line !== undefined) return line;
    await wait(10);
  }
  throw new Error(`no ${expected.join(' and ')} in time; the log ends: ${gateway.stdout().slice(-1000)}`);
}

/** A log line that names just these settings. */
const named = (settings: readonly string[]): RegExp =>
  new RegExp(`"settings":\\[${settings.map((name) => `"${name}"`).join(',')}\\]`);

const reloaded = /"configuration reloaded"/;
const refused = /"configuration not reloaded[:"]/;

function embed(gateway: GatewayProcess, model: string, secret = key): Promise<RawResponse> {
  return request({
    port: gateway.port,
    path: '/v1/embeddings',
    headers: [['x-api-key', secret]],
    body: { model, input: 'x' },
  });
}

/** Each is one fault in an otherwise good file. */
const faults: readonly {
  readonly path: string;
  readonly message: RegExp;
  /** The line of the good file that is at fault. */
  readonly at: RegExp;
  spoil(good: string): string;
}[] = [
  {
    path: 'modles',
    message: /did you mean models/,
    at: /^models/,
    spoil: (good) => good.replace('models:', 'modles:'),
  },
  {
    path: 'models[0].targets[0].upstream',
    message: /unknown upstream .*nowhere/,
    at: /id: m,/,
    spoil: (good) => good.replace('upstream: up }', 'upstream: nowhere }'),
  },
  { path: '', message: /is not closed/, at: /upstreams/, spoil: (good) => good.replace('port: 0', 'port: [0') },
  { path: 'keys[0].secret', message: /at least 24/, at: /id: key-0/, spoil: (good) => good.replace(key, 'short') },
  {
    path: 'server.port',
    message: /0 to 65535/,
    at: /port: 0/,
    spoil: (good) => good.replace('port: 0', 'port: 99999'),
  },
];

describe('reloading', { concurrency: 2 }, () => {
  test('20 reloads on SIGHUP under load fail no request, and an invalid file changes nothing', async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGatewayProcess({ config: toYaml(upstream) });
    t.after(() => gateway.stop());
    const load = startClosedLoop(
      gateway.port,
      8,
      toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', key]], body: { model: 'm', input: 'x' } }),
    );

    let inForce = 'm';
    for (let round = 0; round < 20; round += 1) {
      const name = `model-${round}`;
      const good = toYaml(upstream, { models: ['m', name] });
      const fault = round % 4 === 3 ? faults[(round - 3) / 4] : undefined;
      const put = async (): Promise<void> => {
        await replaceFile(gateway.configFile, fault === undefined ? good : fault.spoil(good));
        gateway.signal('SIGHUP');
      };
      if (fault === undefined) {
        const nameOfOld = inForce;
        await put();
        while ((await embed(gateway, name)).status !== 200) await wait(10);
        inForce = name;
        if (nameOfOld !== 'm') assertError(await embed(gateway, nameOfOld), 'model_not_found', { param: 'model' });
      } else {
        const said = await change(gateway, put, refused, fault.message);
        const [first] = said.faults as { path: string; line: number }[];
        assert.equal(first?.path, fault.path);
        assert.equal(first?.line, good.split('\n').findIndex((line) => fault.at.test(line)) + 1);
        assertError(await embed(gateway, name), 'model_not_found', { param: 'model' });
        assert.equal((await embed(gateway, inForce)).status, 200);
      }
    }
    await load.stop();
    assert.deepEqual(load.failures, []);
    assert.ok(load.answered > 100, `${load.answered} requests`);
    t.diagnostic(`${load.answered} requests during 20 reloads`);
  });

  test('a changed file is noticed without a signal, with its keys; a deleted file changes nothing', async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGatewayProcess({ config: toYaml(upstream) });
    t.after(() => gateway.stop());
    assertError(await embed(gateway, 'm', otherKey), 'invalid_api_key');

    const next = toYaml(upstream, { keys: [otherKey], models: ['n'] });
    await change(gateway, () => replaceFile(gateway.configFile, next), reloaded);
    assert.equal((await embed(gateway, 'n', otherKey)).status, 200);
    assertError(await embed(gateway, 'n', key), 'invalid_api_key');
    assertError(await embed(gateway, 'm', otherKey), 'model_not_found', { param: 'model' });

    await change(gateway, () => rm(gateway.configFile), refused, /no such file/);
    assert.equal((await embed(gateway, 'n', otherKey)).status, 200);

    await change(gateway, () => writeFile(gateway.configFile, toYaml(upstream)), reloaded);
    assert.equal((await embed(gateway, 'm')).status, 200);
    assert.equal(gateway.stderr(), '');
  });

  test('a changed setting that needs a restart is refused by name, and nothing of the file is applied', async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGatewayProcess({ config: toYaml(upstream) });
    t.after(() => gateway.stop());
    const rows: [text: string, settings: string[]][] = [
      [toYaml(upstream, { server: [`port: ${gateway.port + 1}`], models: ['m', 'n'] }), ['server.port']],
      [toYaml(upstream, { server: ['port: 0', 'host: 0.0.0.0'], models: ['m', 'n'] }), ['server.host']],
      [toYaml(upstream, { models: ['m', 'n'] }).replace('postern.db', 'other.db'), ['store']],
      [
        toYaml(upstream, { server: ['port: 1', 'max_header_size: 8KiB'], models: ['m', 'n'] }),
        ['server.port', 'server.max_header_size'],
      ],
    ];
    for (const [text, settings] of rows) {
      const put = async (): Promise<void> => {
        await replaceFile(gateway.configFile, text);
        gateway.signal('SIGHUP');
      };
      const said = await change(gateway, put, refused, named(settings));
      assert.equal(said.msg, 'configuration not reloaded: restart required');
      assertError(await embed(gateway, 'n'), 'model_not_found', { param: 'model' });
      assert.equal((await embed(gateway, 'm')).status, 200);
    }
  });

  test('listener settings such as limits and CORS change while running', async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGatewayProcess({ config: toYaml(upstream) });
    t.after(() => gateway.stop());
    assert.ok((await embed(gateway, 'm')).header('x-postern-upstream'));
    const server = ['port: 0', 'base_path: /ai', 'body_limit: 1KiB', 'diagnostics: false'];
    await change(gateway, () => replaceFile(gateway.configFile, toYaml(upstream, { server })), reloaded);
    assertError(await embed(gateway, 'm'), 'route_not_found');
    const post = (input: string): Promise<RawResponse> =>
      request({
        port: gateway.port,
        path: '/ai/v1/embeddings',
        headers: [['x-api-key', key]],
        body: { model: 'm', input },
      });
    const answer = await post('x');
    assert.deepEqual([answer.status, answer.header('x-postern-upstream')], [200, undefined]);
    assertError(await post('x'.repeat(2000)), 'body_too_large');
  });

  test('a new credential in api_key_file applies from then on, and every call has the old or the new one', async (t) => {
    const upstream = await startUpstream(t);
    const directory = await createDirectory(t, { 'credential.txt': 'sk-upstream-old\n' });
    const file = join(directory, 'credential.txt');
    const gateway = await startGatewayProcess({ config: toYaml(upstream, { credential: `api_key_file: "${file}"` }) });
    t.after(() => gateway.stop());
    assert.equal((await embed(gateway, 'm')).status, 200);
    await change(gateway, () => replaceFile(file, '  sk-upstream-new  \n'), reloaded);
    assert.equal((await embed(gateway, 'm')).status, 200);
    // An empty file is a fault; what was in force stays so.
    await change(gateway, () => replaceFile(file, '\n'), refused, /api_key_file.*file is empty/);
    assert.equal((await embed(gateway, 'm')).status, 200);
    assert.deepEqual(
      upstream.requests.map((entry) => entry.header('authorization')),
      ['Bearer sk-upstream-old', 'Bearer sk-upstream-new', 'Bearer sk-upstream-new'],
    );
    assert.doesNotMatch(gateway.stdout() + gateway.stderr(), /sk-upstream/);
  });

  test('a gateway started without a file loads the one that postern init writes, and follows it', async (t) => {
    const env = { POSTERN_KEY: key, MISTRAL_API_KEY: 'a-key-of-the-provider' };
    const args = ['--set', 'server.port=0', '--set', 'console.port=0'];
    const gateway = await startGatewayProcess({ config: {}, args, env });
    t.after(() => gateway.stop());
    const { directory: cwd } = gateway;
    const models = async () => {
      const answer = await request({ port: gateway.port, path: '/v1/models', headers: [['x-api-key', key]] });
      return (answer.json() as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    assert.ok((await models()).includes('local/echo'));

    const run = await runPostern(['init'], { cwd, env });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /A gateway that runs here without a file loads it/);
    await until(() => gateway.log().some(isReload));
    assert.ok((await models()).includes('mistral-embed'));
    assert.ok(!(await models()).includes('local/echo'));

    // From now on it is its file: that it is gone is a fault, and no way back to the built-in models.
    await rm(join(cwd, 'postern.yaml'));
    await until(() => gateway.log().filter(isReload).length >= 2);
    assert.equal(gateway.log().filter(isReload).at(-1)?.msg?.toString().startsWith('configuration not reloaded'), true);
    assert.ok((await models()).includes('mistral-embed'));
  });
});
