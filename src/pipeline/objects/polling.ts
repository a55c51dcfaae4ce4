/** Polls background responses and batches until they end. One node polls each; the worst-case cost stays reserved that long. */

import { performance } from 'node:perf_hooks';
import { forNothing, type RequestEstimate } from '../../core/accounting/price.ts';
import { freeReservation, type Ledger, type Reservation, type Spending } from '../../core/accounting/spending.ts';
import { Exchange } from '../../core/exchange.ts';
import { bareKey, type KeyRecord } from '../../core/key.ts';
import type { Log } from '../../core/log.ts';
import type { Route } from '../../core/route.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { BackgroundAnswer, BackgroundStore } from '../../core/store/background-answers.ts';
import type { Clock } from '../../lib/clock.ts';
import { orAfter } from '../../lib/deadline.ts';
import { createId } from '../../lib/ids.ts';
import { type Repeated, repeat } from '../../lib/repeat.ts';
import { reasonOf } from '../../lib/thrown.ts';
import { routePlanOf } from '../../plan/route-plan.ts';
import { locationOfObject, type ObjectLocation, routePlanAt } from './object-location.ts';
import { inTime } from './object-registry.ts';

/** The result of a poll. `unknown`: nobody knows at present. `gone`: it no longer exists. */
export type Reading<End> = End | 'running' | 'gone' | 'unknown';

export interface Polling<End extends object> {
  readonly store: BackgroundStore;
  /** The route that decides row and price. Undefined where this version has none. */
  routeOf(answer: BackgroundAnswer): Route | undefined;
  /** Polls the upstream. `toExchange`: makes an exchange of the original client, at the original time. */
  read(answer: BackgroundAnswer, location: ObjectLocation, toExchange: () => Promise<Exchange>): Promise<Reading<End>>;
  /** Sets the result and the usage of an end in the exchange. */
  fillIn(exchange: Exchange, end: End): void;
  /** Work whose end stays unknown for so long is billed at the worst case. */
  readonly longestMs: number;
}

export interface PollingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly spending: Spending;
  readonly ledger: Ledger;
  current(): Snapshot;
  findKey(id: string): Promise<KeyRecord | undefined>;
  readonly everyMs?: number | undefined;
  readonly meter?: { began(exchange: Exchange): void; settled(exchange: Exchange): void } | undefined;
}

/** Pause between polls: the first poll follows after it, later ones after a fifth of the response's age, but no sooner. */
const standardEveryMs = 2_000;
const assignedAfterPollMs = 60_000;
const mostAtOnce = 20;
const longestPauseMs = 30_000;
/** Where a poll takes longer than this at the end of the process, it is left to another process. */
const closingMs = 2_000;

export class Poller<End extends object> {
  readonly #what: Polling<End>;
  readonly #deps: PollingDeps;
  readonly #everyMs: number;
  readonly #node: string;
  readonly #held = new Map<string, Reservation>();
  /** Names of responses whose client is still being answered, by the ID of the client's exchange. */
  readonly #begun = new Map<string, string>();
  /** Running polls, by name of the response: one may take longer than the interval. */
  readonly #looks = new Map<string, Promise<void>>();
  #rounds: Repeated | undefined = undefined;
  #isFailing = false;

  constructor(what: Polling<End>, deps: PollingDeps) {
    this.#what = what;
    this.#deps = deps;
    this.#everyMs = deps.everyMs ?? standardEveryMs;
    this.#node = createId(deps.clock.nowMs());
  }

  get count(): number {
    return this.#held.size;
  }

  start(): void {
    this.#rounds = repeat(() => this.#look(), this.#everyMs);
  }

  /** Records a new response for polling, before its client sees it. */
  async begin(exchange: Exchange, id: string): Promise<void> {
    const { key, target, credential, modelId = '', estimate } = exchange;
    if (key === undefined || target === undefined || credential === undefined || estimate === undefined) {
      throw new TypeError('what is made in the background was asked for');
    }
    const { clock } = this.#deps;
    const createdAtMs = clock.nowMs();
    const answer: BackgroundAnswer = {
      id,
      upstream: target.upstream.id,
      credential: credential.fingerprint,
      key: key.id,
      project: key.project,
      model: modelId,
      rowId: createId(createdAtMs),
      estimate,
      createdAtMs,
      end: undefined,
    };
    await inTime(
      this.#what.store.add(answer, this.#node, createdAtMs + this.#everyMs),
      'What is made in the background cannot be written down just now',
    );
    this.#begun.set(exchange.id, nameOf(answer));
  }

  /** Takes over the reservation when the original exchange has ended. */
  takeOver(exchange: Exchange, reservation: Reservation | undefined): void {
    const name = this.#begun.get(exchange.id);
    this.#begun.delete(exchange.id);
    reservation?.endLimits();
    if (name !== undefined && reservation !== undefined) this.#held.set(name, reservation);
  }

  async close(): Promise<void> {
    await this.#rounds?.close();
    await orAfter(Promise.all(this.#looks.values()), closingMs);
    if (this.#held.size === 0) return;
    const nobodys = new Exchange('', undefined, this.#deps.current(), 0, 0);
    for (const reservation of this.#held.values()) reservation.settle(nobodys);
    this.#held.clear();
    try {
      await this.#what.store.release(this.#node);
    } catch (error) {
      this.#deps.log.warn('background jobs not handed over', { reason: reasonOf(error) });
    }
  }

  async #look(): Promise<void> {
    try {
      const most = mostAtOnce + this.#looks.size;
      const answers = await this.#what.store.claim(this.#node, { handsMs: assignedAfterPollMs, most });
      for (const answer of answers) {
        const name = nameOf(answer);
        if (!this.#looks.has(name)) this.#looks.set(name, this.#follow(answer, name));
      }
      if (this.#looks.size === 0) this.#isFailing = false;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Polls a response, and renews its assignment to this node for as long as the poll takes. */
  async #follow(answer: BackgroundAnswer, name: string): Promise<void> {
    const { store } = this.#what;
    const hold = setInterval(() => {
      store.postpone(answer, this.#node, this.#deps.clock.nowMs()).catch((error) => this.#failed(error));
    }, assignedAfterPollMs / 3);
    try {
      await this.#lookAt(answer);
      this.#isFailing = false;
    } catch (error) {
      this.#failed(error);
    } finally {
      clearInterval(hold);
      this.#looks.delete(name);
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      const reason = reasonOf(error);
      this.#deps.log.warn('polling of background jobs failed', { reason });
    }
    this.#isFailing = true;
  }

  async #lookAt(answer: BackgroundAnswer): Promise<void> {
    const { clock } = this.#deps;
    const { store, longestMs } = this.#what;
    if ([...this.#begun.values()].includes(nameOf(answer))) {
      await store.postpone(answer, this.#node, clock.nowMs() + this.#everyMs);
      return;
    }
    const state = await this.read(answer);
    if (
      state === 'gone' &&
      answer.end === undefined &&
      (await store.get(answer.id, answer.upstream))?.end !== undefined
    ) {
      // During this poll another one saw the response's end, and the client deleted the response.
      await store.postpone(answer, this.#node, clock.nowMs());
      return;
    }
    const ageMs = clock.nowMs() - answer.createdAtMs;
    if (state === 'gone' || (typeof state === 'string' && ageMs >= longestMs)) await this.#settle(answer, undefined);
    else if (typeof state === 'string') {
      const pauseMs = Math.min(Math.max(ageMs / 5, this.#everyMs), longestPauseMs);
      await this.#keepReserved(answer);
      await store.postpone(answer, this.#node, clock.nowMs() + pauseMs);
    } else await this.#settle(answer, state);
  }

  read(answer: BackgroundAnswer): Promise<Reading<End>> {
    const location = locationOfObject(answer, this.#deps.current());
    if (location === undefined) return Promise.resolve('unknown');
    return this.#what.read(answer, location, () => this.#exchangeOf(answer));
  }

  /** Reserves the cost in this process too if another process began the response. */
  async #keepReserved(answer: BackgroundAnswer): Promise<void> {
    if (this.#held.has(nameOf(answer))) return;
    const reservation = await this.#reserve(await this.#exchangeOf(answer), answer);
    if (reservation === undefined) return;
    reservation.endLimits();
    this.#held.set(nameOf(answer), reservation);
  }

  /** Reserves the worst case; where the budget has no money left, the response is charged all the same. */
  async #reserve(exchange: Exchange, answer: BackgroundAnswer): Promise<Reservation | undefined> {
    const { route, target } = exchange;
    const resolved = exchange.snapshot.models.resolve(exchange.modelId ?? '');
    const location = locationOfObject(answer, exchange.snapshot);
    if (resolved === undefined || route === undefined || location === undefined || target === undefined)
      return undefined;
    for (const most of [answer.estimate, forNothing]) {
      try {
        const { routePlan } = routePlanAt(routePlanOf(resolved, route), location, resolved.id);
        const reservation = await this.#deps.spending.reserve(exchange, routePlan, most, { isCounted: true });
        if ((await reservation.enter(target.upstream)) === undefined) return reservation;
        reservation.settle(exchange);
      } catch {
        // The budget is used up, or there is no price now: the upstream does the work anyway.
      }
    }
    return undefined;
  }

  /** Bills the response; `end` is undefined where it will never be known. */
  async #settle(answer: BackgroundAnswer, end: End | undefined): Promise<void> {
    const { ledger, meter } = this.#deps;
    const { store, fillIn } = this.#what;
    const exchange = await this.#exchangeOf(answer);
    const reservation = this.#held.get(nameOf(answer)) ?? (await this.#reserve(exchange, answer)) ?? freeReservation(0);
    meter?.began(exchange);
    await ledger.open(exchange, reservation);
    if (end === undefined) exchange.outcome = 'lost';
    else fillIn(exchange, end);
    // A deleted model has no price.
    if (end === undefined || exchange.target === undefined) exchange.bill = atMost(answer.estimate, reservation.nanos);
    reservation.settle(exchange);
    this.#held.delete(nameOf(answer));
    await ledger.settle(exchange, reservation);
    meter?.settled(exchange);
    // If this fails, it is settled again, and the ledger ignores the second row.
    await store.remove(answer);
  }

  async #exchangeOf(answer: BackgroundAnswer): Promise<Exchange> {
    const { rowId, key: id, project, model, upstream, estimate, createdAtMs } = answer;
    const { clock, findKey, current } = this.#deps;
    const ageMs = clock.nowMs() - createdAtMs;
    const exchange = new Exchange(rowId, undefined, current(), createdAtMs, performance.now() - ageMs);
    exchange.key = { ...((await findKey(id)) ?? bareKey(id, 'store')), project, captureMs: undefined };
    exchange.route = this.#what.routeOf(answer);
    exchange.modelId = model;
    exchange.estimate = estimate;
    exchange.status = 200;
    exchange.attempts = 1;
    const targets = exchange.snapshot.models.resolve(model)?.model.targets ?? [];
    [exchange.target] = targets
      .filter((target) => target.upstream.id === upstream && target.weight > 0)
      .toSorted((one, other) => one.priority - other.priority);
    return exchange;
  }
}

const nameOf = ({ id, upstream }: BackgroundAnswer): string => `${upstream} ${id}`;

const atMost = (estimate: RequestEstimate, nanos: number): Exchange['bill'] => ({
  inputTokens: estimate.mostInputTokens,
  cachedTokens: 0,
  outputTokens: estimate.mostOutputTokens,
  searchUnits: 0,
  items: estimate.items,
  images: 0,
  isEstimated: true,
  costNanos: nanos === 0 ? null : nanos,
});
