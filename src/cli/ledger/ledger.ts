/** `postern ledger`: follows the rows of the ledger, shows one, and verifies the usage sums against the rows. */

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { LedgerFilter, LedgerStore } from '../../core/store/ledger.ts';
import type { Store } from '../../core/store/store.ts';
import { UserFault } from '../../core/user-fault.ts';
import { createJournalReader, type JournalReader } from '../../journal/journal-reader.ts';
import { claimSlotAt, idFile } from '../../journal/journal-slot.ts';
import { readWaitingRows } from '../../journal/waiting.ts';
import { systemClock } from '../../lib/clock.ts';
import { type OpenConfiguration, openConfiguration } from '../../serve/configuration.ts';
import { lockFile } from '../../store/sqlite/sqlite-file.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { printJson, printTable } from '../output.ts';
import { filterUsage, readFilter, readSpan, readWhole, spanUsage } from './ledger-options.ts';
import { describeRow, tailHead, toRowLines, toTailLine } from './ledger-words.ts';

const defaultRows = 20;
const mostRows = 100_000;
const rowsPerPage = 1_000;
const followEveryMs = 1_000;
/** Limit of new rows between two polls; more than these are not shown. */
const mostRowsPerLook = 10_000;

/** Limit of shown rows that have the same request ID of a client. */
const mostShown = 5;

export const ledger = actionsOf('ledger', openConfiguration, {
  tail: {
    usage: `tail [--limit N] [--follow|-f] ${spanUsage} ${filterUsage} [--status S] [--request-id X] [--json]`,
    prepare: tail,
  },
  show: { usage: 'show ID [--json]', prepare: show },
  verify: { usage: `verify ${spanUsage}`, prepare: verify },
  prune: { usage: 'prune [--confirm]', prepare: prune },
  adopt: { usage: 'adopt JOURNAL', prepare: adopt },
});

function tail(context: CommandContext) {
  const { values, stdout, stderr } = context;
  const limit = readWhole(values, 'limit', 1, mostRows) ?? defaultRows;
  const isFollowed = values.follow === true;
  const filter = { ...readFilter(values), ...readSpan(values, systemClock.nowMs()) };
  if (isFollowed && filter.toMs !== undefined) throw new UserFault('--follow and --to exclude each other');
  const toLine = values.json === true ? (row: LedgerRow) => JSON.stringify(describeRow(row)) : toTailLine;
  return async ({ store: { ledger: rows } }: OpenConfiguration) => {
    const newest = await readNewest(rows, filter, limit);
    if (newest.length === 0 && !isFollowed) {
      const { rows: any } = await rows.page({}, { limit: 1 });
      if (any.length > 0) stderr('postern: the ledger holds no such row');
      else if (values.json === true) stderr('postern: the ledger is empty');
      else stdout('The ledger is empty.');
      return;
    }
    if (values.json !== true) stdout(tailHead);
    for (const row of newest) stdout(toLine(row));
    if (isFollowed) await follow(rows, filter, newest, (row) => stdout(toLine(row)), context);
  };
}

/** The newest rows that are not known yet, the oldest of them first. */
async function readNewest(
  store: Pick<LedgerStore, 'page'>,
  filter: LedgerFilter,
  most: number,
  isKnown: (row: LedgerRow) => boolean = () => false,
): Promise<LedgerRow[]> {
  const newest: LedgerRow[] = [];
  for (let before: string | undefined; newest.length < most; ) {
    const page = await store.page(filter, { before, limit: Math.min(rowsPerPage, most - newest.length) });
    newest.push(...page.rows);
    before = page.next;
    if (before === undefined || page.rows.some(isKnown)) break;
  }
  return newest.reverse();
}

/** Shows new rows until the process ends or nobody reads the output. A long exchange's row appears late, so it may be an older one. */
export async function follow(
  store: Pick<LedgerStore, 'page'>,
  filter: LedgerFilter,
  shown: readonly LedgerRow[],
  show: (row: LedgerRow) => void,
  { stderr, unread }: Pick<CommandContext, 'stderr' | 'unread'>,
): Promise<void> {
  const since = shown[0]?.startedAtMs ?? systemClock.nowMs();
  const recent = { ...filter, fromMs: Math.max(since, filter.fromMs ?? 0) };
  let known = new Set(shown.map(({ id }) => id));
  let fault: string | undefined;
  while (unread?.aborted !== true) {
    await sleep(followEveryMs);
    const last = known;
    try {
      const rows = await readNewest(store, recent, mostRowsPerLook, ({ id }) => last.has(id));
      for (const row of rows) if (!last.has(row.id)) show(row);
      // Rows of the previous poll are forgotten once they are out of range.
      if (rows.length > 0) known = new Set(rows.map(({ id }) => id));
      if (fault !== undefined) stderr('postern: the store answers again');
      fault = undefined;
    } catch (error) {
      // A database may be restarted.
      if (!(error instanceof UserFault)) throw error;
      if (fault === undefined) stderr(`postern: ${error.message}`);
      fault = error.message;
    }
  }
}

function show({ positionals, values, stdout, stderr }: CommandContext) {
  const id = (positionals[1] ?? '').trim();
  if (id === '') throw new UserFault('name the row: its ID is the x-request-id of the response');
  return async ({ store: { ledger: rows } }: OpenConfiguration) => {
    const { found, hasMore } = await findRows(id, rows);
    if (found.length === 0) {
      throw new UserFault('the ledger has no row with this ID: the request is in progress, in the journal, or pruned');
    }
    for (const [index, row] of found.entries()) {
      const capture = await rows.capture(row.id);
      const kept = capture === undefined ? null : { request: capture.request, response: capture.response };
      if (printJson({ values, stdout }, { ...describeRow(row), capture: kept })) continue;
      if (index > 0) stdout('');
      printTable(['FIELD', 'VALUE'], toRowLines(row, capture), stdout);
    }
    if (hasMore) {
      stderr(`postern: these are the newest ${mostShown}; "postern ledger tail --request-id" lists more of them`);
    }
  };
}

/** The row with the gateway's ID, else the rows with the client's ID, which several may share; the newest first. */
async function findRows(id: string, rows: Pick<LedgerStore, 'get' | 'page'>) {
  const own = id.toLowerCase();
  const row = /^[0-9a-f]{32}$/.test(own) ? await rows.get(own) : undefined;
  if (row !== undefined) return { found: [row], hasMore: false };
  const page = await rows.page({ clientRequestId: id }, { limit: mostShown });
  return { found: page.rows, hasMore: page.next !== undefined };
}

function verify({ values, cwd, stdout }: CommandContext) {
  const nowMs = systemClock.nowMs();
  const { fromMs = 0, toMs = nowMs } = readSpan(values, nowMs);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    for (const { slot, bytes, rows } of await readWaitingRows(resolve(cwd, snapshot.ledger.directory), store)) {
      stdout(`In directory ${slot} of the journal, ${bytes} bytes (${rows} rows) are not in the store yet.`);
    }
    const differences = await store.ledger.verify(fromMs, toMs);
    for (const sentence of differences) stdout(sentence);
    if (differences.length > 0) {
      const places = differences.length === 1 ? 'place' : 'places';
      throw new UserFault(`rows and sums of the ledger differ in ${differences.length} ${places}`);
    }
    stdout('Rows and sums agree.');
  };
}

/** Shows what retention would delete by this machine's clock, and deletes it once the operator confirms the clock. */
function prune({ values, stdout }: CommandContext) {
  return async ({ store: { ledger: rows, audit }, loaded: { snapshot } }: OpenConfiguration) => {
    const nowMs = systemClock.nowMs();
    const beforeMs = nowMs - snapshot.ledger.retentionMs;
    const before = new Date(beforeMs).toISOString();
    const count = await rows.countBefore(beforeMs);
    if (values.confirm !== true) {
      const markMs = await rows.readMark();
      stdout(`The clock says ${new Date(nowMs).toISOString()}.`);
      if (markMs !== undefined) stdout(`The last time in the store is ${new Date(markMs).toISOString()}.`);
      stdout(`${count} rows began before ${before}; --confirm deletes them.`);
      return;
    }
    await audit.add({ actor, action: 'ledger.prune', subject: before, before: { rows: count }, after: { rows: 0 } });
    await rows.setMark(nowMs);
    let deleted = 0;
    for (let some = 1; some > 0; deleted += some) some = await rows.prune(beforeMs);
    stdout(`${deleted} rows and captures that began before ${before} are deleted; retention follows the clock again.`);
  };
}

/** Imports a journal that belongs to another store or to an unknown one; it belongs to this store from then on. */
function adopt({ positionals, cwd, stdout, stderr }: CommandContext) {
  const path = resolve(cwd, positionals[1] ?? '');
  const number = Number(basename(path));
  if (!Number.isInteger(number) || !existsSync(join(path, idFile))) {
    throw new UserFault(`"${path}" is no journal; name the folder that the log names, such as data/journal/1000`);
  }
  return async ({ store }: OpenConfiguration) => {
    const installation = await store.settings.installation();
    const folder = { directory: dirname(path), lock: lockFile, clock: systemClock, store: installation, adopts: true };
    const slot = claimSlotAt(folder, number);
    if (slot === undefined) throw new UserFault(`"${path}" is the journal of a process that runs; end that one first`);
    try {
      const reader = createJournalReader({ directory: path, isOrphan: () => true, isSecure: store.ledger.secure });
      const rows = await importAll(reader, store, stderr);
      await reader.close();
      stdout(`${rows} rows of "${path}" are new in the ledger; the journal belongs to this store now.`);
    } finally {
      slot.release();
    }
  };
}

/** Imports the rows of a journal, and returns how many were new. */
async function importAll(reader: JournalReader, { ledger: rows, budgets }: Store, stderr: CommandContext['stderr']) {
  let position = await rows.position(reader.id);
  await reader.open(position);
  for (let added = 0; ; ) {
    const batch = await reader.read(rowsPerPage);
    for (const sentence of batch.damage) stderr(`postern: ${sentence}`);
    const { segment, offset } = batch.position;
    const isEnd = segment === position?.segment && offset === position.offset;
    if (isEnd && batch.rows.length === 0 && batch.endedNodes.length === 0) return added;
    added += await rows.import(reader.id, batch.rows, batch.position);
    for (const node of batch.endedNodes) await budgets.release(node);
    await reader.imported(batch.position);
    position = batch.position;
  }
}
