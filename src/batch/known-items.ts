/** Looks up the cached items of a list before limits and budgets are reserved for it. */

import type { Buffer } from 'node:buffer';
import type { ListSought, Remembered } from '../core/lists.ts';
import type { ResolvedModel } from '../core/snapshot.ts';
import { isSliceOver, nextSlice } from '../lib/time-slices.ts';
import type { ItemCache } from './cache/cache.ts';
import type { Codec, Items, ListRequest } from './codecs/codec.ts';
import type { Found } from './found.ts';
import { weightOf } from './parts.ts';

export interface ReadList {
  readonly codec: Codec;
  readonly request: ListRequest;
  readonly items: Items;
  /** The width to which the vectors are truncated; undefined where they are not. */
  readonly cutTo: number | undefined;
}

export interface LookUpDeps {
  readonly cache: ItemCache;
  keysFor(sought: ListSought, codec: Codec, request: ListRequest): (item: Buffer) => string;
}

export class KnownItems implements Remembered {
  readonly missing: number;
  readonly knownBytes: number;
  readonly missingShare: number;
  readonly read: ReadList;
  readonly keys: readonly string[];
  readonly found: ReadonlyMap<string, Found>;

  constructor(read: ReadList, keys: readonly string[], found: ReadonlyMap<string, Found>) {
    this.read = read;
    this.keys = keys;
    this.found = found;
    const missing = new Set<string>();
    let knownBytes = 0;
    let missingWeight = 0;
    let weight = 0;
    for (const [index, item] of read.items.bytes.entries()) {
      const key = keys[index] ?? '';
      weight += weightOf(item);
      if (found.has(key)) knownBytes += item.length;
      else {
        missing.add(key);
        missingWeight += weightOf(item);
      }
    }
    this.missing = missing.size;
    this.knownBytes = knownBytes;
    this.missingShare = missingWeight / Math.max(1, weight);
  }
}

/** The items that the cache knows; undefined where the model has no cache. */
export async function lookUpItems(
  sought: ListSought,
  read: ReadList,
  { cache, keysFor }: LookUpDeps,
): Promise<KnownItems | undefined> {
  const { model } = sought.resolved;
  if (model.cache === undefined) return undefined;
  const keyOf = keysFor(sought, read.codec, read.request);
  const keys: string[] = [];
  for (const item of read.items.bytes) {
    keys.push(keyOf(item));
    if (isSliceOver()) await nextSlice();
  }
  const found = await cache.read(model, model.cache, [...new Set(keys)]);
  const wanted = declaredWidthOf(read.request, sought.resolved);
  if (wanted === undefined) return new KnownItems(read, keys, found);
  // Vectors of another width came from another model.
  const fitting = [...found].filter(([, { result }]) => (result.width ?? wanted) === wanted);
  return new KnownItems(read, keys, new Map(fitting));
}

/** The width that the operator declares for the model; undefined where the client asks for another width or kind of numbers. */
export function declaredWidthOf({ members }: ListRequest, { model }: ResolvedModel): number | undefined {
  const isAskedFor = members.some(({ name }) => /dimension|output_dtype|embedding_type/.test(name));
  return isAskedFor ? undefined : model.dimensions;
}
