/** Implements the endpoints for ledger rows, one row with its calls and bodies, exports, a live tail, usage and cost, and the audit log. */

import type * as z from 'zod';
import { countToolCalls, summedNames } from '../../../core/accounting/units.ts';
import { readWholeUsage, totaling, type WholeLine } from '../../../core/accounting/usage-sums.ts';
import type { UsageGroup, UsageLine } from '../../../core/store/ledger.ts';
import type { AuditEntry } from '../../../core/store/store.ts';
import { toCsvText } from '../../../lib/csv.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { parseDollars } from '../../../lib/money.ts';
import { withMasks } from '../../../lib/secrets/secret-shapes.ts';
import { inBackground } from '../../../lib/time-slices.ts';
import { priceDates } from '../../../prices/listed.ts';
import type { ServerEvent } from '../../api/event-stream.ts';
import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import { lookAtField, Problem } from '../../problem.ts';
import { nextOf, toInstant } from '../../shapes/common.ts';
import type { auditEntry } from '../contract/ledger.ts';
import * as contract from '../contract/ledger.ts';
import { exportRows, readRows, toDetail, toFilter, toRow, toShownSums } from '../query.ts';
import type { TailEvent } from '../tail.ts';

export const listLedger = implement(contract.listLedger, async ({ query: { before, limit, ...asked }, context }) => {
  const { rows, next } = await readRows(context.store.ledger, await toLedgerQuery(asked, context), { before, limit });
  return { items: rows.map(toRow), next: next ?? null };
});

export const exportLedger = implement(contract.exportLedger, async ({ query: { format, ...asked }, context }) => {
  return exportRows(context.store.ledger, await toLedgerQuery(asked, context), { format });
});

interface Asked {
  readonly code?: string | undefined;
  readonly minCost?: string | undefined;
  readonly tag?: string | undefined;
}

/** Converts a request's filters to those of the store. */
async function toLedgerQuery<Q extends Asked>({ code, minCost, tag, ...asked }: Q, context: AdminContext) {
  const keys = tag === undefined ? undefined : await keysWith(tag, context);
  return { ...asked, error: code, minCostNanos: minCost === undefined ? undefined : parseDollars(minCost), keys };
}

async function keysWith(tag: string, { configuration, store }: AdminContext): Promise<readonly string[]> {
  const [name = ''] = tag.split(':', 1);
  const text = tag.slice(name.length + 1);
  const keys = [...configuration.snapshot().keys.values(), ...(await store.keys.list())];
  return keys.flatMap(({ id, metadata }) => (metadata[name] === text ? [id] : []));
}

export const tailLedger = implement(contract.tailLedger, ({ query, context, caller, headers, signal }) => {
  const lastId = headers.get('last-event-id') ?? undefined;
  const from = lastId !== undefined && /^[0-9a-f]{32}$/.test(lastId) ? lastId : undefined;
  const { streams, tail } = context;
  return streams.open({ caller, headers, signal, context }, 'viewer', (over) =>
    toEvents(tail.watch(toFilter(query), from, over)),
  );
});

async function* toEvents(events: AsyncIterable<TailEvent>): AsyncGenerator<ServerEvent, void, void> {
  for await (const event of events) {
    if (event.kind === 'row') yield { name: 'row', id: event.row.id, data: toRow(event.row) };
    else yield { name: event.kind, data: {} };
  }
}

export const listLedgerChoices = implement(contract.listLedgerChoices, async ({ context }) => {
  const { keys, projects, models, upstreams } = context.configuration.snapshot();
  const stored = await context.store.keys.list();
  const declared = [...keys.values()].map(({ id }) => ({ id, name: id }));
  return {
    keys: [...stored.map(({ id, name }) => ({ id, name })), ...declared],
    projects: [...projects.values()].map(({ id, name }) => ({ id, name: name ?? id })),
    models: models.all.map(({ id }) => id).filter((id) => !id.includes('*')),
    upstreams: [...upstreams.keys()],
  };
});

export const getLedgerRow = implement(contract.getLedgerRow, async ({ params: { id }, context }) => {
  const { store, configuration } = context;
  const row = await store.ledger.get(id);
  if (row === undefined) throw noSuchRow();
  const hasCapture = (await store.ledger.capture(id)) !== undefined;
  return toDetail(row, { hasCapture, traceUrl: configuration.snapshot().console.traceUrl });
});

export const getCapture = implement(contract.getCapture, async ({ params: { id }, context: { store }, caller }) => {
  const found = await store.ledger.capture(id);
  if (found === undefined) {
    throw new Problem('not_found', {
      detail: 'No bodies of this request are stored: its key has no capture, or its retention has ended.',
    });
  }
  // First, so that every reading is logged.
  await store.audit.add({ actor: actorOf(caller), action: 'capture.read', subject: id, before: null, after: null });
  return { request: found.request, response: found.response, expiresAt: toInstant(found.expiresAtMs) };
});

function noSuchRow(): Problem {
  return new Problem('not_found', {
    detail: 'The ledger has no request with this ID: it is in progress, ended a moment ago, or was pruned.',
  });
}

export const listAudit = implement(contract.listAudit, async ({ query, context: { store } }) => {
  const { from, to, before, limit, ...filter } = query;
  const entries = await store.audit.page({ ...filter, fromMs: from, toMs: to, before, limit: limit + 1 });
  const page = entries.slice(0, limit);
  const hasKeys = page.some(({ action }) => action.startsWith('key.'));
  const names = new Map((hasKeys ? await store.keys.list() : []).map((key) => [key.id, key.name]));
  return { items: page.map((entry) => toEntry(entry, names.get(entry.subject))), next: nextOf(entries, limit) };
});

/** An audit entry as the API shows it. A key is shown by its present name; other and deleted subjects by one in the entry. */
function toEntry({ atMs, ...entry }: AuditEntry, known: string | undefined): z.input<typeof auditEntry> {
  const name = known ?? nameIn(entry.after) ?? nameIn(entry.before);
  return { ...entry, name: name === undefined || name === entry.subject ? null : name, at: toInstant(atMs) };
}

function nameIn(document: unknown): string | undefined {
  return isMapping(document) && typeof document.name === 'string' && document.name !== '' ? document.name : undefined;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const standardSpanMs = 30 * dayMs;
const longestByHourMs = 62 * dayMs;
const mostLines = 20_000;

export const getUsage = implement(contract.getUsage, async ({ query, context: { store, clock, configuration } }) => {
  const { by, from, to, format, ...filter } = query;
  const endMs = to ?? clock.nowMs();
  const fromMs = from ?? Math.max(endMs - standardSpanMs, 0);
  if (by.includes('hour') && endMs - fromMs > longestByHourMs) {
    throw lookAtField('by', 'Groups by hour are limited to 62 days; group by day instead.');
  }
  const lines = await readWholeUsage(store.ledger, { ...filter, fromMs, toMs: to }, by);
  if (lines.length > mostLines) {
    throw lookAtField('by', `The result has ${lines.length} lines; choose a shorter time, or fewer groups.`);
  }
  if (format === 'csv') return toCsv(lines, by);
  const total = await inBackground.timeSliced(totaling(lines));
  return {
    from: toInstant(Math.floor(fromMs / hourMs) * hourMs),
    to: to === undefined ? null : toInstant(Math.ceil(to / hourMs) * hourMs),
    lines: await inBackground.inSlices(lines, (line) => ({
      by: toNames(line.by, by),
      ...toShownSums(line.sums),
      units: line.units,
    })),
    total: { ...toShownSums(total.sums), units: total.units },
    prices: priceDates(configuration.snapshot().models.all),
  };
});

function toNames(names: UsageLine['by'], groups: readonly UsageGroup[]): Partial<Record<UsageGroup, string | null>> {
  return Object.fromEntries(groups.map((group) => [group, names[group] || null]));
}

function toCsv(lines: readonly WholeLine[], groups: readonly UsageGroup[]): Response {
  const columns = contract.usageSums.omit({ units: true }).keyof().options;
  const rows = lines.map((line) => {
    const figures = toShownSums(line.sums);
    return [
      ...groups.map((group) => toCsvText(line.by[group] ?? '')),
      ...columns.map((column) => String(figures[column])),
      ...summedNames.map((name) => String(line.units[name] ?? 0)),
      String(countToolCalls(line.units)),
    ];
  });
  const head = [...groups, ...columns, ...summedNames, 'toolCalls'];
  const text = [head, ...rows].map((row) => `${withMasks(row.join(','))}\r\n`).join('');
  return new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="postern-usage.csv"',
    },
  });
}
