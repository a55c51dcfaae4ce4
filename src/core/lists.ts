/** Interface to the list engine, which splits, caches and merges operations that map over a list; and the limits of one call. */

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

/** The limits of one call to a target: the operator's override the family's, except where a call may hold one item only. */
export function limitsOf({ target, offer }: Candidate, matched = ''): ListLimits {
  const { upstream, model, limits: said } = target;
  const { limits = isAtHome(upstream) ? offer.limitsAtHome : undefined } = offer.translation ?? {};
  const known = limitsFor(limits, upstreamNameOf(model, matched), upstream.options);
  return said === undefined ? known : { ...known, ...said, ...(known.items === 1 && { items: 1 }) };
}

function isAtHome({ family, origin }: Upstream): boolean {
  return family.baseUrl !== undefined && new URL(family.baseUrl).origin === origin;
}

/** The smallest of each limit; infinite where none is set. */
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
  /** The part may wait for a slot of an upstream; else it is sent only where one is free at once. */
  readonly waits: boolean;
  fits(candidate: Candidate): boolean;
  /** Converts an item's index in the part to its index in the whole list; undefined for an unknown item. Absent where the part has all items. */
  readonly indexInWhole?: ((item: number) => number | undefined) | undefined;
  /** Checks an answer's bytes; rejects with `Unfit` where they do not match the request, and another target is tried. */
  judge(bytes: Buffer): Promise<void>;
}

/** How a part was answered: successfully and completely read, or by an answer that carries the error, or not at all. */
export type PartOutcome =
  | ReadPart
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'no slot' }
  /** The call was sent, but `finish` ended the wait for its answer. It is billed by an estimate. */
  | { readonly kind: 'unheard'; readonly exchange: Exchange };

export interface ReadPart {
  readonly kind: 'read';
  readonly bytes: Buffer;
  readonly answer: Answer;
  readonly exchange: Exchange;
  /** Whether the call had items of other requests too. */
  readonly isJoint?: boolean;
}

export interface PartWork {
  /** The result; rejects with a `GatewayError` where there is no answer. */
  readonly outcome: Promise<PartOutcome>;
  /** Stops the part: no further call begins. The answer to a running call is awaited briefly, so that its cost is known. */
  finish(): void;
}

export interface ListSought {
  readonly exchange: Exchange;
  readonly resolved: ResolvedModel;
  readonly body: Buffer;
  readonly list: JsonField;
  /** What determines the answer besides the items: the shape, fields of a client API, the permitted upstreams. */
  readonly identity: string;
}

/** What the cache knows of a request's list, looked up before anything is reserved. */
export interface Remembered {
  /** Number of distinct items that are not in the cache. */
  readonly missing: number;
  /** Bytes that the cached items take in the request body. */
  readonly knownBytes: number;
  /** Share of the missing items in the total length of all items. */
  readonly missingShare: number;
}

export interface ListAsked extends ListSought {
  readonly candidates: readonly Candidate[];
  /** The result of `lookUp`; without it, items are looked up in the cache when they are needed. */
  readonly remembered: Remembered | undefined;
  /** Whether the list may be sent unchanged, where one target can take all of it. */
  readonly mayPass: boolean;
  /** The client's cache control: request cached items again (`no-cache`), and also do not store them (`no-store`). */
  readonly freshness: 'no-cache' | 'no-store' | undefined;
  /** The deadline of the request, on the monotonic clock. */
  readonly deadlineMs: number;
  /** Sends the unchanged request to a target that can take it; bytes pass. */
  asOne(fits?: (candidate: Candidate) => boolean): Promise<Answer>;
  /** Sends a part of the list as a call of its own, with its own attempts. */
  ask(part: Part): PartWork;
  /** Sends items of several requests, this one among them, in one call: it continues when this request's client leaves. */
  askForSeveral(part: Part): PartWork;
  /** Splits the cost of a joint call by weight; the shares add up to it. */
  share(part: Exchange, among: readonly { readonly items: number; readonly weight: number }[]): readonly Exchange[];
  /** Bills a part to this request that was served, or may have been: also when the request ends in an error. */
  owes(part: Exchange): void;
}

export interface ListAnswered {
  readonly bytes: Buffer;
  /** The parts that were called; the first one's head becomes the answer's. Empty where every item was in the cache. */
  readonly parts: readonly ReadPart[];
  readonly cacheUse: CacheUse | undefined;
  /** For each item from the cache: the usage counts from when it was computed, by their paths in an answer. */
  readonly saved: readonly ReadonlyMap<string, string>[];
  /** Some of these counts are approximate: an answer's counts for several items, divided by the items' lengths. */
  readonly isAbout: boolean;
  readonly origin: {
    readonly contentType: string | undefined;
    /** The translation of the upstream's answer, and the fields that were left out of the call. */
    readonly translatedBy: string | undefined;
    readonly ignored: readonly string[];
  };
}

export interface Lists {
  /** Looks items up; undefined where nothing can be in the cache. Throws a `GatewayError` for a fault of the client. */
  lookUp(sought: ListSought): Promise<Remembered | undefined>;
  /** Answers a list. Returns an `Answer` where one passes unchanged, or is an error for the client. */
  answer(asked: ListAsked): Promise<ListAnswered | Answer>;
  /** Reports how often the cache of each model (by ID) was cleared: items stored under a lower count are dropped. */
  cleared(counts: ReadonlyMap<string, number>): void;
  state(): { readonly items: number; readonly bytes: number };
  close(): void;
}

/** The name of the store's setting that counts how often the cache of each model was cleared. */
export const clearedCaches = 'cleared_caches';

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
