/** Interface between pipeline and list engine: operations that map over a list, and the limits of one call. */

import type { Buffer } from 'node:buffer';
import { isMapping } from '../lib/is-mapping.ts';
import type { JsonField } from '../lib/json/json-scan.ts';
import type { CacheUse } from './cache-use.ts';
import type { Candidate } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import { upstreamNameOf } from './model-name.ts';
import type { Operation } from './operations/index.ts';
import type { Answer } from './outcome.ts';
import type { ResolvedModel, Upstream } from './snapshot.ts';
import type { SettingStore } from './store/resources.ts';
import { type ListLimits, limitsFor } from './translation.ts';

/** Operations that treat each item of a list alike. */
export const listOperations: ReadonlySet<Operation> = new Set(['embeddings', 'rerank', 'moderations']);

/** The operator's limits override the family's, except where a call may hold one item only. */
export function limitsOf({ target, offer }: Candidate, matched = ''): ListLimits {
  const { upstream, model, limits: said } = target;
  const { limits = isAtHome(upstream) ? offer.limitsAtHome : undefined } = offer.translation ?? {};
  const known = limitsFor(limits, upstreamNameOf(model, matched), upstream.options);
  return said === undefined ? known : { ...known, ...said, ...(known.items === 1 && { items: 1 }) };
}

function isAtHome({ family, origin }: Upstream): boolean {
  return family.baseUrl !== undefined && new URL(family.baseUrl).origin === origin;
}

/** The smallest of each; infinite where none is set. */
export function tightest(limits: readonly ListLimits[]): Readonly<Record<keyof ListLimits, number>> {
  const least = (of: (one: ListLimits) => number | undefined): number =>
    Math.min(...limits.map((one) => of(one) ?? Number.POSITIVE_INFINITY));
  return {
    items: least(({ items }) => items),
    tokens: least(({ tokens }) => tokens),
    bytes: least(({ bytes }) => bytes),
  };
}

/** Some items of a request, sent as a call of their own. */
export interface Part {
  readonly body: Buffer;
  readonly items: number;
  /** It may wait for a slot of an upstream; else it is sent only where one is free at once. */
  readonly waits: boolean;
  fits(candidate: Candidate): boolean;
  /** An item's index in the whole list; undefined where the part has no such item. Without the function, the part has all items. */
  readonly indexInWhole?: ((item: number) => number | undefined) | undefined;
  /** Rejects with `Unfit` where an answer's bytes do not match the request: another target is tried. */
  judge(bytes: Buffer): Promise<void>;
}

/** How a part was answered: successfully, and read whole, or by an answer that carries the error. */
export type PartOutcome =
  | ReadPart
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'no slot' }
  /** After `finish`: the call was sent, and its answer was not awaited. It is billed by an estimate. */
  | { readonly kind: 'unheard'; readonly exchange: Exchange };

export interface ReadPart {
  readonly kind: 'read';
  readonly bytes: Buffer;
  readonly answer: Answer;
  readonly exchange: Exchange;
}

export interface PartWork {
  /** Rejects with a `GatewayError` where there is no answer. */
  readonly outcome: Promise<PartOutcome>;
  /** Starts no further call. The answer to a running call is awaited briefly, so that its cost is known. */
  finish(): void;
}

export interface ListSought {
  readonly exchange: Exchange;
  readonly resolved: ResolvedModel;
  readonly body: Buffer;
  readonly list: JsonField;
  /** What else changes the answer: the shape, fields of a client API, the permitted upstreams. */
  readonly identity: string;
}

/** What the cache holds of a list, looked up before anything is reserved. */
export interface Remembered {
  /** Distinct items that are not in the cache. */
  readonly missing: number;
  /** Bytes of the other items in the body. */
  readonly knownBytes: number;
  /** The missing items' share of the length of all items. */
  readonly missingShare: number;
}

/** A request whose list may be split. */
export interface ListAsked extends ListSought {
  /** The best first. */
  readonly candidates: readonly Candidate[];
  /** The result of `lookUp`; without it, items are looked up when they are needed. */
  readonly remembered: Remembered | undefined;
  /** Whether a list that one target can take may be sent unchanged. */
  readonly mayPass: boolean;
  /** The client's cache control: ask for remembered items again, and perhaps do not store them. */
  readonly freshness: 'no-cache' | 'no-store' | undefined;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** The unchanged request, to targets that can take it; bytes pass. */
  asOne(fits?: (candidate: Candidate) => boolean): Promise<Answer>;
  /** Begins a call of its own, with its own attempts. */
  ask(part: Part): PartWork;
  /** The same for items of several requests, this one among them: it continues when this client leaves. */
  askForSeveral(part: Part): PartWork;
  /** Splits the cost of a joint call by weight; the shares add up to it. */
  share(part: Exchange, among: readonly { readonly items: number; readonly weight: number }[]): readonly Exchange[];
  /** Bills a part that was served, or may have been, to this request: also when the request ends in an error. */
  owes(part: Exchange): void;
}

/** One answer, and the calls that it was built from. */
export interface ListAnswered {
  readonly bytes: Buffer;
  /** The first one's head becomes the answer's; empty where every item was in the cache. */
  readonly parts: readonly ReadPart[];
  /** Undefined where no cache is on. */
  readonly cacheUse: CacheUse | undefined;
  /** For each item from the cache: its counts when it was computed, by path. */
  readonly saved: readonly ReadonlyMap<string, string>[];
  /** Some of these counts are computed: an answer for several items, divided by their lengths. */
  readonly isAbout: boolean;
  readonly origin: {
    readonly contentType: string | undefined;
    /** The answer's translation, and what was left out of the call. */
    readonly translatedBy: string | undefined;
    readonly ignored: readonly string[];
  };
}

export interface Lists {
  /** Undefined where nothing can be in the cache. Throws a `GatewayError` for the client's faults. */
  lookUp(sought: ListSought): Promise<Remembered | undefined>;
  /** Returns an `Answer` where one passes unchanged, or is an error for the client. */
  answer(asked: ListAsked): Promise<ListAnswered | Answer>;
  /** How often the cache of each model was cleared, by its ID: items stored under a lower count are dropped. */
  cleared(counts: ReadonlyMap<string, number>): void;
  /** The size of this process's cache. */
  state(): { readonly items: number; readonly bytes: number };
  close(): void;
}

/** The setting of the store that counts how often the cache of each model was cleared. */
export const clearedCaches = 'cleared_caches';

/** Clears a model's cached items on every node. */
export async function forgetItemsOf(
  settings: Pick<SettingStore, 'get' | 'set'>,
  model: string,
  actor: string,
): Promise<void> {
  const counts = readClearedCaches(await settings.get(clearedCaches));
  await settings.set(clearedCaches, Object.fromEntries([...counts, [model, (counts.get(model) ?? 0) + 1]]), actor);
}

export function readClearedCaches(value: unknown): ReadonlyMap<string, number> {
  if (!isMapping(value)) return new Map();
  return new Map(
    Object.entries(value).flatMap(([model, count]) => (typeof count === 'number' ? [[model, count]] : [])),
  );
}
