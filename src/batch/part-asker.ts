/** Sends the items of a list in calls that fit the targets' limits, several at a time; a failed part is retried alone. */

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

const mostCallsAtOnce = 8;
const slotRetryMs = 20;
const mostCalls = 2_048;
/** Limit of bytes that all calls of a request repeat, which is everything in the body except the list. */
const mostRepeatedBytes = 64 * 1024 * 1024;

export interface Inquiry {
  readonly asked: ListAsked;
  readonly request: ListRequest;
  readonly items: Items;
  /** Length of the value that the upstream processes again with each item, such as a query. */
  readonly besideBytes: number;
  /** The limit of best results for a call with this number of items; undefined where the request sets no limit. */
  topFor(items: number): Top | undefined;
  /** Reads the answer of a call. Rejects with `Unfit` where it does not match the call. */
  read(bytes: Buffer, items: number): Promise<ReadAnswer>;
}

export interface Wanted {
  readonly bytes: Buffer;
}

interface Takers<T> {
  take(wanted: readonly T[], read: ReadAnswer, part: ReadPart): void;
  /** Takes the cost of a call for these items whose answer was not awaited. */
  owe(wanted: readonly T[], part: Exchange): void;
}

export type End = { readonly answer: Answer } | { readonly error: unknown };

export function createPartAsker<T extends Wanted>(inquiry: Inquiry, { take, owe }: Takers<T>) {
  const { asked, request, items: all } = inquiry;
  const besideTokens = tokensAtMost(inquiry.besideBytes);
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>();
  const works = new Set<PartWork>();
  let end: End | undefined;
  let served = 0;

  const hasEnded = (): boolean => end !== undefined;
  const limitsFor = (candidate: Candidate): ListLimits => limitsOf(candidate, asked.resolved.matched);

  function canTake(items: readonly Buffer[], candidate: Candidate): boolean {
    const { limits: said } = candidate.target;
    if (said !== undefined && items.some((item) => isTooLong(item, said))) return false;
    return fits(items, limitsFor(candidate), besideTokens);
  }

  /** Divides the items into calls that the first available target accepts, and sends them. */
  async function askAll(wanted: readonly T[], open: readonly Candidate[]): Promise<void> {
    const priority = Math.min(...open.map(({ target }) => target.priority));
    const limits = tightest(open.filter(({ target }) => target.priority === priority).map(limitsFor));
    const parts = [...inParts(wanted, ({ bytes }) => bytes, limits, besideTokens)];
    checkCalls(parts.length);
    const left = parts.toReversed();
    const helpers = new Set<Promise<void>>();
    const getHelp = (): void => {
      while (left.length > 0 && !hasEnded() && helpers.size < mostCallsAtOnce - 1) {
        const helper = help();
        helpers.add(helper);
        void helper.then(() => helpers.delete(helper));
      }
    };
    // Each slot is kept for one part only, as other requests may be waiting for one.
    const help = async (): Promise<void> => {
      const part = left.pop();
      if (part === undefined) return;
      if (await askPart(part, open, false)) {
        getHelp();
        return;
      }
      left.push(part);
    };
    while (!hasEnded()) {
      const part = left.pop();
      if (part === undefined && helpers.size === 0) return;
      getHelp();
      if (part === undefined) await Promise.race(helpers);
      else await askPart(part, open, true);
    }
    // Calls that are still running have a cost, which is only known at their end.
    await Promise.all(helpers);
  }

  /** Throws where the request would need too many calls, or repeat too many bytes in them. */
  function checkCalls(calls: number): void {
    const { start, end } = all.span;
    const besideBytes = request.body.length - (end - start);
    if (calls <= mostCalls && besideBytes * calls <= mostRepeatedBytes) return;
    throw new GatewayError('body_too_large', {
      message:
        calls > mostCalls
          ? `The list would be asked for in ${calls} calls, as the upstreams of this model take so few items a call, and one request may become ${mostCalls}; send it in smaller requests.`
          : `The list is asked for in ${calls} calls, and what stands beside it (${besideBytes} bytes) would go along with each; ${mostRepeatedBytes} bytes may be repeated in all, so send it in smaller requests.`,
    });
  }

  /** Sends a part to a target that can take it, or divides it further where none can. False where there is no free slot. */
  async function askPart(wanted: readonly T[], open: readonly Candidate[], waits: boolean): Promise<boolean> {
    const bytes = wanted.map((one) => one.bytes);
    const takers = open.filter((one) => canTake(bytes, one));
    // Items that are too long for all remaining targets are sent all the same: the targets refuse them.
    const able = new Set(takers.length > 0 ? takers : open);
    const others = open.filter((one) => !able.has(one));
    try {
      const outcome = await ask(bytes, able, waits);
      if (outcome.kind === 'read') {
        const read = await inquiry.read(outcome.bytes, wanted.length);
        served += 1;
        take(wanted, read, outcome);
        return true;
      }
      if (outcome.kind === 'unheard') {
        owe(wanted, outcome.exchange);
        return true;
      }
      if (outcome.kind === 'no slot') return hasEnded();
      const { answer } = outcome;
      if (hasEnded()) {
        answer.cancel();
        return true;
      }
      if (others.length === 0 || !mayBeServedElsewhere(answer)) {
        endWith({ answer });
        return true;
      }
      answer.cancel();
    } catch (error) {
      if (hasEnded()) return true;
      // The request's own running or finished calls will free slots again.
      const hasBegun = served > 0 || works.size > 0;
      if (waits && isFull(error) && hasBegun && performance.now() < asked.deadlineMs) {
        await wait(slotRetryMs);
        return askPart(wanted, open, waits);
      }
      if (others.length === 0 || !isOfUpstream(error)) {
        endWith({ error });
        return true;
      }
    }
    await askAll(wanted, others).catch((error: unknown) => endWith({ error }));
    return true;
  }

  async function ask(items: readonly Buffer[], able: ReadonlySet<Candidate>, waits: boolean): Promise<PartOutcome> {
    const work = asked.ask({
      body: bodyFor(request, inquiry.topFor(items.length), all, items),
      items: items.length,
      waits,
      fits: (candidate) => able.has(candidate),
      indexInWhole: items.length === all.bytes.length ? undefined : (item) => indexInWhole(items[item], all),
      judge: async (bytes) => {
        await inquiry.read(bytes, items.length);
      },
    });
    works.add(work);
    try {
      return await work.outcome;
    } finally {
      works.delete(work);
    }
  }

  /** Ends all calls, with the answer or error that ended the first of them; no further call begins. */
  function endWith(first: End): void {
    if (hasEnded()) return;
    end = first;
    resolveEnded();
    for (const work of works) work.finish();
  }

  return {
    /** The answer or error that ended the calls early; undefined where they succeed. */
    get end() {
      return end;
    },
    /** Resolves when `end` is set. */
    ended,
    canTake,
    askAll,
    endWith,
  };
}

function indexInWhole(item: Buffer | undefined, { bytes }: Items): number | undefined {
  const index = item === undefined ? -1 : bytes.indexOf(item);
  return index === -1 ? undefined : index;
}

const isFull = (error: unknown): boolean => error instanceof GatewayError && error.code === 'overloaded';

export const isOfUpstream = (error: unknown): boolean => error instanceof GatewayError && error.status >= 500;

export const mayBeServedElsewhere = ({ status, meantStatus = status }: Answer): boolean =>
  meantStatus >= 500 || meantStatus === 429 || meantStatus === 413;
