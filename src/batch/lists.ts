/** Runs list requests: splits a request, removes duplicates, requests each item once, and merges the results into one response. */

import type { Label } from '../core/label.ts';
import type { ListSought, Lists } from '../core/lists.ts';
import type { Log } from '../core/log.ts';
import type { Operation } from '../core/operations/index.ts';
import { timeSliced } from '../lib/time-slices.ts';
import { createItemCache } from './cache/cache.ts';
import { createRedisSharedCache } from './cache/shared-cache.ts';
import { Coalescer } from './coalesce/coalescer.ts';
import { type Codec, itemsOf } from './codecs/codec.ts';
import { ranks } from './codecs/ranks.ts';
import { vectors } from './codecs/vectors.ts';
import { verdicts } from './codecs/verdicts.ts';
import { cutIn } from './cut.ts';
import { InFlight } from './in-flight.ts';
import { keysFor } from './item-keys.ts';
import { KnownItems, lookUpItems, type ReadList } from './known-items.ts';
import { type RunDeps, runList } from './list-run.ts';
import { toListRequest } from './request.ts';

const codecs: Readonly<Partial<Record<Operation, Codec>>> = {
  embeddings: vectors,
  rerank: ranks,
  moderations: verdicts,
};

const isRead = (label: Label): boolean => label === 'openai' || label === 'engines';

export interface ListsDeps {
  /** The Redis URL of the shared cache; undefined where each process has a cache of its own only. */
  readonly redis: string | undefined;
  readonly log: Log;
}

/** Reads the items of a list request; undefined where the request cannot be split. */
async function readList({ exchange: { route }, resolved, body, list }: ListSought): Promise<ReadList | undefined> {
  const codec = route === undefined || !isRead(route.label) ? undefined : codecs[route.operation];
  if (codec === undefined) return undefined;
  const { matryoshka, dimensions } = resolved.model;
  const whole = toListRequest(body, list);
  const cut = matryoshka && codec === vectors ? cutIn(whole, dimensions) : undefined;
  const request = cut?.request ?? whole;
  const kind = codec.takes(request);
  if (kind === undefined) return undefined;
  return { codec, request, items: await timeSliced(itemsOf(request, kind)), cutTo: cut?.width };
}

export function createLists({ redis, log }: ListsDeps): Lists {
  let sharedCache: ReturnType<typeof createRedisSharedCache> | undefined;
  const cache = createItemCache(() => {
    if (redis !== undefined) sharedCache ??= createRedisSharedCache(redis, log);
    return sharedCache;
  });
  const generations = new Map<string, number>();
  const deps: RunDeps = {
    cache,
    inFlight: new InFlight(),
    coalescer: new Coalescer(),
    keysFor: (asked, codec, request) => keysFor(asked, codec, request, generations.get(asked.resolved.model.id) ?? 0),
  };

  return {
    async lookUp(sought) {
      const read = await readList(sought);
      return read && lookUpItems(sought, read, deps);
    },
    async answer(asked) {
      const { remembered, freshness } = asked;
      const before = remembered instanceof KnownItems ? remembered : undefined;
      const read = before?.read ?? (await readList(asked));
      if (read === undefined) return asked.asOne();
      const known = before ?? (freshness === undefined ? await lookUpItems(asked, read, deps) : undefined);
      return runList(read.cutTo === undefined ? asked : { ...asked, mayPass: false }, read, known, deps);
    },
    cleared(counts) {
      for (const [model, count] of counts) {
        if (generations.get(model) === count) continue;
        generations.set(model, count);
        cache.forget(model);
      }
    },
    state: cache.state,
    close: () => sharedCache?.close(),
  };
}
