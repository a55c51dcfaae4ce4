/** Sends items in calls that fit the targets' limits, several at a time; a failed part is retried alone. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Candidate } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import { type ListAsked, limitsOf, type PartOutcome, type PartWork, type ReadPart, tightest } from '../core/lists.ts';
import type { Answer } from '../core/outcome.ts';
import type { ListLimits } from '../core/translation.ts';
import type { Items, ListRequest, ReadAnswer, Top } from './codecs/codec.ts';
import { fits, inParts, isTooLong, tokensAtMost } from './parts.ts';
import { bodyFor } from './request.ts';

/** Limit of concurrent calls of one request. */
const atATime = 8;
/** Pause before asking again for a slot. */
const slotRetryMs = 20;
const mostCalls = 2_048;
/** The body without its list is repeated in each call: limit of these bytes in all. */
const mostRepeatedBytes = 64 * 1024 * 1024;

export interface Inquiry {
  readonly asked: ListAsked;
  readonly request: ListRequest;
  readonly items: Items;
  /** Bytes that are processed again with each item. */
  readonly besideBytes: number;
  /** The limit of best results for a call with so many items; undefined for none. */
  topFor(items: number): Top | undefined;
  /** Rejects with `Unfit`. */
  read(bytes: Buffer, items: number): Promise<ReadAnswer>;
}

export interface Wanted {
  readonly bytes: Buffer;
}

interface Takers<T> {
  /** The answer to some of the items. */
  take(wanted: readonly T[], read: ReadAnswer, part: ReadPart): void;
  /** These were requested, and the answer was not awaited. */
  owe(wanted: readonly T[], part: Exchange): void;
}

export type End = { readonly answer: Answer } | { readonly error: unknown };

export class PartAsker<T extends Wanted> {
  /** Set where it ended without a good answer. */
  end: End | undefined = undefined;
  /** Resolves when it has ended so. */
  readonly ended: Promise<void>;
  readonly #resolveEnded: () => void;
  readonly #inquiry: Inquiry;
  readonly #takers: Takers<T>;
  readonly #besideTokens: number;
  readonly #works = new Set<PartWork>();
  #served = 0;

  constructor(inquiry: Inquiry, takers: Takers<T>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#inquiry = inquiry;
    this.#takers = takers;
    this.#besideTokens = tokensAtMost(inquiry.besideBytes);
  }

  #limitsOf(candidate: Candidate): ListLimits {
    return limitsOf(candidate, this.#inquiry.asked.resolved.matched);
  }

  canTake(items: readonly Buffer[], candidate: Candidate): boolean {
    const { limits: said } = candidate.target;
    if (said !== undefined && items.some((item) => isTooLong(item, said))) return false;
    return fits(items, this.#limitsOf(candidate), this.#besideTokens);
  }

  /** Splits the items into calls that the first open target accepts. */
  async askAll(wanted: readonly T[], open: readonly Candidate[]): Promise<void> {
    const priority = Math.min(...open.map(({ target }) => target.priority));
    const limits = tightest(
      open.filter(({ target }) => target.priority === priority).map((one) => this.#limitsOf(one)),
    );
    const parts = [...inParts(wanted, ({ bytes }) => bytes, limits, this.#besideTokens)];
    this.#checkCalls(parts.length);
    const left = parts.toReversed();
    const helpers = new Set<Promise<void>>();
    const getHelp = (): void => {
      while (left.length > 0 && this.end === undefined && helpers.size < atATime - 1) {
        const helper = help();
        helpers.add(helper);
        void helper.then(() => helpers.delete(helper));
      }
    };
    // One part per slot: other requests may be waiting.
    const help = async (): Promise<void> => {
      const part = left.pop();
      if (part === undefined) return;
      if (await this.#askPart(part, open, false)) {
        getHelp();
        return;
      }
      left.push(part);
    };
    while (this.end === undefined) {
      const part = left.pop();
      if (part === undefined && helpers.size === 0) return;
      getHelp();
      if (part === undefined) await Promise.race(helpers);
      else await this.#askPart(part, open, true);
    }
    // Running calls still have a cost.
    await Promise.all(helpers);
  }

  /** Where each call takes few items, this limits the calls of one request. */
  #checkCalls(calls: number): void {
    const { request, items } = this.#inquiry;
    const { body } = request;
    const { span } = items;
    const besideBytes = body.length - (span.end - span.start);
    if (calls <= mostCalls && besideBytes * calls <= mostRepeatedBytes) return;
    throw new GatewayError('body_too_large', {
      message:
        calls > mostCalls
          ? `The list would be asked for in ${calls} calls, as the upstreams of this model take so few items a call, and one request may become ${mostCalls}; send it in smaller requests.`
          : `The list is asked for in ${calls} calls, and what stands beside it (${besideBytes} bytes) would go along with each; ${mostRepeatedBytes} bytes may be repeated in all, so send it in smaller requests.`,
    });
  }

  /** Sends a part to a target that can take it; where none can, it is split further for the others. False where there is no free slot. */
  async #askPart(wanted: readonly T[], open: readonly Candidate[], waits: boolean): Promise<boolean> {
    const bytes = wanted.map((one) => one.bytes);
    const takers = open.filter((one) => this.canTake(bytes, one));
    // Items too long for all remaining targets are for these to refuse.
    const able = new Set(takers.length > 0 ? takers : open);
    const others = open.filter((one) => !able.has(one));
    try {
      const outcome = await this.#ask(bytes, able, waits);
      if (outcome.kind === 'read') {
        const read = await this.#inquiry.read(outcome.bytes, wanted.length);
        this.#served += 1;
        this.#takers.take(wanted, read, outcome);
        return true;
      }
      if (outcome.kind === 'unheard') {
        this.#takers.owe(wanted, outcome.exchange);
        return true;
      }
      if (outcome.kind === 'no slot') return this.end !== undefined;
      const { answer } = outcome;
      if (this.end !== undefined) {
        answer.cancel();
        return true;
      }
      if (others.length === 0 || !mayBeServedElsewhere(answer)) {
        this.endWith({ answer });
        return true;
      }
      answer.cancel();
    } catch (error) {
      if (this.end !== undefined) return true;
      // Its own running or finished calls will free slots again.
      if (waits && isFull(error) && this.#hasBegun && performance.now() < this.#inquiry.asked.deadlineMs) {
        await wait(slotRetryMs);
        return this.#askPart(wanted, open, waits);
      }
      if (others.length === 0 || !isOfUpstream(error)) {
        this.endWith({ error });
        return true;
      }
    }
    await this.askAll(wanted, others).catch((error: unknown) => this.endWith({ error }));
    return true;
  }

  get #hasBegun(): boolean {
    return this.end === undefined && (this.#served > 0 || this.#works.size > 0);
  }

  async #ask(items: readonly Buffer[], able: ReadonlySet<Candidate>, waits: boolean): Promise<PartOutcome> {
    const { asked, request, items: all } = this.#inquiry;
    const work = asked.ask({
      body: bodyFor(request, this.#inquiry.topFor(items.length), all, items),
      items: items.length,
      waits,
      fits: (candidate) => able.has(candidate),
      indexInWhole: items.length === all.bytes.length ? undefined : (item) => indexInWhole(items[item], all),
      judge: async (bytes) => {
        await this.#inquiry.read(bytes, items.length);
      },
    });
    this.#works.add(work);
    try {
      return await work.outcome;
    } finally {
      this.#works.delete(work);
    }
  }

  /** Only the first end counts; no further call begins. */
  endWith(end: End): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#resolveEnded();
    for (const work of this.#works) work.finish();
  }
}

function indexInWhole(item: Buffer | undefined, { bytes }: Items): number | undefined {
  const index = item === undefined ? -1 : bytes.indexOf(item);
  return index === -1 ? undefined : index;
}

const isFull = (error: unknown): boolean => error instanceof GatewayError && error.code === 'overloaded';

export const isOfUpstream = (error: unknown): boolean => error instanceof GatewayError && error.status >= 500;

export const mayBeServedElsewhere = ({ status, meantStatus = status }: Answer): boolean =>
  meantStatus >= 500 || meantStatus === 429 || meantStatus === 413;
