/** `postern ledger`: follows the rows of the ledger, shows one, and compares rows with sums. */

import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerRow } from '../core/ledger-row.ts';
import type { LedgerFilter, LedgerStore } from '../core/store.ts';
import { readWaiting } from '../ledger/waiting.ts';
import { systemClock } from '../lib/clock.ts';
import { type Action, actAs } from './actions.ts';
import type { Command, CommandContext } from './command.ts';
import { type OpenConfiguration, openConfiguration } from './configuration.ts';
import { filterOptions, readFilter, readSpan, readWhole, spanOptions } from './ledger-options.ts';
import { describeRow, tailHead, toRowLines, toTailLine } from './ledger-words.ts';
import { toTable } from './table.ts';
import { UserFault } from './user-fault.ts';

const defaultRows = 20;
const mostRows = 100_000;
const rowsPerPage = 1_000;
const followEveryMs = 1_000;
/** Rows that come in between two looks, at most: those beyond are not shown. */
const mostRowsPerLook = 10_000;

const filters = [...Object.keys(filterOptions), 'status'];

const actions: Readonly<Record<string, Action<OpenConfiguration>>> = {
  tail: {
    usage:
      'tail [--limit N] [--follow] [--from 7d|2026-11-01] [--to 2026-11-30] [--key ID] [--project ID] [--model ID] [--upstream ID] [--operation O] [--outcome O] [--status S] [--json]',
    options: ['limit', 'follow', 'from', 'to', ...filters, 'json'],
    operandCount: 0,
    prepare: tail,
  },
  show: { usage: 'show ID [--json]', options: ['json'], operandCount: 1, prepare: show },
  verify: {
    usage: 'verify [--from 7d|2026-11-01] [--to 2026-11-30]',
    options: ['from', 'to'],
    operandCount: 0,
    prepare: verify,
  },
};

export const ledger: Command = {
  name: 'ledger',
  summary: 'Follows the rows of the ledger, shows one, and compares rows with sums.',
  usage: `ledger ${Object.keys(actions).join('|')} [--config F] [--json]`,
  options: {
    config: { type: 'string' },
    limit: { type: 'string' },
    follow: { type: 'boolean', short: 'f' },
    ...spanOptions,
    ...filterOptions,
    status: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: (context) => actAs('ledger', actions, context, openConfiguration),
};

function tail({ values, stdout, stderr }: CommandContext) {
  const limit = readWhole(values, 'limit', 1, mostRows) ?? defaultRows;
  const isFollowed = values.follow === true;
  const filter = { ...readFilter(values), ...readSpan(values, systemClock.nowMs()) };
  if (isFollowed && filter.toMs !== undefined) {
    throw new UserFault('--follow and --to exclude each other: what comes has no end');
  }
  const toLine = values.json === true ? (row: LedgerRow) => JSON.stringify(describeRow(row)) : toTailLine;
  return async ({ store: { ledger: rows } }: OpenConfiguration) => {
    const newest = await readNewest(rows, filter, limit);
    if (newest.length === 0 && !isFollowed) {
      stderr('postern: the ledger holds no such row');
      return;
    }
    if (values.json !== true) stdout(tailHead);
    for (const row of newest) stdout(toLine(row));
    if (isFollowed) await follow(rows, filter, newest, (row) => stdout(toLine(row)));
  };
}

/** The oldest of them first. */
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

/** Until the process is ended. A row comes when its exchange is over, and so it may be older than the last one shown. */
async function follow(
  store: Pick<LedgerStore, 'page'>,
  filter: LedgerFilter,
  shown: readonly LedgerRow[],
  show: (row: LedgerRow) => void,
): Promise<never> {
  const since = shown[0]?.startedAtMs ?? systemClock.nowMs();
  const recent = { ...filter, fromMs: Math.max(since, filter.fromMs ?? 0) };
  let known = new Set(shown.map(({ id }) => id));
  for (;;) {
    await sleep(followEveryMs);
    const last = known;
    const rows = await readNewest(store, recent, mostRowsPerLook, ({ id }) => last.has(id));
    for (const row of rows) if (!last.has(row.id)) show(row);
    // Those of the former look go once they are out of sight.
    if (rows.length > 0) known = new Set(rows.map(({ id }) => id));
  }
}

function show({ positionals, values, stdout }: CommandContext) {
  const id = (positionals[1] ?? '').trim().toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(id)) {
    throw new UserFault(
      'an ID of the ledger has 32 digits and letters from a to f; it is the x-request-id of the answer',
    );
  }
  return async ({ store: { ledger: rows } }: OpenConfiguration) => {
    const row = await rows.get(id);
    if (row === undefined) {
      throw new UserFault('the ledger holds no row with this ID: it is not over, waits in the journal, or was pruned');
    }
    const capture = await rows.capture(id);
    if (values.json === true) {
      const kept = capture && { request: capture.request, response: capture.response };
      stdout(JSON.stringify({ ...describeRow(row), capture: kept ?? null }, null, 2));
    } else for (const line of toTable(['FIELD', 'VALUE'], toRowLines(row, capture))) stdout(line);
  };
}

function verify({ values, cwd, stdout }: CommandContext) {
  const nowMs = systemClock.nowMs();
  const { fromMs = 0, toMs = nowMs } = readSpan(values, nowMs);
  return async ({ store: { ledger: store }, loaded: { snapshot } }: OpenConfiguration) => {
    for (const { slot, bytes } of await readWaiting(resolve(cwd, snapshot.ledger.directory), store)) {
      stdout(`In the journal, in place ${slot}, ${bytes} bytes wait to go into the store.`);
    }
    const differences = await store.verify(fromMs, toMs);
    for (const sentence of differences) stdout(sentence);
    if (differences.length > 0) {
      const [noun, verb] = differences.length === 1 ? ['place', 'differs'] : ['places', 'differ'];
      throw new UserFault(`${differences.length} ${noun} ${verb}: rows and sums of the ledger do not agree`);
    }
    stdout('Rows and sums agree.');
  };
}
