/** Promise 28: addresses entered in the console never reach internal networks, by any name, even if DNS changes. */

import { generateKeyPairSync } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, isIP, type LookupFunction, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { loadConfiguration } from '../../src/config/load.ts';
import type { Snapshot, Upstream } from '../../src/core/snapshot.ts';
import { families } from '../../src/families/index.ts';
import { createAddressRule } from '../../src/lib/addresses/address-rule.ts';
import { isSocketUrl } from '../../src/lib/addresses/socket-origin.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createOwnProbe } from '../../src/upstream/probes/probe.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { toResource } from '../support/stores/memory-resources.ts';
import { definePromise, type Figure } from './promise.ts';
import { askSocket, socketSpellings, startHidden } from './support/hostile/hidden-socket.ts';
import { inwardAddress, inwardHost } from './support/hostile/inward-addresses.ts';
import type { Random } from './support/hostile/request-draft.ts';
import { createRandom } from './support/random.ts';
import { createViolations, none } from './support/readings/findings.ts';

const counts = { long: 4_000, short: 300 } as const;
/** Upstreams in a configuration at a time. */
const batch = 100;
const standard = createAddressRule();

interface Found {
  readonly address: string;
  readonly family: number;
}

export default definePromise({
  no: 28,
  title: 'upstream addresses entered in the console that lead to internal services',
  async run({ t, scale, seed, progress }) {
    const random = createRandom(seed);
    const names = fakeNames(t);
    const attempts = watchSockets(t);
    const victim = await startVictim(t);
    const friend = await startFriend(t, victim.port);
    const rig = await startRig(t, {});
    const base = await rig.compile({});
    const count = counts[scale];

    const wrong = createViolations('answers other than 502 upstream_unreachable that name nothing inside');
    const untold = createViolations('refusals whose cause in the log is not "address not allowed"');
    const again = createViolations('addresses that were looked at again for the same call');
    let asked = 0;
    async function attack(what: string, snapshot: Snapshot, ids: readonly string[]): Promise<void> {
      swap(rig, base, snapshot);
      for (const id of ids) {
        asked += 1;
        const before = rig.settled.length;
        const answer = await rig.post('/v1/embeddings', { model: id, input: 'x' });
        const { code } = JSON.parse(answer.body.toString()).error;
        if (
          answer.status !== 502 ||
          code !== 'upstream_unreachable' ||
          /allowed|169\.254|\.sock/.test(answer.body.toString())
        ) {
          wrong.add(`${what} ${id}: ${answer.status} ${answer.body}`);
        }
        const exchange = rig.settled[before] ?? (await rig.exchange(before + 1));
        if (!/address not allowed/.test(exchange.errorCause ?? '')) untold.add(`${what} ${id}: ${exchange.errorCause}`);
        if (exchange.tries.length !== 1) again.add(`${what} ${id}: ${exchange.tries.length} tries`);
        progress(`${asked} attacks, ${attempts.inwards().length} connections inwards`);
      }
    }

    // Names that lead inwards.
    for (let done = 0; done < count; done += batch) {
      const ids = Array.from({ length: Math.min(batch, count - done) }, (_, index) => `n${done + index}`);
      for (const id of ids) names.set(`${id}.attack.test`, manyInward(random));
      const hosts = ids.map((id) => [id, `http://${id}.attack.test:${victim.port}`] as const);
      await attack('a name', await compile(hosts), ids);
    }

    // Literal addresses: the configuration refuses them; past it, the connection does.
    const accepted: string[] = [];
    for (let done = 0; done < count; done += batch) {
      const hosts = Array.from({ length: Math.min(batch, count - done) }, () => inwardHost(random));
      const ids = hosts.map((_, index) => `l${done + index}`);
      const urls = hosts.map((host) => `http://${host}:${victim.port}`);
      accepted.push(...(await acceptedOf(urls)));
      const snapshot = await compile(ids.map((id) => [id, `http://${id}.attack.test`] as const));
      await attack('a literal', moved(snapshot, ids, urls), ids);
    }

    // Sockets of the machine, which have no address that could be judged.
    const hidden = await startHidden(t);
    const sockets = await acceptedOf(socketSpellings(hidden.path));
    const socketIds = ['s0', 's1'];
    const behind = await compile(socketIds.map((id) => [id, `http://${id}.attack.test`] as const));
    const urls = socketIds.map(() => hidden.url);
    await attack('a socket', moved(behind, socketIds, urls), socketIds);

    // A name that is good when it is looked at, and leads inwards afterwards.
    const rebound = `http://rebinding.test:${friend.port}`;
    names.set('rebinding.test', [[{ address: '127.0.0.1', family: 4 }], ...manyTurns(random, 20)]);
    swap(rig, base, await compile([['rebinding', rebound]]));
    const first = await rig.post('/v1/embeddings', { model: 'rebinding', input: 'x' });
    const rebinding: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      rebinding.push((await rig.post('/v1/embeddings', { model: 'rebinding', input: 'x' })).status);
    }

    // Redirects, from a service that is allowed.
    const redirected: string[] = [];
    swap(rig, base, await compile([['redirects', `http://127.0.0.1:${friend.port}/redirect`]]));
    for (const status of [301, 302, 303, 307, 308]) {
      friend.redirectWith(status);
      const { status: answered, headers } = await rig.post('/v1/embeddings', { model: 'redirects', input: 'x' });
      if (answered !== 502) redirected.push(`${status}: ${answered}`);
      if (headers.some(([name]) => name.toLowerCase() === 'location')) redirected.push(`${status}: its Location`);
    }

    // Everything else that connects on behalf of such an upstream.
    const beside = await askBeside(t, rig, base, names, random, victim.port, Math.min(count, 200));
    beside.succeeded.push(...(await askSocket(t, moved(behind, socketIds, urls))));

    // The same from the file, which is the operator's: it leads there, so that all of the above could have.
    const inwards = attempts.inwards();
    const strangers = victim.requests();
    const atSocket = hidden.connections();
    const reached = await reachFromFile(t, victim);
    const reachedSocket = await hidden.reachFromFile();
    const noticed = attempts.inwards().length - inwards.length;
    return [
      none(
        `connections begun to an address that is not allowed, of ${asked} calls and ${beside.asked} others`,
        inwards,
      ),
      none('requests that reached a listener inside', strangers),
      wrong.outOf(asked),
      untold.outOf(asked),
      again.outOf(asked),
      none('literal addresses that the configuration accepted', accepted, `of ${count}`),
      none('sockets of the machine that the configuration accepted', sockets),
      none('connections to a socket of the machine', atSocket),
      none(
        'calls after a name had changed its mind that were answered',
        rebinding.filter((one) => one !== 502).map(String),
      ),
      none('redirects that were followed, or passed on', redirected),
      none('tests, lists, checks and token requests that succeeded', beside.succeeded),
      atLeast('allowed connections in the same run', friend.served() + (first.status === 200 ? 1 : 0), 2),
      atLeast('ways inwards that an upstream of the file does reach', reached, 1),
      atLeast('of those, connections that this test notices', noticed, 1),
      atLeast('sockets of the machine that an upstream of the file does reach', reachedSocket, 1),
    ];
  },
});

function atLeast(name: string, count: number, least: number): Figure {
  return { name, bar: `at least ${least}`, measured: String(count), met: count >= least, broken: count < least };
}

/** One list of addresses for each lookup; the last one again. */
const manyTurns = (random: Random, turns: number): Found[][] =>
  Array.from({ length: turns }, () => manyInward(random)[0] ?? []);

function manyInward(random: Random): Found[][] {
  return [Array.from({ length: 1 + Math.floor(random() * 3) }, () => inwardAddress(random))];
}

interface Names {
  set(name: string, turns: readonly (readonly Found[])[]): void;
}

/** In place of the platform's resolver. */
function fakeNames(t: TestContext): Names {
  const known = new Map<string, { readonly turns: readonly (readonly Found[])[]; asked: number }>();
  const original = dns.lookup;
  const fake: LookupFunction = (name, options, callback) => {
    const entry = known.get(name);
    if (isIP(name) !== 0) {
      original(name, options, callback);
      return;
    }
    if (entry === undefined) {
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
      return;
    }
    const found = [...(entry.turns[Math.min(entry.asked, entry.turns.length - 1)] ?? [])];
    entry.asked += 1;
    const [first] = found;
    if (options.all === true) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };
  Object.assign(dns, { lookup: fake });
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(dns, { lookup: original });
    syncBuiltinESMExports();
  });
  return { set: (name, turns) => void known.set(name, { turns, asked: 0 }) };
}

/** Every connection that this process begins, as its sockets tell. */
function watchSockets(t: TestContext) {
  const begun: string[] = [];
  const sockets = channel('net.client.socket');
  const listen = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.on('connectionAttempt', (address: string) => begun.push(address));
    socket.on('connect', () => begun.push(socket.remoteAddress ?? ''));
  };
  sockets.subscribe(listen);
  t.after(async () => void sockets.unsubscribe(listen));
  return { inwards: () => begun.filter((address) => address !== '' && !standard.permits(address)) };
}

interface Victim {
  readonly port: number;
  requests(): string[];
}

/** Listens at every address of the machine, so that 0.0.0.0 and the like lead to it. */
async function startVictim(t: TestContext): Promise<Victim> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.host}${request.url}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => [...seen],
  };
}

/** A service at an address that is allowed, which closes each connection, and redirects inwards where it is asked to. */
async function startFriend(t: TestContext, victimPort: number) {
  let served = 0;
  let status = 302;
  const server = createServer((request, response) => {
    served += 1;
    if (request.url?.startsWith('/redirect')) {
      response.writeHead(status, { location: `http://0.0.0.0:${victimPort}/`, connection: 'close' }).end();
      return;
    }
    const body = { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }], usage: {} };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    served: () => served,
    redirectWith: (next: number) => {
      status = next;
    },
  };
}

/** A configuration whose upstreams are in the store, each with a model of its own name. */
async function compile(
  hosts: readonly (readonly [id: string, url: string])[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Snapshot> {
  const loaded = await load(hosts, more);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
  return loaded.snapshot;
}

function load(hosts: readonly (readonly [id: string, url: string])[], more: Readonly<Record<string, unknown>> = {}) {
  const resources = hosts.flatMap(([id, base_url]) => [
    toResource('upstream', { id, family: 'openai', base_url, ...more }),
    toResource('model', { id, operations: ['embeddings'], space: 's', targets: [{ upstream: id }] }),
  ]);
  return loadConfiguration({ env: {}, cwd: import.meta.dirname, families, resources });
}

/** Those of the addresses that no fault is found in. */
async function acceptedOf(urls: readonly string[]): Promise<string[]> {
  const loaded = await load(urls.map((url, index) => [`x${index}`, url] as const));
  if (loaded.ok) return [...urls];
  const refused = new Set(loaded.faults.map(({ origin }) => /"x(\d+)"/.exec(origin ?? '')?.[1]));
  return urls.filter((_, index) => !refused.has(String(index)));
}

/** The same upstreams somewhere else, as if the configuration had not looked. */
function moved(snapshot: Snapshot, ids: readonly string[], urls: readonly string[]): Snapshot {
  const upstreams = new Map<string, Upstream>();
  for (const [index, id] of ids.entries()) {
    const upstream = snapshot.upstreams.get(id);
    const written = urls[index] ?? '';
    const origin = isSocketUrl(written) ? written : URL.parse(written)?.origin;
    if (upstream === undefined || origin === undefined) throw new Error(`${written} is no URL at all`);
    upstreams.set(id, { ...upstream, origin });
  }
  const all = snapshot.models.all.map((model) => {
    const [target] = model.targets;
    const upstream = upstreams.get(target.upstream.id) ?? target.upstream;
    return { ...model, targets: [{ ...target, upstream }] as const };
  });
  const byId = new Map(all.map((model) => [model.id, model]));
  return {
    ...snapshot,
    upstreams,
    models: {
      ...snapshot.models,
      all,
      resolve: (name) => {
        const model = byId.get(name);
        return model === undefined ? undefined : { model, id: name, matched: '' };
      },
    },
  };
}

/** What has to stay for the life of the process stays as the rig has it. */
function swap(rig: Rig, base: Snapshot, next: Snapshot): void {
  const { server, store, console: listener, ledger, keys } = base;
  const reasons = rig.app.swap({ ...next, server, store, console: listener, ledger, keys });
  if (reasons.length > 0) throw new Error(`not swapped: ${reasons.join(', ')}`);
}

/** Tests of a connection, lists of models, health checks, and tokens that a credential is exchanged for. */
async function askBeside(
  t: TestContext,
  rig: Rig,
  base: Snapshot,
  names: Names,
  random: Random,
  victimPort: number,
  count: number,
): Promise<{ asked: number; succeeded: string[] }> {
  const succeeded: string[] = [];
  const probe = createOwnProbe({ proxyFor: () => undefined, clock: systemClock, installation: 'installation' });
  t.after(() => probe.close());
  const { signal } = new AbortController();
  for (let turn = 0; turn < count; turn += 1) {
    const id = `p${turn}`;
    names.set(`${id}.attack.test`, manyInward(random));
    const { upstreams } = await compile([[id, `http://${id}.attack.test:${victimPort}`]]);
    const upstream = upstreams.get(id);
    if (upstream === undefined) throw new Error('it is not there');
    if ((await probe.test(upstream, signal)).ok) succeeded.push(`test ${id}`);
    if ((await probe.models(upstream, signal)).kind !== 'failed') succeeded.push(`list ${id}`);
  }

  const checked = Array.from({ length: 20 }, (_, index) => `h${index}`);
  for (const id of checked) names.set(`${id}.attack.test`, manyInward(random));
  const check = { health_check: { path: '/', interval: '100ms', timeout: '100ms' } };
  swap(
    rig,
    base,
    await compile(
      checked.map((id) => [id, `http://${id}.attack.test:${victimPort}`] as const),
      check,
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));

  // A service account says itself where its tokens are.
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = JSON.stringify({
    type: 'service_account',
    client_email: 'a@b.test',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `https://tokens.attack.test:${victimPort}/token`,
  });
  names.set('tokens.attack.test', manyInward(random));
  const options = { project: 'p', location: 'us-central1' };
  const vertex = { family: 'vertex', options, api_key: account };
  swap(rig, base, await compile([['tokens', 'http://127.0.0.1:9']], vertex));
  const tokens = await rig.post('/v1/embeddings', { model: 'tokens', input: 'x' });
  if (tokens.status < 500) succeeded.push(`tokens: ${tokens.status}`);
  return { asked: 2 * count + checked.length + 1, succeeded };
}

/** Which of the addresses that are refused above do lead to the listener where the operator's own file names them. */
async function reachFromFile(t: TestContext, victim: Victim): Promise<number> {
  const seen = victim.requests().length;
  const hosts = ['0.0.0.0', '[::]', '[::ffff:127.0.0.1]'];
  const upstreams = hosts.map((host, index) => ({
    id: `f${index}`,
    family: 'openai',
    base_url: `http://${host}:${victim.port}`,
  }));
  const models = upstreams.map(({ id }) => ({
    id,
    operations: ['embeddings'],
    space: 's',
    targets: [{ upstream: id }],
  }));
  const own = await startRig(t, { upstreams, models });
  for (const { id } of models) await own.post('/v1/embeddings', { model: id, input: 'x' });
  return victim.requests().length - seen;
}
