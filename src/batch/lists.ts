/** Takes a request for a list of things apart, asks for each thing once, and puts one answer together. */

import type { Label } from '../core/label.ts';
import type { Lists } from '../core/lists.ts';
import type { Log } from '../core/log.ts';
import type { Operation } from '../core/operations/index.ts';
import { inTurns } from '../lib/turns.ts';
import { createItemCache } from './cache/cache.ts';
import { createRedisShelf } from './cache/shelf.ts';
import { Coalescer } from './coalesce/coalescer.ts';
import { type Codec, itemsOf } from './codecs/codec.ts';
import { ranks } from './codecs/ranks.ts';
import { vectors } from './codecs/vectors.ts';
import { verdicts } from './codecs/verdicts.ts';
import { cutIn } from './cut.ts';
import { InFlight } from './in-flight.ts';
import { keysFor } from './keys.ts';
import { ListRun, type RunDeps } from './list-run.ts';
import { toListRequest } from './request.ts';

const codecs: Readonly<Partial<Record<Operation, Codec>>> = {
  embeddings: vectors,
  rerank: ranks,
  moderations: verdicts,
};

/** Bytes that pass between clients and services of one wire are as these have them. */
const isRead = (label: Label): boolean => label === 'openai' || label === 'engines';

export interface ListsDeps {
  /** Where all nodes remember items together; undefined where each does by itself. */
  readonly redis: string | undefined;
  readonly log: Log;
}

export function createLists({ redis, log }: ListsDeps): Lists {
  let shelf: ReturnType<typeof createRedisShelf> | undefined;
  const cache = createItemCache(() => {
    if (redis !== undefined) shelf ??= createRedisShelf(redis, log);
    return shelf;
  });
  const generations = new Map<string, number>();
  const deps: RunDeps = {
    cache,
    inFlight: new InFlight(),
    coalescer: new Coalescer(),
    keysFor: (asked, codec, request) => keysFor(asked, codec, request, generations.get(asked.resolved.model.id) ?? 0),
  };

  return {
    async answer(asked) {
      const { route } = asked.exchange;
      const codec = route === undefined || !isRead(route.label) ? undefined : codecs[route.operation];
      if (codec === undefined) return asked.asOne();
      const { matryoshka, dimensions } = asked.resolved.model;
      const whole = toListRequest(asked.body, asked.list);
      const cut = matryoshka && codec === vectors ? cutIn(whole, dimensions) : undefined;
      const request = cut?.request ?? whole;
      const kind = codec.takes(request);
      if (kind === undefined) return asked.asOne();
      const items = await inTurns(itemsOf(request, kind));
      return new ListRun(
        cut === undefined ? asked : { ...asked, mayPass: false },
        codec,
        request,
        items,
        deps,
        cut?.width,
      ).run();
    },
    cleared(counts) {
      for (const [model, count] of counts) {
        if (generations.get(model) === count) continue;
        generations.set(model, count);
        cache.forget(model);
      }
    },
    state: cache.state,
    close: () => shelf?.close(),
  };
}
