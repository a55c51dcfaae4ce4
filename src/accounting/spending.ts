/** Reserves from the limits and budgets of a request's key, project, model and upstream, and settles them once with the actual usage. */

import type { BudgetHold, Budgets } from '../budgets/local-budgets.ts';
import { BudgetExceeded } from '../budgets/refusal.ts';
import type { Price, RequestEstimate } from '../core/accounting/price.ts';
import { freeReservation, type Reservation, type Spending, type Unpriced } from '../core/accounting/spending.ts';
import type { BudgetPeriod, HolderKind, Measure } from '../core/caps.ts';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Limiter, Refused, Taken } from '../limits/limiter.ts';
import { type CappedExchange, CappedIndex } from './capped.ts';
import { HeldReservation, type Wanted } from './reservation.ts';

export interface Hits {
  limitHit(holder: HolderKind, measure: Measure | 'concurrency'): void;
  budgetHit(holder: HolderKind, period: BudgetPeriod): void;
}

export interface SpendingDeps {
  readonly limiter: Limiter;
  readonly budgets: Budgets;
  /** Upper bound of an exchange's cost at a target, in nano-dollars; 0 where the price is unknown. */
  worstCost(price: Price | undefined, estimate: RequestEstimate): number;
  /** A feature of the request that has no price, although it may cost more. */
  unpricedIn?(price: Price | undefined, estimate: RequestEstimate): Unpriced | undefined;
  readonly hits?: Hits | undefined;
}

export function createSpending({ limiter, budgets, worstCost, unpricedIn, hits }: SpendingDeps): Spending {
  const index = new CappedIndex();
  const deps = { limiter, budgets, worstCost, index };

  function reservation(
    routePlan: RoutePlan,
    wanted: Wanted,
    taken: Taken | undefined,
    hold: BudgetHold | undefined,
    nanos: number,
  ): Reservation {
    return new HeldReservation(deps, routePlan, wanted, taken, hold, nanos);
  }

  async function reserveLater(
    asked: Promise<Taken | Refused>,
    capped: CappedExchange,
    routePlan: RoutePlan,
    wanted: Wanted,
  ): Promise<Reservation> {
    return withBudgets(await asked, capped, routePlan, wanted);
  }

  /** Reserves budgets once the limits, which are cheap to check, are taken. A budget's refusal gives the limits back completely. */
  function withBudgets(
    answer: Taken | Refused | undefined,
    { budgeted }: CappedExchange,
    routePlan: RoutePlan,
    wanted: Wanted,
  ): Reservation | Promise<Reservation> {
    if (answer?.kind === 'refused') {
      hits?.limitHit(answer.holder, answer.measure);
      throw tooMany(answer);
    }
    // The reservation counts the exchange from here on: while the store is slow, it must not count twice.
    wanted.begun?.over();
    const nanos = worstOf(routePlan, wanted.estimate, worstCost);
    if (budgeted.length === 0 || wanted.estimate.isRemembered === true) {
      return reservation(routePlan, wanted, answer, undefined, nanos);
    }
    try {
      const held = budgets.reserve(budgeted, nanos, wanted.beganAtMs);
      if (!(held instanceof Promise)) return reservation(routePlan, wanted, answer, held, nanos);
      return held.then(
        (hold) => reservation(routePlan, wanted, answer, hold, nanos),
        (error: unknown) => giveBack(answer, error),
      );
    } catch (error) {
      return giveBack(answer, error);
    }
  }

  function giveBack(taken: Taken | undefined, error: unknown): never {
    taken?.settle({ requests: 0, tokens: 0, items: 0 });
    if (error instanceof BudgetExceeded) hits?.budgetHit(error.holder, error.period);
    throw error;
  }

  return {
    begin(key: KeyRecord) {
      const { limited } = index.key(key);
      if (limited.length === 0) return undefined;
      const begun = limiter.begin(limited);
      if (begun.kind === 'begun') return begun;
      hits?.limitHit(begun.holder, begun.measure);
      throw tooMany(begun);
    },
    reserve(
      exchange: Exchange,
      routePlan: RoutePlan,
      estimate: RequestEstimate,
      { isCounted = false }: { readonly isCounted?: boolean } = {},
    ) {
      const { key, snapshot } = exchange;
      if (key === undefined) throw new TypeError('nothing is reserved for an exchange without a key');
      const capped = index.exchange(key, snapshot.projects, routePlan.model);
      if (capped.isFree) return toFree(worstOf(routePlan, estimate, worstCost));
      if (estimate.unbounded !== undefined && capped.isBudgeted && mayBoundNothing(routePlan, estimate, worstCost)) {
        throw unbounded(estimate.unbounded, exchange.modelId ?? '');
      }
      const unpricedBy = capped.isBudgeted ? firstUnpriced(routePlan, estimate, unpricedIn) : undefined;
      if (unpricedBy !== undefined) throw unpriced(unpricedBy, exchange.modelId ?? '');
      const requests = estimate.batch?.lines ?? 1;
      // Cached items count for rates where the operator configured it.
      const counted = routePlan.model.cache?.countsForLimits === true ? (exchange.estimate ?? estimate) : estimate;
      const amounts = { requests, tokens: Math.ceil(counted.likelyInputTokens), items: counted.items };
      const wanted = { estimate, amounts, beganAtMs: exchange.startedAtMs, begun: exchange.begun };
      if (capped.limited.length === 0 || isCounted) return withBudgets(undefined, capped, routePlan, wanted);
      const answer = limiter.reserve(capped.limited, amounts);
      if (answer instanceof Promise) return reserveLater(answer, capped, routePlan, wanted);
      return withBudgets(answer, capped, routePlan, wanted);
    },
  };
}

/** The error for a request whose cost has no upper bound: it could overspend the budget. */
function unbounded(param: string, modelId: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The cost of "${param}" cannot be bounded beforehand, and a budget applies to the model "${modelId}"; leave it out, or have the operator set models[].context where it brings in images, audio or files, models[].max_output where it makes images or sound, routes[].most where the route is the operator's own, models[].context and models[].max_tool_calls where the upstream runs tools (a request can also set max_tool_calls or max_uses; tools whose calls are not reported have no bound).`,
  });
}

function firstUnpriced(
  { tiers }: RoutePlan,
  estimate: RequestEstimate,
  unpricedIn: SpendingDeps['unpricedIn'] = () => undefined,
): Unpriced | undefined {
  for (const tier of tiers) {
    for (const { target } of tier) {
      const found = unpricedIn(target.price, estimate);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function unpriced({ param, setting }: Unpriced, modelId: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `What "${param}" asks for has no price, and a budget applies to the model "${modelId}"; leave it out, or have the operator set ${setting}.`,
  });
}

const free: Reservation = Object.freeze(freeReservation(0));

const toFree = (nanos: number): Reservation => (nanos === 0 ? free : freeReservation(nanos));

/** Whether a target charges for something of which the request sets no upper bound. */
function mayBoundNothing(
  routePlan: RoutePlan,
  estimate: RequestEstimate,
  worstCost: SpendingDeps['worstCost'],
): boolean {
  const { unboundedBy } = estimate;
  if (unboundedBy === undefined) return worstOf(routePlan, estimate, worstCost) > 0;
  return routePlan.tiers.some((tier) =>
    tier.some(({ target: { price } }) =>
      [price, ...(estimate.others ?? []).map((other) => other.price)].some((one) =>
        unboundedBy.some((unit) => (one?.[unit] ?? 0) > 0),
      ),
    ),
  );
}

/** The highest cost of the request at any of the route's targets. */
function worstOf({ tiers }: RoutePlan, estimate: RequestEstimate, worstCost: SpendingDeps['worstCost']): number {
  let most = 0;
  for (let at = 0; at < tiers.length; at += 1) {
    const tier = tiers[at] ?? [];
    for (let i = 0; i < tier.length; i += 1) most = Math.max(most, worstCost(tier[i]?.target.price, estimate));
  }
  return most;
}

function tooMany({ message, isForever, retryAfterS, ...refused }: Refused): GatewayError {
  const again = isForever ? ['x-should-retry', 'false'] : ['Retry-After', String(retryAfterS)];
  return new GatewayError('rate_limit_exceeded', { message, headers: [...again, ...listOf(refused.lines())] });
}

/** Header names and values, alternating, from lines of a head. */
const listOf = (lines: string): string[] => lines.split(/: |\r\n/).slice(0, -1);
