/** Keeps values that many SQLite ledger rows share, such as names and outcomes, in a table, and gives each a number. */

import type { SQLInputValue } from 'node:sqlite';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { pick } from '../../lib/record-of.ts';
import { type LedgerSharedTable, nameColumns, type Schema } from '../schema.ts';
import { createInsertOfEach, type Insert, inParts, mostPerStatement } from './ledger-insert.ts';
import { dayMs, type RowNames, toNames } from './ledger-rows.ts';

/** Limit of cached entries, as clients may choose model names: beyond it the cache is emptied, and recent entries are read again. */
const mostKnown = 20_000;
const readAtOnce = 10_000;

/** Fields that have the same names in a row and in the table of shared values. */
type SharedNames = Pick<
  RowNames,
  'project' | 'route' | 'operation' | 'label' | 'upstream' | 'outcome' | 'status' | 'error' | 'cache'
>;

type SharedRow = { -readonly [K in keyof LedgerSharedTable]: LedgerSharedTable[K] };

/** Columns in the order of the insert statement. New rows have their columns in another order than those read from the table. */
const columns = ['id', 'used_at', ...nameColumns] as const;
const toValues = (shared: SharedRow): SQLInputValue[] => columns.map((column) => shared[column]);

/** Cached entries, nested by node, key and model. */
type KnownRows = Map<string, Map<string, Map<string | null, SharedRow[]>>>;

export class SharedValues {
  readonly #insert: Insert<SharedRow, unknown>;
  #known: KnownRows | undefined = undefined;
  #count = 0;
  #unsaved: SharedRow[] = [];
  /** Entries that a row used more than a day after their stored `used_at`, which must be updated. */
  readonly #used = new Set<SharedRow>();

  constructor(db: Kysely<Schema>) {
    const names = columns.map((column) => sql.ref(column));
    const values = columns.map(() => null);
    const insert = sql`insert into ledger_places (${sql.join(names)}) values (${sql.join(values)})`;
    this.#insert = createInsertOfEach(() => insert.compile(db), toValues);
  }

  /** Forgets everything. To be called after a failed transaction, whose writes are undone. */
  forget(): void {
    this.#known = undefined;
    this.#unsaved = [];
    this.#used.clear();
  }

  /** Reads the cache if it is empty. To be called before `valuesOf`. */
  async open(trx: Transaction<Schema>): Promise<void> {
    if (this.#count > mostKnown) this.forget();
    this.#known ??= await this.#read(trx);
  }

  /** The shared values of a row. New ones get their number only by `save`. */
  valuesOf(row: LedgerRow, startedAtMs: number): LedgerSharedTable {
    const known = this.#known ?? new Map();
    const alike = known.get(row.node)?.get(row.key)?.get(row.model);
    const shared = alike && findIn(alike, row, row.isEstimated ? 1 : 0, row.upstreamModel);
    return this.#use(shared ?? this.#take(toNames(row), startedAtMs, known), startedAtMs);
  }

  valuesOfNames(names: RowNames, startedAtMs: number): LedgerSharedTable {
    return this.#use(this.#take(names, startedAtMs, this.#known ?? new Map()), startedAtMs);
  }

  /** Stores new shared values. To be called in the transaction that writes the rows. */
  async save(trx: Transaction<Schema>): Promise<void> {
    if (this.#used.size > 0) await this.#noteUse(trx);
    if (this.#unsaved.length > 0) await this.#add(trx);
  }

  async #read(trx: Transaction<Schema>): Promise<KnownRows> {
    const rows = await trx
      .selectFrom('ledger_places')
      .selectAll()
      .orderBy('used_at', 'desc')
      .limit(readAtOnce)
      .execute();
    const known: KnownRows = new Map();
    // One object per text: comparing as many copies as there are entries would miss the CPU's caches.
    const texts = new Map<unknown, unknown>();
    const share = (value: unknown): unknown => getOrMake(texts, value, () => value);
    for (const shared of rows as SharedRow[]) {
      for (const column of nameColumns) Reflect.set(shared, column, share(shared[column]));
      listOf(known, shared).push(shared);
    }
    this.#count = rows.length;
    return known;
  }

  #take(names: RowNames, startedAtMs: number, known: KnownRows): SharedRow {
    const alike = listOf(known, names);
    const found = findIn(alike, names, names.is_estimated, names.upstream_model);
    if (found !== undefined) return found;
    const shared: SharedRow = { id: 0, used_at: startedAtMs, ...pick(names, nameColumns) };
    alike.push(shared);
    this.#unsaved.push(shared);
    this.#count += 1;
    return shared;
  }

  #use(shared: SharedRow, startedAtMs: number): SharedRow {
    if (startedAtMs > shared.used_at + dayMs) {
      if (shared.id > 0) this.#used.add(shared);
      shared.used_at = startedAtMs;
    }
    return shared;
  }

  /** Updates `used_at`. An entry that was deleted in the meantime, as no row used it, is inserted again. */
  async #noteUse(trx: Transaction<Schema>): Promise<void> {
    for (const part of inParts([...this.#used], mostPerStatement)) {
      const usedAt = Math.max(...part.map(({ used_at }) => used_at));
      const there = await trx
        .updateTable('ledger_places')
        // Another process may have used one later.
        .set({ used_at: sql<number>`max(used_at, ${usedAt})` })
        .where(
          'id',
          'in',
          part.map(({ id }) => id),
        )
        .returning('id')
        .execute();
      const ids = new Set(there.map(({ id }) => id));
      this.#unsaved.push(...part.filter(({ id }) => !ids.has(id)));
    }
    this.#used.clear();
  }

  async #add(trx: Transaction<Schema>): Promise<void> {
    const { last } = await trx
      .selectFrom('ledger_places')
      .select(({ fn }) => fn.max('id').as('last'))
      .executeTakeFirstOrThrow();
    let number = Number(last ?? 0);
    for (const shared of this.#unsaved) shared.id = ++number;
    await this.#insert(trx, this.#unsaved);
    this.#unsaved = [];
  }
}

function listOf(known: KnownRows, { node, key, model }: Pick<RowNames, 'node' | 'key' | 'model'>): SharedRow[] {
  const ofNode = getOrMake(known, node, () => new Map());
  const ofKey = getOrMake(ofNode, key, () => new Map());
  return getOrMake(ofKey, model, () => []);
}

/** Finds the entry with the same values and moves it forward by one position, so that frequent ones are found first. */
function findIn(alike: SharedRow[], row: SharedNames, isEstimated: number, upstreamModel: string | null) {
  let index = 0;
  while (index < alike.length && !isOf(row, isEstimated, upstreamModel, alike[index])) index++;
  const found = alike[index];
  const prior = alike[index - 1];
  if (found !== undefined && prior !== undefined) {
    alike[index - 1] = found;
    alike[index] = prior;
  }
  return found;
}

/** Whether an entry has the row's values. Node, key and model are equal already; the column that differs most is compared first. */
const isOf = (
  row: SharedNames,
  isEstimated: number,
  upstreamModel: string | null,
  shared: SharedRow | undefined,
): boolean =>
  shared !== undefined &&
  shared.upstream === row.upstream &&
  shared.status === row.status &&
  shared.outcome === row.outcome &&
  shared.route === row.route &&
  shared.cache === row.cache &&
  shared.error === row.error &&
  shared.is_estimated === isEstimated &&
  shared.upstream_model === upstreamModel &&
  shared.project === row.project &&
  shared.label === row.label &&
  shared.operation === row.operation;
