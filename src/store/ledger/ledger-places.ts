/** SQLite: values shared by many ledger rows, by number: names and outcomes. */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerPlaceTable, LedgerTable, Schema } from '../schema.ts';
import { createInsertOfEach, type Insert, inParts, mostPerStatement } from './ledger-insert.ts';
import { dayMs } from './ledger-rows.ts';

/** Clients choose names of models: where this many are known, all are forgotten, and those that were used last are read again. */
const mostKnown = 20_000;
const readAtOnce = 10_000;

type Place = { -readonly [K in keyof LedgerPlaceTable]: LedgerPlaceTable[K] };

/** By node, key and model. */
type KnownPlaces = Map<string, Map<string, Map<string | null, Place[]>>>;

export class Places {
  readonly #insert: Insert<LedgerPlaceTable, unknown>;
  #known: KnownPlaces | undefined = undefined;
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
    this.#known = undefined;
    this.#added = [];
    this.#used.clear();
  }

  /** Sets the place of each row; all are in the store then. */
  async find(
    trx: Transaction<Schema>,
    entries: readonly { readonly row: LedgerTable; place: LedgerPlaceTable | undefined }[],
  ): Promise<void> {
    if (this.#count > mostKnown) this.forget();
    this.#known ??= await this.#read(trx);
    const known = this.#known;
    for (const entry of entries) entry.place = this.#placeOf(entry.row, known);
    if (this.#used.size > 0) await this.#noteUse(trx);
    if (this.#added.length > 0) await this.#add(trx);
  }

  async #read(trx: Transaction<Schema>): Promise<KnownPlaces> {
    const places = await trx
      .selectFrom('ledger_places')
      .selectAll()
      .orderBy('used_at', 'desc')
      .limit(readAtOnce)
      .execute();
    const known: KnownPlaces = new Map();
    // One text for each name: as many as places have would be compared in slow memory.
    const texts = new Map<string | null, string | null>();
    const share = <T extends string | null>(text: T): T => getOrAdd(texts, text, () => text) as T;
    for (const place of places as Place[]) {
      place.node = share(place.node);
      place.route = share(place.route);
      place.operation = share(place.operation);
      place.label = share(place.label);
      place.outcome = share(place.outcome);
      place.error = share(place.error);
      place.cache = share(place.cache);
      place.project = share(place.project);
      place.upstream = share(place.upstream);
      place.upstream_model = share(place.upstream_model);
      listOf(known, place).push(place);
    }
    this.#count = places.length;
    return known;
  }

  #placeOf(row: LedgerTable, known: KnownPlaces): Place {
    const alike = listOf(known, row);
    let place = findIn(alike, row);
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

function listOf(known: KnownPlaces, { node, key, model }: Pick<LedgerTable, 'node' | 'key' | 'model'>): Place[] {
  const ofNode = getOrAdd(known, node, () => new Map());
  const ofKey = getOrAdd(ofNode, key, () => new Map());
  return getOrAdd(ofKey, model, () => []);
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key);
  if (value !== undefined) return value;
  const made = make();
  map.set(key, made);
  return made;
}

/** What is found moves on by one, so that what many rows have is found first. */
function findIn(alike: Place[], row: LedgerTable): Place | undefined {
  const index = alike.findIndex((one) => isOf(row, one));
  const found = alike[index];
  const prior = alike[index - 1];
  if (found !== undefined && prior !== undefined) {
    alike[index - 1] = found;
    alike[index] = prior;
  }
  return found;
}

/** Node, key and model are the same. What differs most comes first. */
const isOf = (row: LedgerTable, place: Place): boolean =>
  place.upstream === row.upstream &&
  place.status === row.status &&
  place.outcome === row.outcome &&
  place.route === row.route &&
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
