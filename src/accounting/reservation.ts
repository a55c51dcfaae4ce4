/** Holds what one request has reserved: for its key, project and model before it begins, and for each upstream that it calls. */

import type { BudgetHold, Budgets } from '../budgets/local-budgets.ts';
import type { Price, RequestEstimate } from '../core/accounting/price.ts';
import type { Denial, Reservation } from '../core/accounting/spending.ts';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Beginning, Exchange } from '../core/exchange.ts';
import type { Upstream } from '../core/snapshot.ts';
import type { Amounts, Limiter, Refused, Taken } from '../limits/limiter.ts';
import type { Capped, CappedIndex } from './capped.ts';

export interface ReservationDeps {
  readonly limiter: Limiter;
  readonly budgets: Budgets;
  readonly index: CappedIndex;
  worstCost(price: Price | undefined, estimate: RequestEstimate): number;
}

export interface Wanted {
  readonly estimate: RequestEstimate;
  readonly amounts: Amounts;
  /** When the exchange began: its cost belongs to the budgets of that day. */
  readonly beganAtMs: number;
  readonly begun?: Beginning | undefined;
}

interface Entry {
  readonly upstream: Upstream;
  /** The part of a list request that was sent; undefined where the list was not split. */
  readonly part: Exchange | undefined;
  readonly taken: Taken | undefined;
  readonly hold: BudgetHold | undefined;
}

const none: readonly string[] = Object.freeze([]);
const nothing: Amounts = Object.freeze({ requests: 0, tokens: 0, items: 0 });
/** What a sent request without a bill uses of limits: the request itself counts, whatever its result. */
const onlyTheRequest: Amounts = Object.freeze({ requests: 1, tokens: 0, items: 0 });
/** `Retry-After` where nobody knows when a limit will be raised or an account refilled. */
const unknownRetryMs = 60_000;

export class HeldReservation implements Reservation {
  readonly rateLines: string;
  readonly nanos: number;
  readonly #deps: ReservationDeps;
  readonly #routePlan: RoutePlan;
  readonly #wanted: Wanted;
  /** What was taken from the limits of the key, project and model. */
  readonly #taken: Taken | undefined;
  readonly #hold: BudgetHold | undefined;
  /** Reservations at upstreams, in the order of the calls; undefined for most exchanges, which call one upstream without caps. */
  #entries: Entry[] | undefined = undefined;
  #answered: readonly Entry[] = [];
  #isSettled = false;

  constructor(
    deps: ReservationDeps,
    routePlan: RoutePlan,
    wanted: Wanted,
    taken: Taken | undefined,
    hold: BudgetHold | undefined,
    nanos: number,
  ) {
    this.#deps = deps;
    this.#routePlan = routePlan;
    this.#wanted = wanted;
    this.#taken = taken;
    this.#hold = hold;
    this.rateLines = taken?.lines() ?? '';
    this.nanos = nanos;
  }

  /** IDs of the reserved budget accounts. After settlement, those of upstreams that did not answer are left out. */
  get accounts(): readonly string[] {
    const own = this.#hold?.accounts ?? none;
    const entries = this.#isSettled ? this.#answered : this.#entries;
    if (entries === undefined || entries.length === 0) return own;
    const theirs = entries.flatMap(({ hold }) => hold?.accounts ?? []);
    return theirs.length === 0 ? own : [...new Set([...own, ...theirs])];
  }

  enter(upstream: Upstream, part?: Exchange): Denial | undefined | Promise<Denial | undefined> {
    const capped = this.#deps.index.upstream(upstream);
    if (capped.limited.length === 0 && capped.budgeted.length === 0) return undefined;
    const about = { upstream, part };
    if (capped.limited.length === 0) return this.#enterBudgets(about, capped, undefined);
    const answer = this.#deps.limiter.reserve(capped.limited, amountsOf(part?.estimate) ?? this.#callAmounts);
    if (answer instanceof Promise) return answer.then((decision) => this.#enterBudgets(about, capped, decision));
    return this.#enterBudgets(about, capped, answer);
  }

  endLimits(): void {
    // The settlement at the request's end has no effect on these limits, as only the first one counts.
    this.#taken?.settle(this.#wanted.amounts);
    for (const { taken } of this.#entries ?? []) taken?.settle(this.#callAmounts);
  }

  settle(exchange: Exchange): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { items: asked } = this.#wanted.amounts;
    this.#taken?.settle(withSaved(usedBy(exchange, asked), exchange, this.#routePlan));
    this.#hold?.settle(exchange.bill?.costNanos ?? 0);
    const entries = this.#entries;
    if (entries === undefined) return;
    this.#answered = answeredOf(entries, exchange);
    for (const entry of entries) {
      const { part, taken, hold } = entry;
      const isAnswered = this.#answered.includes(entry);
      const billed = part ?? exchange;
      const items = part?.estimate?.items ?? asked;
      taken?.settle(isAnswered ? usedBy(billed, items) : onlyTheRequest);
      hold?.settle(isAnswered ? (billed.bill?.costNanos ?? 0) : 0);
    }
  }

  /** What one call uses of an upstream's limits: a batch counts as one call. */
  get #callAmounts(): Amounts {
    const { estimate, amounts } = this.#wanted;
    return estimate.batch === undefined ? amounts : onlyTheRequest;
  }

  #enterBudgets(
    about: Pick<Entry, 'upstream' | 'part'>,
    { budgeted }: Capped,
    answer: Taken | Refused | undefined,
  ): Denial | undefined | Promise<Denial | undefined> {
    const { upstream } = about;
    if (answer?.kind === 'refused') return toDenial(answer);
    if (budgeted.length === 0) return this.#entered({ ...about, taken: answer, hold: undefined });
    try {
      const held = this.#deps.budgets.reserve(budgeted, this.#worstAt(about), this.#wanted.beganAtMs);
      if (!(held instanceof Promise)) return this.#entered({ ...about, taken: answer, hold: held });
      return held.then(
        (hold) => this.#entered({ ...about, taken: answer, hold }),
        (error: unknown) => denied(upstream, answer, error),
      );
    } catch (error) {
      return denied(upstream, answer, error);
    }
  }

  #entered(entry: Entry): Denial | undefined {
    if (this.#isSettled) {
      // The exchange ended meanwhile: another call was faster, or the client left.
      entry.taken?.settle(nothing);
      entry.hold?.settle(0);
      return undefined;
    }
    this.#entries ??= [];
    this.#entries.push(entry);
    return undefined;
  }

  #worstAt({ upstream, part }: Pick<Entry, 'upstream' | 'part'>): number {
    const estimate = part?.estimate ?? this.#wanted.estimate;
    let most = 0;
    for (const tier of this.#routePlan.tiers) {
      for (const { target } of tier) {
        if (target.upstream === upstream) most = Math.max(most, this.#deps.worstCost(target.price, estimate));
      }
    }
    return most;
  }
}

/** The last call to the upstream that answered: one for each billed part, or one for the whole where the list was not split. */
function answeredOf(entries: readonly Entry[], exchange: Exchange): Entry[] {
  return entries.filter((entry) => {
    const { part } = entry;
    if (part === undefined ? exchange.parts !== undefined : part.bill === null) return false;
    const { upstream } = (part ?? exchange).target ?? {};
    return entry === entries.findLast((one) => one.part === part && one.upstream === upstream);
  });
}

function amountsOf(estimate: RequestEstimate | undefined): Amounts | undefined {
  return estimate && { requests: 1, tokens: Math.ceil(estimate.likelyInputTokens), items: estimate.items };
}

/** What a request used of its limits: only itself where nothing is owed; of a list, the items that its own calls requested. */
function usedBy({ bill, usage, parts }: Exchange, asked: number): Amounts {
  if (bill === null) return onlyTheRequest;
  const items = parts === undefined ? asked : bill.items;
  const tokens = usage?.totalTokens ?? sumOf(usage?.promptTokens, usage?.completionTokens);
  const billed = bill.inputTokens + bill.outputTokens;
  return { requests: 1, tokens: Math.max(0, Math.ceil(tokens ?? billed)), items };
}

function withSaved(used: Amounts, { saved, bill }: Exchange, { model: { cache } }: RoutePlan): Amounts {
  if (saved === undefined || bill === null || cache?.countsForLimits !== true) return used;
  const { requests, tokens, items } = used;
  return { requests, tokens: tokens + (saved.usage?.totalTokens ?? 0), items: items + (saved.estimate?.items ?? 0) };
}

function sumOf(prompt: number | null | undefined, completion: number | null | undefined): number | undefined {
  if (typeof prompt !== 'number') return completion ?? undefined;
  return prompt + (completion ?? 0);
}

function toDenial({ limit, isForever, retryAfterS }: Refused): Denial {
  return { limit, retryAfterMs: isForever ? unknownRetryMs : retryAfterS * 1_000 };
}

/** The denial of one upstream, with its limits given back. The client does not get it yet: another upstream may be called instead. */
function denied({ id }: Upstream, taken: Taken | undefined, error: unknown): Denial {
  taken?.settle(nothing);
  if (!(error instanceof GatewayError)) throw error;
  const limit = `what may be spent at the upstream ${JSON.stringify(id)}`;
  return { limit, retryAfterMs: retryAfterMsOf(error), error };
}

function retryAfterMsOf({ headers }: GatewayError): number {
  const at = headers.indexOf('Retry-After');
  return at < 0 ? unknownRetryMs : Number(headers[at + 1]) * 1_000;
}
