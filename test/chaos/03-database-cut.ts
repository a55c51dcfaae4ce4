/**
 * Promise 3: with the database file and its log truncated or overwritten anywhere, the log's rows are still in the journal, and other damage is
 * reported.
 */

import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { createImporter } from '../../src/journal/importer.ts';
import { createOrphanClaims } from '../../src/journal/orphans.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { lockFile } from '../../src/store/sqlite/sqlite-file.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { Spenders } from './support/clients/spenders.ts';
import { cutAt, type Damage, overwrite, Remains } from './support/disturbances/cut-database.ts';
import { createRandom } from './support/random.ts';
import { type Books, readBooks, type StoreLocation, withStore } from './support/readings/books.ts';
import { createViolations } from './support/readings/findings.ts';
import { paidModels, startPaidUpstream } from './support/upstreams/paid-upstream.ts';

interface Size {
  /** Times that the gateway is killed; what it leaves is damaged after each but the first. */
  readonly kills: number;
  /** Calls before a kill, at most: with few of them the log still has what the process before it left open. */
  readonly calls: number;
  /** For each of them. */
  readonly logCuts: number;
  readonly fileCuts: number;
  /** Of the damaged files, those on which a whole gateway is started. */
  readonly gateways: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { kills: 9, calls: 2_500, logCuts: 60, fileCuts: 30, gateways: 3 },
  short: { kills: 2, calls: 400, logCuts: 10, fileCuts: 6, gateways: 1 },
};

const clients = 16;
/** After the calls, so that it is killed at any moment. */
const fileCutToNothing = 4;
const longestMoreMs = 500;
const key = { id: 'one', secret: 'key-one-with-enough-characters' };
const budgets = [{ every: 'total', amount: 100_000 }];
const accounts = [`key/${key.id}/total/1970-01-01`];
const storeUrl = 'sqlite:postern.db';

export default definePromise({
  no: 3,
  title: 'the database file and its log cut or overwritten anywhere, after a kill under load',
  async run(rig) {
    const findings = new Findings();
    await runAndDamage(rig, findings);
    return findings.figures();
  },
});

class Findings {
  readonly missing = createViolations('rows missing or otherwise, after the import');
  readonly crashes = createViolations('crashes, and errors that are no sentence');
  readonly silent = createViolations('damage that changed rows or sums, and of which nothing was said');
  readonly carriedSilent = createViolations('the same, where the log was cut below what the file had of it');
  logCuts = 0;
  logRows = 0;
  carried = { count: 0, well: 0, said: 0 };
  file = { count: 0, well: 0, atOpening: 0, later: 0 };
  gateways = { count: 0, refused: 0, served: 0 };

  figures(): Figure[] {
    const { carried, file, gateways } = this;
    return [
      {
        name: 'cuts of the log, and rows that were compared after each, on average',
        bar: 'some of each',
        measured: `${this.logCuts}, ${Math.round(this.logRows / Math.max(1, this.logCuts))}`,
        met: this.logRows > 0,
      },
      this.missing.outOf(this.logCuts),
      {
        name: 'logs cut below what the file has of them already',
        bar: 'no bar',
        measured: `${carried.count} (${carried.well} lost nothing, ${carried.said} were said to be damaged)`,
        met: true,
      },
      // A checkpoint has to come in between, which is not so every time.
      ...(carried.count === 0 ? [] : [this.carriedSilent.outOf(carried.count)]),
      {
        name: 'damaged database files',
        bar: 'no bar',
        measured: `${file.count} (${file.atOpening} were refused at once, ${file.later} when the damage was met, ${file.well} lost nothing)`,
        met: true,
      },
      this.silent.outOf(file.count),
      {
        name: 'gateways started on a damaged file',
        bar: 'exit 1 with a sentence, or service',
        measured: `${gateways.count} (${gateways.refused} ended with a sentence, ${gateways.served} served)`,
        met: gateways.count === gateways.refused + gateways.served,
        broken: gateways.count !== gateways.refused + gateways.served,
      },
      this.crashes.outOf(this.logCuts + carried.count + file.count + gateways.count),
    ];
  }
}

async function runAndDamage(rig: ChaosRig, findings: Findings): Promise<void> {
  const { t, seed, scale } = rig;
  const { kills, calls, logCuts, fileCuts, gateways } = sizes[scale];
  const random = createRandom(seed);
  const upstream = await startPaidUpstream(random);
  t.after(() => upstream.close());
  const root = await mkdtemp(join(tmpdir(), 'postern-cut-'));
  t.after(() => rm(root, { recursive: true, force: true, maxRetries: 20 }));
  const config = {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: paidModels('up'),
    keys: [{ ...key, budgets }],
    store: storeUrl,
  };
  const remains = new Remains(await mkdtemp(join(root, 'live-')));
  const spenders = new Spenders({ keys: [key.secret], random, count: clients });
  let kill = 0;
  while (kill < kills) {
    const gateway = await startGatewayProcess({ config, directory: remains.directory, readyTimeoutMs: 60_000 });
    spenders.start(() => gateway.port);
    const enough = upstream.calls + calls * (0.1 + 0.9 * random() ** 2);
    while (upstream.calls < enough) await wait(10);
    await wait(random() * longestMoreMs);
    process.kill(gateway.pid, 'SIGKILL');
    await spenders.end();
    await gateway.stop();
    // Before imported journal files are deleted, the log is emptied: a kill at that moment leaves nothing to cut.
    if ((remains.readLog()?.frames ?? 0) === 0) continue;
    kill += 1;
    if (kill === 1) continue;
    const round = { rig, findings, random, remains, copies: join(root, 'copies'), seen: [...upstream.charges.keys()] };
    await damageLog(round, logCuts, kill, kills);
    await damageFile(round, fileCuts, gateways, config);
  }
}

interface Round {
  readonly rig: ChaosRig;
  readonly findings: Findings;
  readonly random: () => number;
  readonly remains: Remains;
  /** Where copies are made, each in place of the one before. */
  readonly copies: string;
  /** Calls that the upstream saw by now. */
  readonly seen: readonly string[];
}

async function damageLog(round: Round, count: number, kill: number, kills: number): Promise<void> {
  const { rig, findings, random, remains, copies, seen } = round;
  const whole = await openAndImport(remains.copyTo(copies));
  if ('fault' in whole) throw new Error(`what a killed gateway left cannot be opened: ${whole.fault}`);
  for (const id of seen) if (!whole.rows.has(id)) throw new Error(`the call ${id} has no row even without damage`);
  const log = remains.readLog();
  if (log === undefined) return;
  for (let n = 0; n < count; n += 1) {
    rig.progress(
      `kill ${kill} of ${kills}: log of ${log.frames} frames, of which the file has ${log.carried}; cut ${n + 1} of ${count}`,
    );
    // Evenly over the log, the first and the last frame too.
    const frame = Math.round((log.frames * n) / (count - 1));
    const damage = toLogDamage(log.offsetOf(frame), statSync(remains.logPath).size, log.pageBytes, random);
    const copy = remains.copyTo(copies);
    damage.do(copy.logPath);
    if (random() < 0.5) await rm(copy.sharedPath, { force: true });
    const result = await openAndImport(copy);
    const isCarried = frame < log.carried;
    const what = `frame ${frame} of ${log.frames}, ${log.carried} carried over, ${damage.name}`;
    if (isCarried) findings.carried.count += 1;
    else findings.logCuts += 1;
    if ('fault' in result) {
      if (!result.isSentence) findings.crashes.add(`${what}: ${result.fault}`);
      else if (isCarried) findings.carried.said += 1;
      else findings.missing.add(`${what}: ${result.fault}`);
      continue;
    }
    const difference = compare(whole, result);
    if (!isCarried) {
      findings.logRows += whole.rows.size;
      if (difference !== undefined) findings.missing.add(`${what}: ${difference}`);
    } else if (difference === undefined) findings.carried.well += 1;
    else if (result.said.length > 0) findings.carried.said += 1;
    else findings.carriedSilent.add(`${what}: ${difference}`);
  }
}

function toLogDamage(offset: number, bytes: number, pageBytes: number, random: () => number): Damage {
  const drawn = random();
  if (drawn < 0.5 || offset + pageBytes >= bytes) return cutAt(offset);
  if (drawn < 0.75) return cutAt(offset + 1 + Math.floor(random() * pageBytes));
  if (drawn < 0.9) return overwrite(offset, pageBytes, () => 0, 'are zero');
  return overwrite(offset + Math.floor(random() * pageBytes), 1, () => 1 + Math.floor(random() * 255), 'changed');
}

async function damageFile(
  { rig, findings, random, remains, copies }: Round,
  count: number,
  gateways: number,
  config: Readonly<Record<string, unknown>>,
): Promise<void> {
  const whole = await openAndImport(remains.copyTo(copies));
  if ('fault' in whole) throw new Error(whole.fault);
  const bytes = statSync(remains.databasePath).size;
  for (let n = 0; n < count; n += 1) {
    rig.progress(`damaged files: ${n + 1} of ${count}`);
    const damage = toFileDamage(bytes, random, n);
    const copy = remains.copyTo(copies);
    damage.do(copy.databasePath);
    // Without its log it is what the last checkpoint made of it.
    if (n !== fileCutToNothing && random() < 0.3)
      for (const path of [copy.logPath, copy.sharedPath]) await rm(path, { force: true });
    const hasLog = existsSync(copy.logPath);
    const what = `${damage.name}${hasLog ? '' : ', without its log'}`;
    if (n < gateways) await startOn(copy, config, findings, what);
    else await openDamaged(copy, whole, findings, what);
  }
}

function toFileDamage(bytes: number, random: () => number, n: number): Damage {
  const pageBytes = 4096;
  const pages = bytes / pageBytes;
  const page = Math.floor(random() * pages);
  // Nothing is left of it, and the log is.
  if (n === fileCutToNothing) return cutAt(0);
  switch (n % 5) {
    case 0:
      // Nothing of it, and no log either, is what a new store begins with.
      return cutAt(Math.max(page, 1) * pageBytes);
    case 1:
      return overwrite(page * pageBytes, pageBytes, () => 0, 'are zero');
    case 2:
      return cutAt(1 + Math.floor(random() * (bytes - 1)));
    case 3:
      return overwrite(page * pageBytes, pageBytes, () => Math.floor(random() * 256), 'are noise');
    default:
      return overwrite(0, 1 + Math.floor(random() * 100), () => Math.floor(random() * 256), 'are noise');
  }
}

async function openDamaged(copy: Remains, whole: Books, findings: Findings, what: string): Promise<void> {
  const result = await openAndImport(copy);
  findings.file.count += 1;
  if ('fault' in result) {
    if (!result.isSentence) findings.crashes.add(`${what}: ${result.fault}`);
    else if (result.isAtOpening) findings.file.atOpening += 1;
    else findings.file.later += 1;
    return;
  }
  const difference = compare(whole, result);
  if (difference === undefined) findings.file.well += 1;
  else if (result.said.length > 0) findings.file.later += 1;
  else findings.silent.add(`${what}: ${difference}`);
}

/** A whole gateway: it ends with 1 and a sentence, or serves. */
async function startOn(
  copy: Remains,
  config: Readonly<Record<string, unknown>>,
  findings: Findings,
  what: string,
): Promise<void> {
  findings.gateways.count += 1;
  try {
    const gateway = await startGatewayProcess({ config, directory: copy.directory, readyTimeoutMs: 60_000 });
    const { code } = await gateway.stop();
    if (code === 0) findings.gateways.served += 1;
    else findings.crashes.add(`${what}: served, and ended with ${code}: ${gateway.stderr().slice(0, 200)}`);
  } catch (error) {
    const text =
      error instanceof Error ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}` : '';
    const isSaid =
      /The store .* (is|cannot|could|was|holds)/.test(text) && text.includes('"code":1') && !/\n\s+at /.test(text);
    if (isSaid) findings.gateways.refused += 1;
    else findings.crashes.add(`${what}: ${text.slice(0, 300)}`);
  }
}

interface Fault {
  readonly fault: string;
  /** For an operator, and no error of the program. */
  readonly isSentence: boolean;
  readonly isAtOpening: boolean;
}

/** Log events of one journal, after which the import of the others goes on. */
const ofOneJournal: ReadonlySet<string> = new Set([
  'journal damaged',
  'journal reader not closed',
  'journal segment not closed',
]);

/** The import of what stands in the journal, as the next process would do it, and then all that is in the store. */
async function openAndImport(copy: Remains): Promise<(Books & { readonly said: readonly string[] }) | Fault> {
  const location: StoreLocation = { url: storeUrl, cwd: copy.directory };
  let isAtOpening = true;
  try {
    const said = await withStore(location, async (store) => {
      isAtOpening = false;
      const failed = Promise.withResolvers<never>();
      const sentences: string[] = [];
      const error = (message: string, { reason }: Record<string, unknown> = {}): void => {
        sentences.push(`${message}: ${String(reason)}`);
        if (!ofOneJournal.has(message)) failed.reject(new StoreError(String(reason)));
      };
      const importer = createImporter({
        own: undefined,
        claimOrphans: createOrphanClaims({
          directory: copy.journal,
          ownSlot: undefined,
          lock: lockFile,
          clock: systemClock,
          store: await store.settings.installation(),
          isSecure: store.ledger.secure,
        }),
        store,
        clock: systemClock,
        log: { info: () => undefined, warn: () => undefined, error },
        retentionMs: Number.MAX_SAFE_INTEGER,
        pollMs: 1,
      });
      try {
        await Promise.race([importer.caughtUp(), failed.promise]);
      } finally {
        failed.promise.catch(() => undefined);
        await importer.close();
      }
      return sentences;
    });
    const books = await readBooks(location, accounts);
    return { ...books, said: [...said, ...books.differences] };
  } catch (thrown) {
    const isSentence = thrown instanceof StoreError && !/\b(SQLITE|sqlite3|undefined|malformed)\b/.test(thrown.message);
    const fault = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
    return { fault, isSentence, isAtOpening };
  }
}

/** In words; undefined where there is none. */
function compare(whole: Books, found: Books): string | undefined {
  for (const [id, row] of whole.rows) {
    const other = found.rows.get(id);
    if (other === undefined)
      return `${whole.rows.size} rows became ${found.rows.size}, ${id} (${row.outcome}) is missing`;
    if (!isSame(row, other))
      return `${id} was ${row.outcome}, ${row.costNanos}, and is ${other.outcome}, ${other.costNanos}`;
  }
  if (found.rows.size !== whole.rows.size) return `${whole.rows.size} rows became ${found.rows.size}`;
  const [sentence] = found.differences;
  if (sentence !== undefined) return sentence;
  for (const id of accounts) {
    const [before, after] = [whole.accounts.get(id), found.accounts.get(id)];
    if (before?.spentNanos !== after?.spentNanos || after?.outstandingNanos !== 0) {
      return `${id} had spent ${before?.spentNanos}, and has ${after?.spentNanos}, ${after?.outstandingNanos} drawn`;
    }
  }
  return undefined;
}

function isSame(one: LedgerRow, other: LedgerRow): boolean {
  return one.outcome === other.outcome && one.costNanos === other.costNanos && one.status === other.status;
}
