/** Interface between pipeline and list engine: operations that map over a list, and the limits of one call. */

import type { Buffer } from 'node:buffer';
import { isMapping } from '../lib/is-mapping.ts';
import type { JsonField } from '../lib/json/json-scan.ts';
import type { CacheUse } from './cache-use.ts';
import type { Candidate } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import { type ListLimits, limitsFor } from './list-limits.ts';
import { upstreamNameOf } from './model-name.ts';
import type { Operation } from './operations/index.ts';
import type { Answer } from './outcome.ts';
import type { ResolvedModel, Upstream } from './snapshot.ts';
import type { SettingStore } from './store/resources.ts';

/** Operations of which a request asks the same of each item. */
export const listOperations: ReadonlySet<Operation> = new Set(['embeddings', 'rerank', 'moderations']);

/** What the operator says of the target goes before what is known of the family, save where a call has room for one alone. */
export function limitsOf({ target, offer }: Candidate, matched = ''): ListLimits {
  const { upstream, model, limits: said } = target;
  const { limits = isAtHome(upstream) ? offer.limitsAtHome : undefined } = offer.translation ?? {};
  const known = limitsFor(limits, upstreamNameOf(model, matched), upstream.options);
  return said === undefined ? known : { ...known, ...said, ...(known.items === 1 && { items: 1 }) };
}

function isAtHome({ family, origin }: Upstream): boolean {
  return family.baseUrl !== undefined && new URL(family.baseUrl).origin === origin;
}

/** The least of each; infinite where nobody says one. */
export function tightest(limits: readonly ListLimits[]): Readonly<Record<keyof ListLimits, number>> {
  const least = (of: (one: ListLimits) => number | undefined): number =>
    Math.min(...limits.map((one) => of(one) ?? Number.POSITIVE_INFINITY));
  return {
    items: least(({ items }) => items),
    tokens: least(({ tokens }) => tokens),
    bytes: least(({ bytes }) => bytes),
  };
}

/** Some of a request's items, asked on their own. */
export interface Part {
  /** As the client would have asked for these alone. */
  readonly body: Buffer;
  readonly items: number;
  /** It may stand in line for a place at an upstream; else it is sent only where one is free at once. */
  readonly waits: boolean;
  /** Whom it may go to. */
  fits(candidate: Candidate): boolean;
  /** Where an item of it stands in the whole list; undefined where it has no such item. Without it, it has all of them. */
  readonly indexInWhole?: ((item: number) => number | undefined) | undefined;
  /** Rejects with `Unfit` where these bytes, all of a good answer, are not what was asked for: somebody else is asked then. */
  judge(bytes: Buffer): Promise<void>;
}

/** How a part was answered: well, and then it was read whole, or with an answer that says why not. */
export type PartOutcome =
  | ReadPart
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'no place' }
  /** After `finish`: the call was sent, and its answer was not waited for. It is billed by an estimate. */
  | { readonly kind: 'unheard'; readonly exchange: Exchange };

export interface ReadPart {
  readonly kind: 'read';
  readonly bytes: Buffer;
  readonly answer: Answer;
  /** What it is billed by. */
  readonly exchange: Exchange;
}

export interface PartWork {
  /** Rejects with a `GatewayError` where there is no answer. */
  readonly outcome: Promise<PartOutcome>;
  /** Starts no further call. The answer to a running call is awaited for a moment, so that its cost is known. */
  finish(): void;
}

/** A request for a list. */
export interface ListSought {
  readonly exchange: Exchange;
  readonly resolved: ResolvedModel;
  readonly body: Buffer;
  /** What holds the items. */
  readonly list: JsonField;
  /** What else changes the answer: whose shape it has, what a client API has said, whom it may come from. */
  readonly identity: string;
}

/** What is remembered of a list, looked up before anything is reserved for it. */
export interface Remembered {
  /** Different items that are not remembered. */
  readonly missing: number;
  /** What the others take of the body. */
  readonly knownBytes: number;
  /** Of the length of all items, the share of those that are missing. */
  readonly missingShare: number;
}

/** A request that is to be taken apart. */
export interface ListAsked extends ListSought {
  /** The best first. */
  readonly candidates: readonly Candidate[];
  /** What `lookUp` found; without it, items are looked up when they are asked for. */
  readonly remembered: Remembered | undefined;
  /** Whether a list that somebody can take may go as it came. */
  readonly mayPass: boolean;
  /** What the client says of what is remembered: it wants it asked for again, and perhaps not even kept. */
  readonly freshness: 'no-cache' | 'no-store' | undefined;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** As the client asked it, of those who can take that; bytes pass. */
  asOne(fits?: (candidate: Candidate) => boolean): Promise<Answer>;
  /** Begins a call of its own, with its own attempts. */
  ask(part: Part): PartWork;
  /** The same for items of several requests, of which this is one: it goes on when the client of this one leaves. */
  askForSeveral(part: Part): PartWork;
  /** What each of several owes of a part that was asked for together: by weight, and it adds up. */
  share(part: Exchange, among: readonly { readonly items: number; readonly weight: number }[]): readonly Exchange[];
  /** Bills a part that was served, or may have been, to this request: also when the request ends in an error. */
  owes(part: Exchange): void;
}

/** What came of it: one answer, and the calls that it is made of. */
export interface ListAnswered {
  readonly bytes: Buffer;
  /** The head of the first stands for all; there are none where everything was known. */
  readonly parts: readonly ReadPart[];
  /** Where a cache is on. */
  readonly cacheUse: CacheUse | undefined;
  /** Of each item that nobody was asked for on its account: what it counted when somebody was, by path. */
  readonly saved: readonly ReadonlyMap<string, string>[];
  /** Some of these counts are shares, by length, of what an answer to several items counted. */
  readonly isAbout: boolean;
  /** Of what stands first in it. */
  readonly origin: {
    readonly contentType: string | undefined;
    readonly translatedBy: string | undefined;
    readonly ignored: readonly string[];
  };
}

export interface Lists {
  /** Undefined where nothing is to be looked up. Throws a `GatewayError` for what the client did wrong. */
  lookUp(sought: ListSought): Promise<Remembered | undefined>;
  /** An `Answer` is one that came as one, or one that is no good: it is for the client. */
  answer(asked: ListAsked): Promise<ListAnswered | Answer>;
  /** How often the cache of each model was cleared, by its ID: what is remembered from before another count is forgotten. */
  cleared(counts: ReadonlyMap<string, number>): void;
  /** What is remembered by this process. */
  state(): { readonly items: number; readonly bytes: number };
  close(): void;
}

/** The setting of the store that says how often the cache of each model was cleared. */
export const clearedCaches = 'cleared_caches';

/** Has every node forget what it remembers of the items of a model. */
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
