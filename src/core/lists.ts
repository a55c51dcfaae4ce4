/** Operations that are maps over a list: what one call may hold, and the port between the pipeline and those who take lists apart. */

import type { Buffer } from 'node:buffer';
import type { JsonField } from '../lib/json/json-scan.ts';
import type { Candidate } from './dispatch.ts';
import type { Exchange } from './exchange.ts';
import type { ListLimits } from './list-limits.ts';
import type { Operation } from './operations/index.ts';
import type { Answer, ClientWork } from './outcome.ts';
import type { ResolvedModel, Upstream } from './snapshot.ts';

/** Operations of which a request asks the same of each item. */
export const listOperations: ReadonlySet<Operation> = new Set(['embeddings', 'rerank', 'moderations']);

/** What the operator says of the target goes before what is known of the family. */
export function limitsOf({ target, offer }: Candidate): ListLimits {
  const { upstream, model, limits: said } = target;
  const { limits = isAtHome(upstream) ? offer.limitsAtHome : undefined } = offer;
  const known = typeof limits === 'function' ? limits(model, upstream.options) : limits;
  return said === undefined ? (known ?? noLimits) : { ...known, ...said };
}

const noLimits: ListLimits = Object.freeze({});

function isAtHome({ family, origin }: Upstream): boolean {
  return family.baseUrl !== undefined && new URL(family.baseUrl).origin === origin;
}

/** The least of each; infinite where nobody says one. */
export function tightest(limits: readonly ListLimits[]): Required<ListLimits> {
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
  /** Rejects with `Unfit` where these bytes, all of a good answer, are not what was asked for: somebody else is asked then. */
  judge(bytes: Buffer): Promise<void>;
}

/** How a part was answered: well, and then it was read whole, or with an answer that says why not. */
export type PartOutcome =
  | ReadPart
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'no place' };

export interface ReadPart {
  readonly kind: 'read';
  readonly bytes: Buffer;
  readonly answer: Answer;
  /** What it is billed by. */
  readonly exchange: Exchange;
}

export interface PartWork extends ClientWork {
  /** Rejects with a `GatewayError` where there is no answer. */
  readonly outcome: Promise<PartOutcome>;
}

/** A request that is to be taken apart. */
export interface ListAsked {
  readonly exchange: Exchange;
  readonly resolved: ResolvedModel;
  readonly body: Buffer;
  /** What holds the items. */
  readonly list: JsonField;
  /** The best first. */
  readonly candidates: readonly Candidate[];
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** As the client asked it, of those who can take that; bytes pass. */
  asOne(fits?: (candidate: Candidate) => boolean): Promise<Answer>;
  /** Begins a call of its own, with its own attempts. */
  ask(part: Part): PartWork;
}

/** What came of it: one answer, and whose calls it is made of. */
export interface ListAnswered {
  readonly bytes: Buffer;
  /** The first of them; its head stands for all. */
  readonly parts: readonly ReadPart[];
}

export interface Lists {
  /** An `Answer` is one that came as one, or one that is no good: it is for the client. */
  answer(asked: ListAsked): Promise<ListAnswered | Answer>;
}
