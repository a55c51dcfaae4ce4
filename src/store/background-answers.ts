/** Stores background responses in the database: each is polled by one node, as long as that node is alive. */

import type { Kysely, Selectable } from 'kysely';
import { estimateOfEach, type RequestEstimate } from '../core/accounting/price.ts';
import { readUnits } from '../core/accounting/units.ts';
import { type Usage, usageCounts, type Written } from '../core/accounting/usage.ts';
import {
  type BackgroundAnswer,
  type BackgroundEnd,
  type BackgroundStore,
  backgroundStatuses,
} from '../core/store/background-answers.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { recordOf } from '../lib/record-of.ts';
import { fromRow, toRow } from './columns.ts';
import { insertNew } from './ledger/ledger-insert.ts';
import type { Schema } from './schema.ts';

/** Another node takes over a response that was not polled for this time; a live node polls well within it. */
const takenOverAfterMs = 60_000;

export function createBackgroundStore(
  db: Kysely<Schema>,
  quick: Kysely<Schema>,
  clock: { nowMs(): number },
  table: 'background_answers' | 'batches',
): BackgroundStore {
  return {
    async add({ estimate, end: _, ...answer }, node, dueAtMs) {
      const hands = { due_at: dueAtMs, node, node_until: clock.nowMs() + takenOverAfterMs };
      const row = { ...toRow(answer), asking: JSON.stringify(estimate), ended: null, ...hands };
      await insertNew(quick, table, [row]);
    },

    async get(id, upstream) {
      const row = await quick
        .selectFrom(table)
        .selectAll()
        .where((is) => is.and({ id, upstream }))
        .executeTakeFirst();
      return row && toAnswer(row);
    },

    async reportEnd({ id, upstream }, end) {
      await quick
        .updateTable(table)
        .set({ ended: JSON.stringify(end), due_at: clock.nowMs() })
        .where((is) => is.and({ id, upstream }))
        .execute();
    },

    async claim(node, { handsMs: forMs, most }) {
      const nowMs = clock.nowMs();
      const due = db
        .selectFrom(table)
        .select(['id', 'upstream'])
        .where('due_at', '<=', nowMs)
        .where(({ or, eb }) => or([eb('node', '=', node), eb('node_until', '<', nowMs)]))
        .orderBy('due_at')
        .limit(most);
      const rows = await db
        .updateTable(table)
        .set({ node, node_until: nowMs + forMs })
        .where(({ eb, refTuple }) => eb(refTuple('id', 'upstream'), 'in', due.$asTuple('id', 'upstream')))
        // Another node may have taken the response over meanwhile.
        .where(({ or, eb }) => or([eb('node', '=', node), eb('node_until', '<', nowMs)]))
        .returningAll()
        .execute();
      return rows.map(toAnswer);
    },

    async postpone({ id, upstream }, node, dueAtMs) {
      const nodeUntil = Math.max(clock.nowMs(), dueAtMs) + takenOverAfterMs;
      await db
        .updateTable(table)
        .set({ due_at: dueAtMs, node_until: nodeUntil })
        .where((is) => is.and({ id, upstream, node }))
        .execute();
    },

    async remove({ id, upstream }) {
      await db.deleteFrom(table).where('id', '=', id).where('upstream', '=', upstream).execute();
    },

    async ofProject(project) {
      const rows = await quick.selectFrom(table).selectAll().where('project', '=', project).execute();
      return rows.map(toAnswer);
    },

    async release(node) {
      await db.updateTable(table).set({ node_until: 0 }).where('node', '=', node).execute();
    },
  };
}

type Row = Selectable<Schema['background_answers']>;

function toAnswer({ asking, ended, due_at: _due, node: _node, node_until: _until, ...row }: Row): BackgroundAnswer {
  const end = ended === null ? undefined : toEnd(readJson(ended));
  return { ...fromRow(row), estimate: toRequestEstimate(readJson(asking)), end };
}

/** The response's end as stored; undefined where another version wrote it differently, so that the end is polled again. */
function toEnd(value: unknown): BackgroundEnd | undefined {
  if (!isMapping(value)) return undefined;
  const status = backgroundStatuses.find((one) => one === value.status);
  if (status === undefined) return undefined;
  const { bytes, usage, written } = value;
  return {
    status,
    usage: isMapping(usage) ? toUsage(usage) : null,
    written: isMapping(written) ? toWritten(written) : undefined,
    bytes: numberOf(bytes) ?? 0,
  };
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function toUsage(said: Readonly<Record<string, unknown>>): Usage {
  const units = readUnits(said.units);
  return {
    ...recordOf(usageCounts, (name) => numberOf(said[name])),
    ...(units !== undefined && { units }),
  };
}

function toWritten(said: Readonly<Record<string, unknown>>): Written {
  const { texts, bytes, choices } = said;
  return { texts: numberOf(texts) ?? 0, bytes: numberOf(bytes) ?? 0, sample: '', choices: numberOf(choices) ?? 1 };
}

export function toRequestEstimate(value: unknown): RequestEstimate {
  const number = (name: string): number => {
    const found = isMapping(value) ? value[name] : undefined;
    return typeof found === 'number' ? found : 0;
  };
  return {
    ...estimateOfEach(number),
    ...toTermsAndTools(value),
    ...toBatch(value),
  };
}

function toBatch(value: unknown): Pick<RequestEstimate, 'batch'> {
  const batch = isMapping(value) ? value.batch : undefined;
  if (!isMapping(batch) || typeof batch.path !== 'string' || typeof batch.lines !== 'number') return {};
  return { batch: { path: batch.path, lines: batch.lines } };
}

function toTermsAndTools(value: unknown): Pick<RequestEstimate, 'terms' | 'tools'> {
  if (!isMapping(value)) return {};
  const { terms, tools } = value;
  const known = readUnits(terms);
  const kinds =
    isMapping(tools) && Array.isArray(tools.kinds) ? tools.kinds.filter((kind) => typeof kind === 'string') : [];
  const most = isMapping(tools) ? (numberOf(tools.most) ?? undefined) : undefined;
  const sure = isMapping(tools) && tools.areSure === true ? ({ areSure: true } as const) : {};
  return { ...(known !== undefined && { terms: known }), ...(kinds.length > 0 && { tools: { kinds, most, ...sure } }) };
}
