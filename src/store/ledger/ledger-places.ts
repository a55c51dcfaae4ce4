/** What many rows of the ledger have in common, by number: their names, and how they ended. In SQLite alone. */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerPlaceTable, LedgerTable, Schema } from '../schema.ts';
import { createInsertOfEach, type Insert, inParts, mostPerStatement } from './ledger-insert.ts';
import { dayMs } from './ledger-rows.ts';

/** Clients choose names of models: where this many are known, all are forgotten, and those that were used last are read again. */
const mostKnown = 20_000;
const readAtOnce = 10_000;

type Place = { -readonly [K in keyof LedgerPlaceTable]: LedgerPlaceTable[K] };

/** And by model. */
type PlacesByKey = Map<string, Map<string | null, Place[]>>;

export class Places {
  readonly #insert: Insert<LedgerPlaceTable, unknown>;
  #byKey: PlacesByKey | undefined = undefined;
  #count = 0;
  /** Not in the store yet. */
  #added: Place[] = [];
  /** A row that began more than a day after the time that the store has for its place. */
  readonly #used = new Set<Place>();

  constructor(db: Kysely<Schema>) {
    this.#insert = createInsertOfEach((place: LedgerPlaceTable) =>
      db.insertInto('ledger_places').values(place).compile(),
    );
  }

  /** After a transaction that failed: what it wrote is not there. */
  forget(): void {
    this.#byKey = undefined;
    this.#added = [];
    this.#used.clear();
  }

  /** Sets the place of each row; all are in the store then. */
  async find(
    trx: Transaction<Schema>,
    entries: readonly { readonly row: LedgerTable; place: LedgerPlaceTable | undefined }[],
  ): Promise<void> {
    if (this.#count > mostKnown) this.forget();
    this.#byKey ??= await this.#read(trx);
    const byKey = this.#byKey;
    for (const entry of entries) entry.place = this.#placeOf(entry.row, byKey);
    if (this.#used.size > 0) await this.#noteUse(trx);
    if (this.#added.length > 0) await this.#add(trx);
  }

  async #read(trx: Transaction<Schema>): Promise<PlacesByKey> {
    const places = await trx
      .selectFrom('ledger_places')
      .selectAll()
      .orderBy('used_at', 'desc')
      .limit(readAtOnce)
      .execute();
    const byKey: PlacesByKey = new Map();
    for (const place of places) listOf(byKey, place).push(place);
    this.#count = places.length;
    return byKey;
  }

  #placeOf(row: LedgerTable, byKey: PlacesByKey): Place {
    const alike = listOf(byKey, row);
    let place = alike.find((one) => isOf(row, one));
    if (place === undefined) {
      place = toPlace(row);
      alike.push(place);
      this.#added.push(place);
      this.#count += 1;
    } else if (row.started_at > place.used_at + dayMs) {
      if (place.id > 0) this.#used.add(place);
      place.used_at = row.started_at;
    }
    return place;
  }

  /** One that is gone meanwhile, as nothing was left that had it, comes anew. */
  async #noteUse(trx: Transaction<Schema>): Promise<void> {
    for (const part of inParts([...this.#used], mostPerStatement)) {
      const usedAt = Math.max(...part.map(({ used_at }) => used_at));
      const there = await trx
        .updateTable('ledger_places')
        // Another process may have had one of them later.
        .set({ used_at: sql<number>`max(used_at, ${usedAt})` })
        .where(
          'id',
          'in',
          part.map(({ id }) => id),
        )
        .returning('id')
        .execute();
      const ids = new Set(there.map(({ id }) => id));
      this.#added.push(...part.filter(({ id }) => !ids.has(id)));
    }
    this.#used.clear();
  }

  async #add(trx: Transaction<Schema>): Promise<void> {
    const { last } = await trx
      .selectFrom('ledger_places')
      .select(({ fn }) => fn.max('id').as('last'))
      .executeTakeFirstOrThrow();
    let number = Number(last ?? 0);
    for (const place of this.#added) place.id = ++number;
    await this.#insert(trx, this.#added);
    this.#added = [];
  }
}

function listOf(byKey: PlacesByKey, { key, model }: Pick<LedgerTable, 'key' | 'model'>): Place[] {
  const byModel = byKey.get(key) ?? new Map<string | null, Place[]>();
  if (byModel.size === 0) byKey.set(key, byModel);
  const known = byModel.get(model);
  if (known !== undefined) return known;
  const list: Place[] = [];
  byModel.set(model, list);
  return list;
}

/** Key and model are the same. What differs most comes first. */
const isOf = (row: LedgerTable, place: Place): boolean =>
  place.upstream === row.upstream &&
  place.status === row.status &&
  place.outcome === row.outcome &&
  place.route === row.route &&
  place.node === row.node &&
  place.cache === row.cache &&
  place.error === row.error &&
  place.is_estimated === row.is_estimated &&
  place.upstream_model === row.upstream_model &&
  place.project === row.project &&
  place.label === row.label &&
  place.operation === row.operation;

/** Always with the same columns in the same order; its number comes later. */
const toPlace = (row: LedgerTable): Place => ({
  id: 0,
  used_at: row.started_at,
  outcome: row.outcome,
  status: row.status,
  error: row.error,
  cache: row.cache,
  is_estimated: row.is_estimated,
  node: row.node,
  key: row.key,
  project: row.project,
  route: row.route,
  operation: row.operation,
  label: row.label,
  upstream: row.upstream,
  upstream_model: row.upstream_model,
  model: row.model,
});
