/** Promise 29: known secrets and texts, placed everywhere they can be, appear nowhere else in any encoding. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startOwnRedis } from '../support/servers/redis.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { createCommandLine } from './support/command-line.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import { readMetric, readMetrics } from './support/readings/metric.ts';
import { Canaries, type Trace } from './support/secrets/canaries.ts';
import {
  breakConfiguration,
  breakSurroundings,
  type Found,
  type Marks,
  reload,
  type Size,
  type Story,
} from './support/secrets/canary-faults.ts';
import { type Scene, setScene } from './support/secrets/canary-scene.ts';
import { createAnswers, leaveOpen, sendTraffic, type Traffic } from './support/secrets/canary-traffic.ts';
import { readJournals, readRedis } from './support/secrets/remains.ts';
import { inEachStore, type StoreLocation } from './support/secrets/store-locations.ts';

const sizes: Readonly<Record<Scale, Size>> = {
  long: {
    models: ['m-up', 'm-env', 'm-filed', 'm-pool', 'm-stored', 'm-stored-pool', 'm-down', 'm-mutual'],
    faults: Number.POSITIVE_INFINITY,
    starts: 8,
  },
  short: { models: ['m-up', 'm-stored'], faults: 6, starts: 0 },
};

export default definePromise({
  no: 29,
  title: 'canary secrets in every header, key and body',
  async run(rig) {
    const { t, seed } = rig;
    const directory = await mkdtemp(join(tmpdir(), 'postern-canaries-'));
    t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
    const random = createRandom(seed);
    const mark = (kind: string): string =>
      kind +
      Array.from({ length: 19 }, () => 'BCDFGHJKMNPQRSTVWXZbcdfghjkmnpqrstvwxz23456789'.charAt(random() * 46)).join('');
    const createMarks = (): Marks => ({
      secrets: new Canaries(mark('Q')),
      texts: new Canaries(mark('T'), { isDigested: false }),
      planted: new Canaries(mark('P')),
    });
    const passwords = createMarks();
    const user = { name: 'canary', password: passwords.secrets.make('store-password', "/+='") };
    return inEachStore(t, { file: join(directory, 'postern.db'), user }, (location) =>
      watch(rig, directory, location, location.name === 'PostgreSQL' ? passwords : createMarks(), createRandom(seed)),
    );
  },
});

async function watch(
  rig: ChaosRig,
  root: string,
  location: StoreLocation,
  marks: Marks,
  random: () => number,
): Promise<Figure[]> {
  const { secrets, texts, planted } = marks;
  const directory = await mkdtemp(join(root, `${location.name}-`));
  const upstream = await startFakeUpstream(createAnswers(texts));
  rig.t.after(() => upstream.close());
  const hook = await startFakeUpstream((_, reply) => reply.json(400, { error: texts.make('hook-answer') }));
  rig.t.after(() => hook.close());
  const redisPassword = secrets.make('redis-password', '/+=');
  const redis = await startOwnRedis(rig.t, { args: ['--requirepass', redisPassword] });
  const redisUrl = `redis://:${encodeURIComponent(redisPassword)}@127.0.0.1:${redis?.port ?? 1}`;
  const scene = await setScene({
    ...{ directory, storeUrl: location.url, redisUrl, secrets },
    ...{ upstreamUrl: upstream.url, hookUrl: hook.url },
  });
  await writeFile(scene.configFile, JSON.stringify(scene.config));
  const found: Found = { logs: [], commands: [], answers: [], stores: [] };
  const runner = new Runner(scene, found.commands);
  const run = (...args: string[]): Promise<string> => runner.run(...args);
  const story: Story = { rig, size: sizes[rig.scale], location, scene, marks, random, found, run, redis, redisUrl };

  const { traffic, keys } = await live(story);
  rig.progress(`${location.name}: everything is searched`);
  const sent = upstream.requests.map(({ rawHead, path }) => path + rawHead.toString()).join('');
  const unused = sizes[rig.scale].models.length > 2 ? scene.credentials.filter((one) => !sent.includes(one)) : [];
  const received = countHits(upstream, texts.mark);
  const outside = [...found.logs, ...found.commands, ...found.stores];
  const bytes = [...outside, ...found.answers].reduce((sum, trace) => sum + trace.bytes.length, 0);
  const statuses = [...traffic.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
  return [
    {
      name: 'canaries, and what was searched for them',
      bar: 'some of each',
      measured: `${secrets.count + planted.count} secrets, ${texts.count} texts; ${Math.round(bytes / 1024)} KiB; ${statuses.join(', ')}`,
      met: received > 0 && traffic.statuses.size > 8,
      broken: received === 0 || traffic.statuses.size <= 8,
    },
    none('credentials that were never used, and webhooks that were never called', [
      ...unused,
      ...(hook.requests.length === 0 ? ['the webhook'] : []),
    ]),
    none('secrets in logs', await secrets.find(found.logs)),
    none('secrets in what commands say', await secrets.find(found.commands)),
    none('secrets in answers to clients, and in metrics', await secrets.find(found.answers)),
    none('secrets in database, journal and Redis', await secrets.find(found.stores)),
    none(
      'secrets that others put into the store, in logs and in what commands say',
      await planted.find([...found.logs, ...found.commands]),
    ),
    none(
      'texts of clients and upstreams in logs, commands, metrics, database, journal and Redis',
      await texts.find(outside),
    ),
    none("texts of clients and upstreams in the gateway's own answers", await texts.find(found.answers)),
    none('commands that failed by our fault', runner.faults, `${runner.count} run`),
    none('keys without a row in the ledger', keys),
  ];
}

/** Runs commands in the scene, and keeps what they say; a secret that is shown once, by design, is left out. */
class Runner {
  count = 0;
  readonly faults: string[] = [];
  readonly #scene: Scene;
  readonly #said: Trace[];

  constructor(scene: Scene, said: Trace[]) {
    this.#scene = scene;
    this.#said = said;
  }

  async run(...args: string[]): Promise<string> {
    const { directory, env, configFile } = this.#scene;
    const config = args.includes('--config') ? [] : ['--config', configFile];
    const { code, output, errors } = await createCommandLine({ cwd: directory, env })(...args, ...config);
    this.count += 1;
    if (code === 2) this.faults.push(`${args.join(' ')}: ${errors}`);
    const said = output.replaceAll(/pst_[0-9A-Za-z]{49}/g, '(shown once)') + errors;
    this.#said.push({ location: `postern ${args[0]} ${args[1] ?? ''}`, bytes: Buffer.from(said) });
    return output;
  }
}

/** From the first start to the last end. */
async function live(story: Story): Promise<{ readonly traffic: Traffic; readonly keys: string[] }> {
  const { rig, location, scene, marks, found, run, redisUrl, redis } = story;
  const { models } = sizes[rig.scale];
  const report = (what: string): void => rig.progress(`${location.name}: ${what}`);
  await writeFile(join(scene.directory, 'resources.json'), JSON.stringify(scene.resources));
  await run('resources', 'apply', join(scene.directory, 'resources.json'));

  report('the first start');
  const gateway = await startGatewayProcess({ config: scene.beginning, env: scene.env });
  rig.t.after(() => gateway.stop());
  await reload(gateway, JSON.stringify(scene.config), 'configuration reloaded');
  const made = await makeKeys(story);

  report('requests of every kind');
  const keys = [scene.fileKey, scene.firstKey, ...made];
  const traffic = await sendTraffic({ gateway, keys, models, texts: marks.texts, secrets: marks.secrets });
  found.answers.push(...traffic.answers);
  await until(async () => (await readMetric(gateway, 'postern_journal_bytes', '', scene.consoleToken)) === 0, {
    what: 'the journal is in the store',
    everyMs: 30,
  });
  found.answers.push({ location: '/metrics', bytes: Buffer.from(await readMetrics(gateway, scene.consoleToken)) });
  found.answers.push(...(await askAdminListener(gateway, marks.secrets)));
  await runCommands(story);
  if (redis !== undefined) found.stores.push(...(await readRedis(redisUrl)));

  report('what is killed in the middle');
  await leaveOpen(gateway, scene.fileKey, models[0] ?? '', marks.texts);
  found.stores.push(...readJournals(scene.journal));
  gateway.signal('SIGKILL');
  await gateway.exited;
  keepLog(gateway, found);
  const second = await startGatewayProcess({ config: scene.config, env: scene.env });
  rig.t.after(() => second.stop());
  await until(async () => JSON.parse(await run('usage', '--outcome', 'lost', '--json')).total.requests > 0, {
    what: 'the lost rows are in the store',
    everyMs: 30,
  });
  found.stores.push(...(await location.steal()), ...readJournals(scene.journal));
  const rows = await location.run('select distinct key from usage_hours');
  // One of the keys has two secrets.
  const missing = rows.length < keys.length - 1 ? [`only ${rows.map(({ key }) => key).join(', ')}`] : [];

  report('configurations with faults');
  await breakConfiguration(story, second);
  report('a store with faults, and one that is away');
  await breakSurroundings(story, second);
  const exit = await stopAndKeep(second, found);
  if (exit.code !== 0) throw new Error(`the gateway ended with ${JSON.stringify(exit)}: ${second.stderr()}`);
  return { traffic, keys: missing };
}

async function makeKeys({ run, marks }: Story): Promise<string[]> {
  const create = async (...args: string[]): Promise<{ id: string; secret: string }> =>
    JSON.parse(await run('keys', ...args, '--json'));
  const remember = (name: string, secret: string): string =>
    // The hint shows the first eight characters; the database holds the SHA-256.
    marks.secrets.add(name, secret, { part: secret.slice(10), digests: false });
  const plain = await create('create', '--name', 'plain', '--project', 'team', '--metadata', 'team=a');
  const rotated = await create('create', '--name', 'rotated');
  const next = await create('rotate', rotated.id);
  const ended = await create('create', '--name', 'revoked');
  await run('keys', 'revoke', ended.id);
  await run(
    'keys',
    'update',
    plain.id,
    '--name',
    'other',
    '--limit',
    'requests_per_minute=100000',
    '--budget',
    'day=10',
  );
  await run('keys', 'show', plain.id);
  await run('keys', 'show', plain.secret);
  remember('a revoked key', ended.secret);
  return [
    remember('a key', plain.secret),
    remember('a former key', rotated.secret),
    remember('a new key', next.secret),
  ];
}

async function runCommands({ run, scene, location }: Story): Promise<void> {
  const [row] = (await run('ledger', 'tail', '--limit', '1', '--json')).split('\n').map((line) => JSON.parse(line));
  const copy = join(scene.directory, 'copy.db');
  const all = [
    ...[
      ['check'],
      ['check', '--json'],
      ['models'],
      ['models', '--json'],
      ['openapi'],
      ['migrate', '--check'],
      ['migrate'],
    ],
    ...[
      ['keys', 'list'],
      ['keys', 'list', '--json'],
      ['keys', 'show', 'file'],
      ['keys', 'show', 'file', '--json'],
    ],
    ...[
      ['resources', 'list'],
      ['resources', 'list', '--json'],
      ['resources', 'show', 'upstream', 'stored'],
    ],
    ...[
      ['resources', 'show', 'upstream', 'stored', '--json'],
      ['resources', 'show', 'upstream', 'up'],
    ],
    ...[
      ['resources', 'apply', join(scene.directory, 'resources.json'), '--json'],
      ['resources', 'delete', 'upstream', 'stored'],
    ],
    ...[
      ['secrets', 'status'],
      ['secrets', 'status', '--json'],
      ['secrets', 'rotate'],
      ['secrets', 'rotate', '--json'],
    ],
    ...[
      ['usage'],
      ['usage', '--csv', '--by', 'key,model,upstream'],
      ['usage', '--json', '--by', 'key,project,route,outcome'],
    ],
    ...[
      ['ledger', 'tail', '--limit', '1000'],
      ['ledger', 'tail', '--limit', '1000', '--json'],
      ['ledger', 'verify'],
    ],
    ...[
      ['ledger', 'show', row.id],
      ['ledger', 'show', row.id, '--json'],
      ['backup', copy],
    ],
    ...[['init', '--config', join(scene.directory, 'starter.yaml')]],
  ];
  for (const args of all) await run(...args);
  if (location.name === 'SQLite') await run('backup', copy);
}

/** Answers to callers without permission. */
async function askAdminListener(gateway: GatewayProcess, secrets: Canaries): Promise<Trace[]> {
  const base = String(gateway.log().find(({ msg }) => msg === 'listening')?.console);
  const wrong = secrets.make('wrong-console-token');
  const asked = [`/metrics?token=${wrong}`, `/${wrong}`, '/healthz'].map(async (path) => {
    const response = await fetch(base + path, { headers: { authorization: `Bearer ${wrong}` } });
    return { location: `the admin listener ${response.status}`, bytes: Buffer.from(await response.text()) };
  });
  return Promise.all(asked);
}

function keepLog(gateway: GatewayProcess, found: Found): void {
  found.logs.push({ location: 'the log', bytes: Buffer.from(gateway.stdout()) });
  found.logs.push({ location: 'standard error', bytes: Buffer.from(gateway.stderr()) });
}

async function stopAndKeep(gateway: GatewayProcess, found: Found) {
  const exit = await gateway.stop();
  keepLog(gateway, found);
  return exit;
}

const countHits = ({ requests }: FakeUpstream, mark: string): number =>
  requests.filter(({ body }) => body.includes(mark)).length;
