/**
 * Answers that upstreams make in the background: what they may cost at most stays reserved until their end was read, which this
 * does, whoever else looks. Each is in the hands of one node; where that is gone, another one takes it.
 */

import { performance } from 'node:perf_hooks';
import type { Ledger } from '../../core/accounting/ledger.ts';
import type { Asking } from '../../core/accounting/price.ts';
import type { Reservation, Spending } from '../../core/accounting/spending.ts';
import { noCaps } from '../../core/caps.ts';
import { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { Log } from '../../core/log.ts';
import type { Route } from '../../core/route.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { BackgroundAnswer, BackgroundEnd, BackgroundStore } from '../../core/store/background-answers.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import { reasonOf } from '../../lib/thrown.ts';
import { courseOf } from '../calls/plan.ts';
import { type BackgroundState, type ReadingDeps, readBackground } from './background-reading.ts';
import { placeOfObject } from './placing.ts';
import { inTime } from './registry.ts';

export interface BackgroundDeps extends ReadingDeps {
  readonly store: BackgroundStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly route: Route;
  readonly spending: Spending;
  readonly ledger: Ledger;
  bill(exchange: Exchange): void;
  current(): Snapshot;
  findKey(id: string): Promise<KeyRecord | undefined>;
  readonly everyMs?: number | undefined;
  readonly meter?: { began(exchange: Exchange): void; settled(exchange: Exchange): void } | undefined;
}

export interface Background {
  /** Before its client sees it. */
  begin(exchange: Exchange, id: string): Promise<void>;
  /** Once its own exchange is over. */
  takeOver(exchange: Exchange, reservation: Reservation | undefined): void;
  /** Whether nothing of it is owed any more that is not written down: it may go. */
  mayGo(id: string, upstream: string): Promise<boolean>;
  start(): void;
  /** So many are in the hands of this process. */
  readonly count: number;
  close(): Promise<void>;
}

/** How often it looks; the first look at an answer comes after as long, the others after a fifth of its age. */
const standardEveryMs = 2_000;
/** In hands for so long after each look. */
const handsMs = 60_000;
const mostAtOnce = 20;
const longestPauseMs = 30_000;
/** No longer; what nobody knows then costs what it may cost at most. */
const longestMs = 24 * 3_600_000;

export function createBackground(deps: BackgroundDeps): Background {
  return new Watcher(deps);
}

class Watcher implements Background {
  readonly #deps: BackgroundDeps;
  readonly #everyMs: number;
  readonly #node: string;
  readonly #held = new Map<string, Reservation>();
  /** Those whose client is still being answered, by the ID of its exchange. */
  readonly #begun = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #round: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    this.#everyMs = deps.everyMs ?? standardEveryMs;
    this.#node = createId(deps.clock.nowMs());
  }

  get count(): number {
    return this.#held.size;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#look();
      void this.#round.then(() => {
        if (!this.#isClosed) this.start();
      });
    }, this.#everyMs);
    this.#timer.unref();
  }

  async begin(exchange: Exchange, id: string): Promise<void> {
    const { key, target, credential, modelId = '', asking } = exchange;
    if (key === undefined || target === undefined || credential === undefined || asking === undefined) {
      throw new TypeError('what is made in the background was asked for');
    }
    const { store, clock } = this.#deps;
    const createdAtMs = clock.nowMs();
    const answer: BackgroundAnswer = {
      id,
      upstream: target.upstream.id,
      credential: credential.fingerprint,
      key: key.id,
      project: key.project,
      model: modelId,
      rowId: createId(createdAtMs),
      asking,
      createdAtMs,
      end: undefined,
    };
    await inTime(
      store.add(answer, this.#node, createdAtMs + this.#everyMs),
      'What is made in the background cannot be written down just now',
    );
    this.#begun.set(exchange.id, nameOf(answer));
  }

  takeOver(exchange: Exchange, reservation: Reservation | undefined): void {
    const name = this.#begun.get(exchange.id);
    this.#begun.delete(exchange.id);
    reservation?.endLimits();
    if (name !== undefined && reservation !== undefined) this.#held.set(name, reservation);
  }

  async mayGo(id: string, upstream: string): Promise<boolean> {
    const { store } = this.#deps;
    const what = 'Whether it is still being made cannot be looked up just now';
    const answer = await inTime(store.get(id, upstream), what);
    if (answer === undefined || answer.end !== undefined) return true;
    const state = await this.#read(answer);
    if (typeof state === 'string') return state === 'gone';
    await inTime(store.tellEnd(answer, state), what);
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    if (this.#held.size === 0) return;
    const nobodys = new Exchange('', undefined, this.#deps.current(), 0, 0);
    for (const reservation of this.#held.values()) reservation.settle(nobodys);
    this.#held.clear();
    try {
      await this.#deps.store.release(this.#node);
    } catch (error) {
      this.#deps.log.warn('what is made in the background is taken over by another process a little later', {
        reason: reasonOf(error),
      });
    }
  }

  async #look(): Promise<void> {
    const { store, log } = this.#deps;
    try {
      const answers = await store.claim(this.#node, { handsMs, most: mostAtOnce });
      await Promise.all(answers.map((answer) => this.#follow(answer)));
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        log.warn('what is made in the background cannot be followed; it is tried again', { reason: reasonOf(error) });
      }
      this.#isFailing = true;
    }
  }

  async #follow(answer: BackgroundAnswer): Promise<void> {
    const { store, clock } = this.#deps;
    if ([...this.#begun.values()].includes(nameOf(answer))) {
      await store.postpone(answer, this.#node, clock.nowMs() + this.#everyMs);
      return;
    }
    const state = answer.end ?? (await this.#read(answer));
    const ageMs = clock.nowMs() - answer.createdAtMs;
    if (state === 'gone' || (typeof state === 'string' && ageMs >= longestMs)) await this.#settle(answer, undefined);
    else if (typeof state === 'string') {
      const pauseMs = Math.min(Math.max(ageMs / 5, this.#everyMs), longestPauseMs);
      await this.#keep(answer);
      await store.postpone(answer, this.#node, clock.nowMs() + pauseMs);
    } else await this.#settle(answer, state);
  }

  #read({ id, rowId, ...answer }: BackgroundAnswer): Promise<BackgroundState> {
    const place = placeOfObject({ ...answer, id, kind: 'response', owner: '' }, this.#deps.current());
    if (place === undefined) return Promise.resolve('unknown');
    return readBackground({ id, requestId: rowId, route: this.#deps.route }, place, this.#deps);
  }

  /** What another process began is reserved anew. */
  async #keep(answer: BackgroundAnswer): Promise<void> {
    if (this.#held.has(nameOf(answer))) return;
    const reservation = await this.#reserve(await this.#exchangeOf(answer), answer.asking);
    if (reservation === undefined) return;
    reservation.endLimits();
    this.#held.set(nameOf(answer), reservation);
  }

  /** Where there is no money for it any more, it is charged all the same. */
  async #reserve(exchange: Exchange, asking: Asking): Promise<Reservation | undefined> {
    const { spending } = this.#deps;
    const resolved = exchange.snapshot.models.resolve(exchange.modelId ?? '');
    if (resolved === undefined) return undefined;
    for (const most of [asking, nothingMore]) {
      try {
        return await spending.reserve(exchange, courseOf(resolved, this.#deps.route), most);
      } catch {
        // Over a limit, or over the budget: the answer is being made, whoever pays for it.
      }
    }
    return undefined;
  }

  /** `end` is undefined where nobody will ever know. */
  async #settle(answer: BackgroundAnswer, end: BackgroundEnd | undefined): Promise<void> {
    const { ledger, bill, store, meter } = this.#deps;
    const exchange = await this.#exchangeOf(answer);
    const reservation = this.#held.get(nameOf(answer)) ?? (await this.#reserve(exchange, answer.asking)) ?? free;
    meter?.began(exchange);
    await ledger.open(exchange, reservation);
    exchange.usage = end?.usage ?? null;
    exchange.written = end?.written;
    exchange.responseBytes = end?.bytes ?? 0;
    exchange.outcome = end === undefined ? 'lost' : outcomes[end.status];
    bill(exchange);
    if (end === undefined) exchange.bill = atMost(answer.asking, reservation.nanos);
    reservation.settle(exchange);
    this.#held.delete(nameOf(answer));
    await ledger.settle(exchange, reservation);
    meter?.settled(exchange);
    // Should this fail, it is settled again, and the ledger has its row already.
    await store.remove(answer);
  }

  /** As whoever asked for it, at the time when that was. */
  async #exchangeOf({
    rowId,
    key: id,
    project,
    model,
    upstream,
    asking,
    createdAtMs,
  }: BackgroundAnswer): Promise<Exchange> {
    const { clock, route, findKey, current } = this.#deps;
    const ageMs = clock.nowMs() - createdAtMs;
    const exchange = new Exchange(rowId, undefined, current(), createdAtMs, performance.now() - ageMs);
    exchange.key = { ...((await findKey(id)) ?? strangerWith(id)), project, captureMs: undefined };
    exchange.route = route;
    exchange.modelId = model;
    exchange.asking = asking;
    exchange.status = 200;
    exchange.attempts = 1;
    const resolved = exchange.snapshot.models.resolve(model);
    exchange.target = resolved?.model.targets.find((target) => target.upstream.id === upstream);
    return exchange;
  }
}

const outcomes = { completed: 'ok', incomplete: 'ok', failed: 'error', cancelled: 'aborted' } as const;

const nameOf = ({ id, upstream }: BackgroundAnswer): string => `${upstream} ${id}`;

const nothingMore: Asking = Object.freeze({
  items: 0,
  images: 0,
  likelyInputTokens: 0,
  mostInputTokens: 0,
  mostOutputTokens: 0,
  mostSearchUnits: 0,
});

const atMost = (asking: Asking, nanos: number): Exchange['bill'] => ({
  inputTokens: asking.mostInputTokens,
  cachedTokens: 0,
  outputTokens: asking.mostOutputTokens,
  searchUnits: 0,
  items: asking.items,
  images: 0,
  isEstimated: true,
  costNanos: nanos === 0 ? null : nanos,
});

/** Where nothing could be reserved. */
const free: Reservation = Object.freeze({
  headers: [],
  nanos: 0,
  accounts: [],
  enter: () => undefined,
  endLimits: () => undefined,
  settle: () => undefined,
});

/** A key that is not there any more. */
const strangerWith = (id: string): KeyRecord => ({
  id,
  project: undefined,
  models: [],
  caps: noCaps,
  metadata: {},
  managedBy: 'store',
  operations: undefined,
  addresses: undefined,
  expiresAtMs: undefined,
  revokedAtMs: undefined,
  captureMs: undefined,
});
