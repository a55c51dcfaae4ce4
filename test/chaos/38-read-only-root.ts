/** Promise 38: with a read-only root, another user, one writable folder and bursts, every row is imported, and readiness reports if not. */

import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type GatewayProcess, launcher, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { Spenders } from './support/clients/spenders.ts';
import { onReadOnlyRoot, otherUser, surroundingsOf, whyNoReadOnlyRoot } from './support/disturbances/read-only-root.ts';
import { createRandom } from './support/random.ts';
import { joinBooks, readBooks } from './support/readings/books.ts';
import { none } from './support/readings/findings.ts';
import { type PaidUpstream, paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

const key = { id: 'one', secret: 'key-one-with-enough-characters' };
const clients = 48;
const bursts: Readonly<Record<Scale, number>> = { long: 20, short: 3 };
const burstMs: Readonly<Record<Scale, number>> = { long: 2_000, short: 400 };
/** More than fit in one batch, so that SQLite has to write to disk. */
const leastRowsAtOnce: Readonly<Record<Scale, number>> = { long: 10_000, short: 1_500 };
/** An import that cannot write may wait 5 s for the store before it fails, and longer on a busy machine. */
const patienceMs = 90_000;
const importedWithinMs = 10_000;

export default definePromise({
  no: 38,
  title: 'read-only root file system, another user, only the data folder writable, bursts of requests',
  async run(rig) {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'postern-read-only-')));
    rig.t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
    const data = join(directory, 'data');
    mkdirSync(data);
    chmodSync(directory, 0o755);
    const whyNot = whyNoReadOnlyRoot(data, launcher);
    if (whyNot !== undefined) {
      return [{ name: 'a root that is read-only', bar: 'measured', measured: `left out: ${whyNot}`, met: false }];
    }
    chownSync(data, otherUser, otherUser);
    const upstream = await startPaidUpstream(createRandom(rig.seed));
    rig.t.after(() => upstream.close());
    const gateway = await startGatewayProcess({
      directory,
      command: onReadOnlyRoot(data, launcher),
      config: {
        store: 'sqlite:data/postern.db',
        upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
        models: paidModels('up'),
        keys: [key],
      },
    });
    try {
      return await play(rig, { directory, upstream, gateway });
    } finally {
      await gateway.stop();
    }
  },
});

interface Setup {
  readonly directory: string;
  readonly upstream: PaidUpstream;
  readonly gateway: GatewayProcess;
}

async function play(rig: ChaosRig, { directory, upstream, gateway }: Setup): Promise<Figure[]> {
  const { scale } = rig;
  const spenders = new Spenders({ keys: [key.secret], random: createRandom(rig.seed), count: clients });
  rig.t.after(() => spenders.end());
  const { user, isRootReadOnly } = surroundingsOf(gateway.pid);

  for (let burst = 1; burst <= bursts[scale]; burst += 1) {
    rig.progress(`burst ${burst} of ${bursts[scale]}`);
    spenders.start(() => gateway.port);
    await wait(burstMs[scale]);
    await spenders.end();
  }
  await untilSaid(gateway, isWell);
  const inBursts = failuresIn(gateway).length;

  rig.progress('another process holds the store');
  const path = join(directory, 'data', 'postern.db');
  // The gateway may be writing just now.
  const holder = new DatabaseSync(path, { timeout: 5_000 });
  holder.exec('BEGIN IMMEDIATE');
  const before = spenders.answers.length;
  spenders.start(() => gateway.port);
  while (spenders.answers.length - before < leastRowsAtOnce[scale]) await wait(10);
  await spenders.end();
  const asked = spenders.answers.length - before;
  const held = await untilSaid(gateway, ({ rowsWaiting = 0 }) => rowsWaiting >= asked);
  holder.exec('ROLLBACK');
  holder.close();
  const freeAtMs = performance.now();
  const after = await untilSaid(gateway, isWell);
  const importedMs = performance.now() - freeAtMs;

  const { code } = await gateway.stop();
  const books = await readBooks({ url: `sqlite:${path}`, cwd: directory }, []);
  const otherwise = spenders.answers.filter(({ status }) => status !== 200);
  const rowsWaiting = held.rowsWaiting ?? 0;
  return [
    {
      name: 'the process runs as another user, on a root that is read-only',
      bar: 'yes',
      measured: `user ${user}, root ${isRootReadOnly ? 'read-only' : 'writable'}`,
      met: user === otherUser && isRootReadOnly,
      broken: user !== otherUser || !isRootReadOnly,
    },
    none(
      'answers other than 200',
      otherwise.map(({ status, code }) => `${status} ${code}`),
      `of ${spenders.answers.length}`,
    ),
    none('times that rows could not go into the store, in bursts', inBursts === 0 ? [] : [`${inBursts} times`]),
    ...joinBooks('in all', books, { charges: upstream.charges, answers: spenders.answers }),
    {
      name: 'while another process holds the store, readiness says so and how many rows wait',
      bar: 'it says so',
      measured: `${held.status}, ${rowsWaiting} rows wait of ${asked}`,
      met: held.status === 200 && rowsWaiting >= asked,
      broken: held.status !== 200 || rowsWaiting < asked,
    },
    {
      name: 'and says nothing of it once every row is imported',
      bar: 'nothing',
      measured: after.rowsWaiting === undefined ? 'nothing' : `${after.rowsWaiting} rows wait`,
      met: after.rowsWaiting === undefined,
      broken: after.rowsWaiting !== undefined,
    },
    within('when the store is free again, readiness is as before within', importedMs, importedWithinMs),
    none('the gateway did not end well', code === 0 ? [] : [`it ended with ${code}`]),
  ];
}

interface Said {
  readonly status: number;
  /** Undefined if it reports nothing about waiting rows. */
  readonly rowsWaiting: number | undefined;
}

const isWell = ({ status, rowsWaiting }: Said): boolean => status === 200 && rowsWaiting === undefined;

/** The first readiness answer that matches; if none does, the last one. */
async function untilSaid({ url }: GatewayProcess, isSo: (said: Said) => boolean): Promise<Said> {
  const sinceMs = performance.now();
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    const { ledger } = (await response.json()) as { ledger?: { rows_waiting: number } };
    const said = { status: response.status, rowsWaiting: ledger?.rows_waiting };
    if (isSo(said) || performance.now() - sinceMs > patienceMs) return said;
    await wait(50);
  }
}

const failuresIn = (gateway: GatewayProcess): Record<string, unknown>[] =>
  gateway.log().filter(({ msg }) => msg === 'journal import failing');
