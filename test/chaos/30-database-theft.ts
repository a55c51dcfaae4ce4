/** Promise 30: a stolen database contains no usable key or credential: only digests of random secrets, and encrypted texts. */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecret } from '../../src/lib/secrets/key-secret.ts';
import { request } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { createCommandLine } from './support/command-line.ts';
import { createViolations, none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';
import { Breath, Canaries, type Trace } from './support/secrets/canaries.ts';
import { openByHand, sealedForm, toForgeries } from './support/secrets/forgeries.ts';
import { readJournals } from './support/secrets/remains.ts';
import { inEachStore, type StoreLocation } from './support/secrets/store-locations.ts';

interface Size {
  readonly keys: number;
  readonly upstreams: number;
  /** Secrets made only to be looked at. */
  readonly samples: number;
  /** Gateways that are started on a database that somebody changed. */
  readonly starts: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { keys: 12, upstreams: 12, samples: 20_000, starts: Number.POSITIVE_INFINITY },
  short: { keys: 3, upstreams: 2, samples: 2_000, starts: 1 },
};

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const hintCharacters = 8;

export default definePromise({
  no: 30,
  title: 'an attacker has a copy of the database',
  async run(rig) {
    const directory = await mkdtemp(join(tmpdir(), 'postern-theft-'));
    rig.t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
    const found = await inEachStore(rig.t, { file: join(directory, 'postern.db') }, (location) =>
      rob(rig, directory, location),
    );
    return [judgeChance(sizes[rig.scale].samples), ...found];
  },
});

/** What a used gateway leaves, and what is known of it here. */
interface Loot {
  readonly location: StoreLocation;
  readonly directory: string;
  readonly configFile: string;
  readonly sealingKey: string;
  readonly secrets: { readonly current: string[]; readonly former: string[]; readonly first: string };
  /** By the place that they are sealed for. */
  readonly credentials: ReadonlyMap<string, string>;
}

async function rob(rig: ChaosRig, root: string, location: StoreLocation): Promise<Figure[]> {
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  const upstream = await startFakeUpstream((_, reply) => reply.json(200, { usage }));
  rig.t.after(() => upstream.close());
  const directory = await mkdtemp(join(root, `${location.name}-`));
  const sealingKey = randomBytes(32).toString('hex');
  const configFile = join(directory, 'postern.json');
  const config = {
    server: { port: 0 },
    console: { port: 0 },
    // So that POSTERN_KEY makes the first one.
    keys: [],
    store: location.url,
    ledger: { journal: join(directory, 'journal') },
  };
  await writeFile(configFile, JSON.stringify(config));
  const loot: Loot = {
    ...{ location, directory, configFile, sealingKey },
    secrets: { current: [], former: [], first: createSecret() },
    credentials: new Map(),
  };
  rig.progress(`${location.name}: a gateway is used`);
  const traces = await use(rig, loot, config, upstream);
  rig.progress(`${location.name}: the loot is searched`);
  return [
    ...(await judgeKeys(loot, traces)),
    ...(await judgeSeals(loot, traces)),
    ...(await judgeForgeries(rig, loot, upstream)),
  ];
}

/** Makes keys and credentials of every kind, uses them, and takes everything. */
async function use(
  rig: ChaosRig,
  loot: Loot,
  config: Readonly<Record<string, unknown>>,
  upstream: FakeUpstream,
): Promise<{ readonly database: Trace[]; readonly beside: Trace[] }> {
  const { keys, upstreams } = sizes[rig.scale];
  const { directory, configFile, sealingKey, secrets, location } = loot;
  const env = { POSTERN_SECRET_KEY: sealingKey, POSTERN_KEY: secrets.first };
  const postern = createCommandLine({ cwd: directory, env });
  const must = async (...args: string[]): Promise<string> => {
    const { code, output, errors } = await postern(...args, '--config', configFile);
    if (code !== 0) throw new Error(`postern ${args.join(' ')}: ${errors}`);
    return output;
  };
  const resources = join(directory, 'resources.json');
  await writeFile(resources, JSON.stringify(toResources(loot, upstreams, upstream.url)));
  await must('resources', 'apply', resources);

  const gateway = await startGatewayProcess({ config, env });
  rig.t.after(() => gateway.stop());
  for (let number = 0; number < keys; number += 1) {
    const made: { id: string; secret: string } = JSON.parse(
      await must('keys', 'create', '--name', `key ${number}`, '--json'),
    );
    if (number % 3 === 0) secrets.current.push(made.secret);
    else {
      secrets.former.push(made.secret);
      const next: { secret: string } = JSON.parse(await must('keys', 'rotate', made.id, '--json'));
      secrets.current.push(next.secret);
    }
    if (number % 3 === 2) await must('keys', 'revoke', made.id);
  }
  for (const secret of [secrets.first, ...secrets.current, ...secrets.former]) {
    for (let number = 0; number < upstreams; number += 1) await ask(gateway, secret, `m${number}`);
  }
  const sent = upstream.requests.map(({ rawHead }) => rawHead.toString()).join('');
  const unused = [...loot.credentials.values()].filter((credential) => !sent.includes(credential));
  if (unused.length > 0) throw new Error(`${unused.length} credentials were never sent, and so never opened`);
  await until(async () => (await readMetric(gateway, 'postern_journal_bytes')) === 0, { everyMs: 50 });
  const database = await location.steal();
  const beside = [
    ...readJournals(join(directory, 'journal')),
    { location: 'log', bytes: Buffer.from(gateway.stdout() + gateway.stderr()) },
  ];
  await gateway.stop();
  return { database, beside };
}

/** Each has a secret in every field that can hold one. */
function toResources({ credentials, location }: Loot, count: number, url: string) {
  const seal = (id: string, path: string, text: string): string => {
    (credentials as Map<string, string>).set(`upstream/${id}/${path}`, text);
    return text;
  };
  const token = (what: string): string => `${what}-${randomBytes(18).toString('hex')}`;
  const all = Array.from({ length: count }, (_, number) => {
    const id = `${location.name}-${number}`;
    return {
      ...{ id, family: 'openai', base_url: url },
      api_key: seal(id, 'api_key', token('key')),
      headers: {
        'x-team': seal(id, 'headers.x-team', token('team')),
        'x-other': seal(id, 'headers.x-other', token('other')),
      },
      health_check: { path: seal(id, 'health_check.path', `/health?token=${token('health')}`), interval: '100ms' },
    };
  });
  const models = all.map(({ id }, number) => ({
    id: `m${number}`,
    operations: ['embeddings'],
    targets: [{ upstream: id }],
  }));
  return { upstreams: all, models };
}

function ask(gateway: GatewayProcess, secret: string, model: string) {
  const headers = [['Authorization', `Bearer ${secret}`]] as const;
  return request({ port: gateway.port, path: '/v1/embeddings', headers, body: { model, input: 'x' } });
}

/** Every bit of a key is chance: none of them leans to one side by more than six times what chance itself does. */
function judgeChance(samples: number): Figure {
  const violations = createViolations('secrets of keys that are anything but 256 bits of chance');
  const ones = new Array<number>(256).fill(0);
  const known = new Set<string>();
  for (let sample = 0; sample < samples; sample += 1) {
    const secret = createSecret();
    let bits = 0n;
    for (const character of secret.slice('pst_'.length, -6)) bits = bits * 62n + BigInt(alphabet.indexOf(character));
    if (!/^pst_[0-9A-Za-z]{49}$/.test(secret) || bits >= 2n ** 256n)
      violations.add(`a form of its own: ${secret.length}`);
    if (known.has(secret)) violations.add('one that was there before');
    known.add(secret);
    for (let bit = 0; bit < 256; bit += 1) if (((bits >> BigInt(bit)) & 1n) === 1n) ones[bit] = (ones[bit] ?? 0) + 1;
  }
  const tolerance = 6 * Math.sqrt(samples / 4);
  for (const [bit, count] of ones.entries()) {
    if (Math.abs(count - samples / 2) > tolerance) violations.add(`bit ${bit} is set in ${count} of ${samples}`);
  }
  return violations.outOf(samples);
}

interface Traces {
  readonly database: readonly Trace[];
  readonly beside: readonly Trace[];
}

async function judgeKeys({ location, secrets, sealingKey }: Loot, { database, beside }: Traces): Promise<Figure[]> {
  const all = [secrets.first, ...secrets.current, ...secrets.former];
  const rows = await location.run('select * from keys');
  const missing: string[] = [];
  const misplaced: string[] = [];
  for (const [index, secret] of all.entries()) {
    const digest = createHash('sha256').update(secret).digest('hex');
    const column = secrets.former.includes(secret) ? 'old_digest' : 'digest';
    if (rows.filter((row) => row[column] === digest).length !== 1) missing.push(`secret ${index} is not in ${column}`);
    for (const row of rows) {
      for (const [name, value] of Object.entries(row)) {
        if (String(value).includes(digest) && name !== column) misplaced.push(`secret ${index} in ${name}`);
      }
    }
  }
  const canaries = new Canaries(randomBytes(12).toString('hex'));
  for (const secret of all) {
    // The hint shows the first eight characters, and more of it than that is nowhere.
    const part = secret.slice(hintCharacters, -6);
    canaries.add('a key', secret, { part, digests: false });
    canaries.add('the end of a key', secret, { part: secret.slice(-20), digests: false });
  }
  const derived: string[] = [];
  const breath = new Breath();
  for (const secret of all) {
    for (const [name, text] of derivationsOf(secret, sealingKey)) {
      await breath.take();
      if (database.some(({ bytes }) => bytes.includes(text))) derived.push(`a key as ${name}`);
    }
  }
  const digests = all.map((secret) => createHash('sha256').update(secret).digest('hex'));
  const outside = beside.filter(({ bytes }) => digests.some((digest) => bytes.includes(digest)));
  return [
    none(
      'keys that are not there by their SHA-256, in its one column',
      [...missing, ...misplaced],
      `${all.length} secrets`,
    ),
    none('traces of keys in the database beyond that: text, or any other digest', [
      ...(await canaries.find(database)),
      ...derived,
    ]),
    none('traces of keys in journal and log, their SHA-256 included', [
      ...(await canaries.find(beside)),
      ...outside.map((trace) => trace.location),
    ]),
  ];
}

/** What a careless hand would have stored as well. */
function derivationsOf(secret: string, sealingKey: string): [string, string | Buffer][] {
  const body = secret.slice('pst_'.length, -6);
  const texts = [secret, body, secret.slice(0, -6), `Bearer ${secret}`];
  const digests = texts.flatMap((text, index) =>
    ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256', 'blake2b512'].flatMap(
      (algorithm): [string, Buffer][] =>
        algorithm === 'sha256' && index === 0 ? [] : [[algorithm, createHash(algorithm).update(text).digest()]],
    ),
  );
  const sha256 = createHash('sha256').update(secret).digest();
  const more: [string, Buffer][] = [
    ['sha256 of sha256', createHash('sha256').update(sha256).digest()],
    ['sha256 of its hex', createHash('sha256').update(sha256.toString('hex')).digest()],
    ...['', 'postern', sealingKey].map((key): [string, Buffer] => [
      'hmac',
      createHmac('sha256', key).update(secret).digest(),
    ]),
  ];
  return [...digests, ...more].flatMap(([name, digest]): [string, string | Buffer][] => [
    [name, digest],
    [`${name} in hex`, digest.toString('hex')],
    [`${name} in base64`, digest.toString('base64').slice(0, 22)],
    [`${name} in base64url`, digest.toString('base64url').slice(0, 22)],
  ]);
}

async function judgeSeals(
  { location, credentials, sealingKey }: Loot,
  { database, beside }: Traces,
): Promise<Figure[]> {
  const wrong: string[] = [];
  const nonces = new Set<string>();
  const key = Buffer.from(sealingKey, 'hex');
  let sealed = 0;
  for (const { kind, id, document } of await location.run(
    "select kind, id, document from resources where kind = 'upstream'",
  )) {
    for (const [path, text] of textsOf(JSON.parse(String(document)))) {
      const [, , nonce = '', body = ''] = new RegExp(`^${sealedForm.source}$`).exec(text) ?? [];
      if (nonce === '') continue;
      sealed += 1;
      if (nonces.has(nonce)) wrong.push(`${id} ${path}: a nonce that was used before`);
      nonces.add(nonce);
      const at = `${kind}/${id}/${path}`;
      if (openByHand(key, nonce, body, at) !== credentials.get(at))
        wrong.push(`${at}: does not open to what was sealed`);
      if (openByHand(randomBytes(32), nonce, body, at) !== undefined) wrong.push(`${at}: opens under another key`);
      if (openByHand(key, nonce, body, `${at}x`) !== undefined)
        wrong.push(`${at}: can be decrypted at another location`);
    }
  }
  if (sealed !== credentials.size) wrong.push(`${sealed} sealed texts for ${credentials.size} credentials`);
  const canaries = new Canaries(randomBytes(12).toString('hex'));
  for (const credential of credentials.values()) canaries.add('a credential', credential);
  const keys = new Canaries(randomBytes(12).toString('hex'));
  keys.add('the sealing key', sealingKey, { digests: false });
  keys.add('the sealing key in base64', key.toString('base64').slice(0, 42), { digests: false });
  const raw = [...database, ...beside].filter(({ bytes }) => bytes.includes(key.subarray(0, 16)));
  return [
    none('sealed credentials that are not AES-256-GCM under the key, for their own place', wrong, `${sealed} of them`),
    none(
      'credentials in the open, or as a digest, in database, journal and log',
      await canaries.find([...database, ...beside]),
    ),
    none('traces of the sealing key in database, journal and log', [
      ...(await keys.find([...database, ...beside])),
      ...raw.map((trace) => `its bytes in ${trace.location}`),
    ]),
  ];
}

function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, path === '' ? name : `${path}.${name}`));
}

async function judgeForgeries(rig: ChaosRig, loot: Loot, upstream: FakeUpstream): Promise<Figure[]> {
  const { location, directory, configFile, sealingKey } = loot;
  const accepted: string[] = [];
  const silent: string[] = [];
  const [first, second] = await location.run("select id, document from resources where kind = 'upstream' order by id");
  const documents = [String(first?.document), String(second?.document)] as const;
  const ids = [String(first?.id), String(second?.id)] as const;
  const put = async (pair: readonly [string, string]): Promise<void> => {
    for (const index of [0, 1] as const)
      await location.run("update resources set document = $1 where kind = 'upstream' and id = $2", [
        pair[index],
        ids[index],
      ]);
  };
  let starts = 0;
  const forgeries = toForgeries(sealingKey);
  for (const { name, env, change, expected } of forgeries) {
    rig.progress(`${location.name}: ${name}`);
    if (change !== undefined) await put(change(...documents));
    const asked = upstream.requests.length;
    const { code, errors } = await createCommandLine({ cwd: directory, env })('models', '--config', configFile);
    if (code !== 1) accepted.push(`${name}: "models" ended with ${code}`);
    if (!expected.test(errors)) silent.push(`${name}: ${errors.slice(0, 200)}`);
    if (starts < sizes[rig.scale].starts) {
      starts += 1;
      const run = await runPostern(['serve', '--config', configFile], { cwd: directory, env });
      if (run.code !== 1) accepted.push(`${name}: a start ended with ${run.code}`);
      if (!expected.test(run.stderr)) silent.push(`${name}, at the start: ${run.stderr.slice(0, 200)}`);
    }
    if (upstream.requests.length !== asked) accepted.push(`${name}: the upstream was asked`);
    await put(documents);
  }
  const { code } = await createCommandLine({ cwd: directory, env: { POSTERN_SECRET_KEY: sealingKey } })(
    ...['models', '--config', configFile],
  );
  if (code !== 0) accepted.push('and as it was it is refused as well, so that nothing of this was tested');
  return [
    none('forgeries that open: another key, a text moved, changed or cut', accepted, `${forgeries.length} tried`),
    none('of these refused without a sentence that says why', silent),
  ];
}
