/**
 * Promise 2: with a disk that is full, failing or removed, nothing counts as done without its row, running requests end, and service recovers by
 * itself.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { type HeldStreams, startHeldStreams } from './support/clients/held-streams.ts';
import { type Answer, Spenders } from './support/clients/spenders.ts';
import { faultKinds, playFaults } from './support/disturbances/faulty-journal.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './support/disturbances/small-disk.ts';
import { createRandom } from './support/random.ts';
import { type Books, joinBooks, readBooks, readRows, withStore } from './support/readings/books.ts';
import { allOf, none } from './support/readings/findings.ts';
import { type PaidUpstream, paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

const key = { id: 'one', secret: 'key-one-with-enough-characters' };
const clients = 48;
const streams = 12;
/** Two segments of the journal, one that follows, and a store that has room for all of their rows and for those that came before. */
const diskMebibytes = 256;
/** As long as a client can make it, of what a pattern matches and takes the most bytes in a row: so the journal is soon full. */
const modelSuffix = `-${'無'.repeat(250)}`;
const calmMs: Readonly<Record<Scale, number>> = { long: 3_000, short: 300 };
const fullMs: Readonly<Record<Scale, number>> = { long: 20_000, short: 700 };
/** Well within what a promise is given, so that what went wrong is said. */
const patienceMs: Readonly<Record<Scale, number>> = { long: 180_000, short: 40_000 };
const emptyStoreBytes = 3 * 1024 * 1024;
const backWithinMs = 3_000;
const importedWithinMs = 30_000;
/** A process checks fifty times a second whether its files exist. */
const noticedWithinMs = 100;

interface DiskScene {
  readonly name: string;
  readonly scales: readonly Scale[];
  readonly durability: 'fast' | 'strict';
  /** Killed while the disk is full, and started again when there is room. */
  readonly isKilled?: boolean;
}

const diskScenes: readonly DiskScene[] = [
  { name: 'disk full', scales: ['long', 'short'], durability: 'fast' },
  { name: 'disk full, strict', scales: ['long'], durability: 'strict' },
  { name: 'disk full, and killed', scales: ['long'], durability: 'fast', isKilled: true },
];

export default definePromise({
  no: 2,
  title: 'disk full, failing writes and syncs, files deleted: no success without a durable row',
  async run(rig) {
    const figures: Figure[] = [];
    const whyNot = await whyNoSmallDisk();
    if (whyNot === undefined) {
      for (const scene of diskScenes)
        if (scene.scales.includes(rig.scale)) figures.push(...(await playFull(rig, scene)));
      figures.push(...(await playStoreFull(rig)));
    } else {
      figures.push({ name: 'a disk that is full', bar: 'measured', measured: `left out: ${whyNot}`, met: false });
    }
    for (const kind of faultKinds) figures.push(...(await playFaults(rig, kind)));
    figures.push(...(await playDeleted(rig)));
    return figures;
  },
});

interface Setup {
  readonly upstream: PaidUpstream;
  readonly held: HeldStreams;
  readonly spenders: Spenders;
  /** Where it works; there is another one after a crash. */
  gateway: GatewayProcess;
  readonly directory: string;
  start(): Promise<void>;
}

async function setUp(
  { t, seed }: ChaosRig,
  directory: string,
  more: Readonly<Record<string, unknown>>,
  suffix = '',
): Promise<Setup> {
  const random = createRandom(seed);
  const upstream = await startPaidUpstream(random);
  t.after(() => upstream.close());
  const held = await startHeldStreams();
  t.after(() => held.close());
  const config = {
    upstreams: [
      { id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' },
      { id: 'held', family: 'openai', base_url: held.url, api_key: 'sk-upstream-key' },
    ],
    models: [
      ...paidModels('up').map((model) => (suffix === '' ? model : { ...model, id: `${model.id}*` })),
      { id: 'held', operations: ['completions'], price: { request: 0.001 }, targets: [{ upstream: 'held' }] },
    ],
    keys: [key],
    ...more,
  };
  const start = (): Promise<GatewayProcess> =>
    startGatewayProcess({ config, directory, readyTimeoutMs: 60_000, probe: '/healthz' });
  const setup: Setup = {
    upstream,
    held,
    directory,
    spenders: new Spenders({ keys: [key.secret], random, count: clients, modelSuffix: suffix }),
    gateway: await start(),
    async start() {
      setup.gateway = await start();
    },
  };
  return setup;
}

async function playFull(rig: ChaosRig, scene: DiskScene): Promise<Figure[]> {
  const disk = await mountSmallDisk(diskMebibytes);
  let setup: Setup | undefined;
  try {
    // It begins on a full disk, with room for an empty store and for nothing else.
    disk.fill(emptyStoreBytes);
    setup = await setUp(rig, disk.path, { ledger: { durability: scene.durability } }, modelSuffix);
    return await fillUnder(rig, scene, disk, setup);
  } finally {
    await setup?.spenders.end();
    await setup?.gateway.stop();
    disk.unmount();
  }
}

async function fillUnder(rig: ChaosRig, scene: DiskScene, disk: SmallDisk, setup: Setup): Promise<Figure[]> {
  const { name, isKilled = false } = scene;
  const { spenders, held, upstream } = setup;
  spenders.start(() => setup.gateway.port);
  await until(rig, spenders, 'a hundred answers', () => spenders.answers.length >= 100);
  const servedWhileFull = served(spenders.answers).length;
  disk.empty();
  const backMs = [await timeToServe(rig, spenders)];

  const asked = held.ask(setup.gateway.port, key.secret, streams);
  await held.running(streams);
  await wait(calmMs[rig.scale]);
  rig.progress(`${name}: the disk is filled under load`);
  disk.fill();
  if (rig.scale === 'long') await useUpJournal(rig, name, spenders);
  await wait(fullMs[rig.scale]);
  let ends: readonly (string | undefined)[] = [];
  if (isKilled) {
    process.kill(setup.gateway.pid, 'SIGKILL');
    await spenders.end();
    await setup.gateway.stop();
  }
  held.release();
  if (isKilled) await asked;
  else ends = await asked;
  disk.empty();
  if (isKilled) {
    await setup.start();
    spenders.start(() => setup.gateway.port);
  }
  backMs.push(await timeToServe(rig, spenders));
  await wait(calmMs[rig.scale]);
  await spenders.end();
  const { code } = await setup.gateway.stop();
  const books = await readBooks({ url: 'sqlite:postern.db', cwd: setup.directory }, []);
  const charges = new Map([...upstream.charges, ...held.charges]);
  return [
    {
      name: `${name}: answers, and of these refused`,
      bar: 'some of each',
      measured: `${spenders.answers.length}, ${refusals(spenders.answers).length}`,
      met: served(spenders.answers).length > 0 && refusals(spenders.answers).length > 0,
    },
    none(
      `${name}: requests served while it had not a byte for them`,
      servedWhileFull === 0 ? [] : [`${servedWhileFull}`],
    ),
    ...judgeAnswers(name, spenders, !isKilled),
    none(
      `${name}: streams that ran and did not end whole`,
      ends.filter((end) => end !== undefined).map(String),
      isKilled ? 'killed' : `of ${ends.length}`,
    ),
    allOf(`${name}: what the ledger got wrong`, joinBooks(name, books, { charges, answers: served(spenders.answers) })),
    within(`${name}: with room again, the first answers are there within`, Math.max(...backMs), backWithinMs),
    none(`${name}: the gateway did not end well`, code === 0 ? [] : [`it ended with ${code}`]),
  ];
}

/** What is left of the segments that were made before is enough for a while. */
async function useUpJournal(rig: ChaosRig, name: string, spenders: Spenders): Promise<void> {
  const { answers } = spenders;
  const before = refusals(answers).length;
  await until(rig, spenders, 'refusals on a full disk', () => {
    rig.progress(`${name}: ${served(answers).length} answers`);
    return refusals(answers).length >= before + 200;
  });
}

/** Until enough requests are served that some of them must be new. */
function timeToServe(rig: ChaosRig, spenders: Spenders): Promise<number> {
  const from = spenders.answers.length;
  return until(rig, spenders, 'service', () => served(spenders.answers.slice(from)).length >= clients + 20);
}

/** How long it took. If it does not happen, throws with what happened instead. */
async function until({ scale }: ChaosRig, spenders: Spenders, what: string, isSo: () => boolean): Promise<number> {
  const sinceMs = performance.now();
  const from = spenders.answers.length;
  while (!isSo()) {
    if (performance.now() - sinceMs > patienceMs[scale])
      throw new Error(`${what} did not come; instead: ${tally(spenders.answers.slice(from))}`);
    await wait(20);
  }
  return performance.now() - sinceMs;
}

/** The journal has room, and the store has none. */
async function playStoreFull(rig: ChaosRig): Promise<Figure[]> {
  const name = 'store full';
  // With room for all rows that come meanwhile, and for the log beside them.
  const disk = await mountSmallDisk(64);
  const directory = await mkdtemp(join(tmpdir(), 'postern-full-'));
  const store = `sqlite:${join(disk.path, 'postern.db')}`;
  let setup: Setup | undefined;
  try {
    setup = await setUp(rig, directory, { store });
    const { spenders, upstream } = setup;
    const port = setup.gateway.port;
    spenders.start(() => port);
    await wait(calmMs[rig.scale]);
    disk.fill();
    rig.progress(`${name}: the disk of the store is filled`);
    await wait(fullMs[rig.scale] + 500);
    await spenders.end();
    const location = { url: store, cwd: directory };
    const waiting = upstream.charges.size - (await withStore(location, readRows).catch(() => new Map())).size;
    disk.empty();
    const emptiedMs = performance.now();
    await untilImported(location, [...upstream.charges.keys()]);
    const importedMs = performance.now() - emptiedMs;
    const { code } = await setup.gateway.stop();
    const books = await readBooks(location, []);
    return [
      {
        name: `${name}: answers, and rows that waited in the journal`,
        bar: 'some of each',
        measured: `${spenders.answers.length}, ${waiting}`,
        met: waiting > 0,
      },
      none(`${name}: answers other than 200`, spenders.answers.filter(({ status }) => status !== 200).map(inWords)),
      brokenOff(name, spenders),
      allOf(
        `${name}: what the ledger got wrong`,
        joinBooks(name, books, { charges: upstream.charges, answers: spenders.answers }),
      ),
      within(`${name}: with room again, every row is in the ledger within`, importedMs, importedWithinMs),
      none(`${name}: the gateway did not end well`, code === 0 ? [] : [`it ended with ${code}`]),
    ];
  } finally {
    await setup?.spenders.end();
    await setup?.gateway.stop();
    disk.unmount();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Somebody deletes the journal of a gateway that runs. */
async function playDeleted(rig: ChaosRig): Promise<Figure[]> {
  const name = 'journal deleted';
  const directory = await mkdtemp(join(tmpdir(), 'postern-deleted-'));
  let setup: Setup | undefined;
  try {
    setup = await setUp(rig, directory, {});
    const { spenders } = setup;
    const at = setup;
    spenders.start(() => at.gateway.port);
    await wait(calmMs[rig.scale] + 300);
    await rm(join(directory, 'journal'), { recursive: true });
    await wait(noticedWithinMs);
    const from = spenders.answers.length;
    await wait(fullMs[rig.scale]);
    const isAlive = await Promise.race([setup.gateway.exited.then(() => false), wait(0).then(() => true)]);
    await spenders.end();
    const after = spenders.answers.slice(from);
    await setup.gateway.stop();
    await setup.start();
    const before = spenders.answers.length;
    spenders.start(() => at.gateway.port);
    await until(rig, spenders, 'answers after a restart', () => spenders.answers.length >= before + 20);
    await spenders.end();
    const again = served(spenders.answers.slice(before)).length;
    await setup.gateway.stop();
    const books = await readBooks({ url: 'sqlite:postern.db', cwd: directory }, []);
    return [
      none(
        `${name}: whole answers with 200, later than ${noticedWithinMs} ms after it, without a row`,
        withoutRow(served(after), books),
        `of ${served(after).length}, and ${refusals(after).length} refused`,
      ),
      none(`${name}: answers other than 200 and 503 store_unavailable`, strange(spenders.answers)),
      none(`${name}: the gateway died of it, or did not serve after a restart`, [
        ...(isAlive ? [] : ['it died']),
        ...(again > 0 ? [] : ['it did not serve']),
      ]),
      none(`${name}: differences between rows and sums`, books.differences),
    ];
  } finally {
    await setup?.spenders.end();
    await setup?.gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function judgeAnswers(name: string, spenders: Spenders, isWhole: boolean): Figure[] {
  const figure = none(`${name}: answers other than 200 and 503 store_unavailable`, strange(spenders.answers));
  return isWhole ? [figure, brokenOff(name, spenders)] : [figure];
}

const brokenOff = (name: string, { broken }: Spenders): Figure =>
  none(`${name}: running requests that broke off`, broken === 0 ? [] : [`${broken} requests`]);

const served = (answers: readonly Answer[]): Answer[] => answers.filter(({ status }) => status === 200);

const isRefusal = ({ status, code }: Answer): boolean => status === 503 && code === 'store_unavailable';
const refusals = (answers: readonly Answer[]): Answer[] => answers.filter(isRefusal);

const strange = (answers: readonly Answer[]): string[] =>
  answers.filter((answer) => answer.status !== 200 && !isRefusal(answer)).map(inWords);

/** How many there are of each kind. */
function tally(answers: readonly Answer[]): string {
  const kinds = Map.groupBy(answers, ({ status, code = '' }) => `${status} ${code}`.trim());
  return [...kinds].map(([kind, all]) => `${kind}: ${all.length}`).join(', ') || 'no answer';
}

const inWords = ({ id, status, code }: Answer): string => `${id}: ${status} ${code}`;

function withoutRow(answers: readonly Answer[], { rows }: Books): string[] {
  const known = new Set([...rows.values()].flatMap(({ id, clientRequestId }: LedgerRow) => [id, clientRequestId]));
  return answers.filter(({ id }) => !known.has(id)).map(({ id }) => id);
}

async function untilImported(location: { url: string; cwd: string }, ids: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + importedWithinMs * 2;
  await withStore(location, async (store) => {
    for (;;) {
      const rows = await readRows(store);
      if (ids.every((id) => rows.has(id))) return;
      if (performance.now() > deadlineMs) return;
      await wait(50);
    }
  });
}
