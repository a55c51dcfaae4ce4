/** This process's part of the places at every upstream, where processes share them: asked for as they are needed, and lowered when they are not. */

import { performance } from 'node:perf_hooks';
import type { PlaceArbiter, PlaceClaim } from '../../core/places.ts';
import type { Places } from './places.ts';

const tidyEveryMs = 500;
/** Whoever waits asks again, and whoever holds others up looks what became free. */
const hurriedMs = 100;
/** So long after the last call an upstream's places are kept. */
const idleMs = 60_000;

interface Shared {
  readonly places: Places;
  usedAtMs: number;
  isContended: boolean;
}

export class SharedPlaces {
  readonly #arbiter: PlaceArbiter;
  readonly #shared = new Map<string, Shared>();
  readonly #timer: NodeJS.Timeout;
  #lastTidyMs = 0;
  #isClaiming = false;
  #isAsked = false;

  constructor(arbiter: PlaceArbiter) {
    this.#arbiter = arbiter;
    this.#timer = setInterval(() => this.#look(), hurriedMs).unref();
  }

  /** From now on its places are those of all. What is asked for says `ask`. */
  add(upstream: string, places: Places): void {
    this.#shared.set(upstream, { places, usedAtMs: performance.now(), isContended: false });
    if (!this.#arbiter.isThere) this.#liveAlone(places);
  }

  remove(upstream: string): void {
    this.#shared.delete(upstream);
  }

  /** Somebody waits for a place, or was denied one. All who ask in a turn are one question. */
  ask(upstream: string): void {
    const shared = this.#shared.get(upstream);
    if (shared === undefined || this.#isAsked) return;
    shared.usedAtMs = performance.now();
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      void this.#claim((one) => one.places.isShort);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastTidyMs < tidyEveryMs) {
      void this.#claim(({ places, isContended }) => isContended || places.isShort);
      return;
    }
    this.#lastTidyMs = nowMs;
    void this.#claim((shared) => {
      if (shared.places.peak > 0) shared.usedAtMs = nowMs;
      return shared.places.held > 0 || nowMs - shared.usedAtMs < idleMs;
    });
  }

  /** One question at a time, for all that are meant. */
  async #claim(isMeant: (shared: Shared) => boolean): Promise<void> {
    if (this.#isClaiming) return;
    const asking = [...this.#shared].filter(([, shared]) => isMeant(shared));
    if (asking.length === 0) return;
    if (!this.#arbiter.isThere) {
      for (const [, { places }] of asking) this.#liveAlone(places);
      return;
    }
    this.#isClaiming = true;
    try {
      const claims = asking.map(([upstream, shared]) => this.#toClaim(upstream, shared));
      const grants = await this.#arbiter.claim(claims);
      for (const [index, [, shared]] of asking.entries()) {
        const grant = grants[index];
        const wants = claims[index]?.wants ?? 0;
        if (grant === undefined) continue;
        shared.isContended = grant.keep < shared.places.concurrency;
        shared.places.hold(Math.min(grant.held, grant.keep), grant.held < wants);
      }
    } catch {
      // Whoever is asked says so in the log.
      for (const [, { places }] of asking) this.#liveAlone(places);
    } finally {
      this.#isClaiming = false;
    }
  }

  /** What is not needed is let go before it is said, so that nobody can take it meanwhile. */
  #toClaim(upstream: string, { places, usedAtMs }: Shared): PlaceClaim {
    const most = places.concurrency;
    const isIdle = performance.now() - usedAtMs >= idleMs;
    const spare = isIdle ? 0 : Math.floor(most / (2 * Math.max(1, this.#arbiter.nodes)));
    const wants = places.turnPeak();
    if (places.held > Math.max(wants, spare)) places.hold(Math.max(wants, spare), false);
    return { upstream, most, held: Math.max(places.held, places.inFlight), wants };
  }

  #liveAlone(places: Places): void {
    const share = Math.floor(places.concurrency / Math.max(1, this.#arbiter.nodes));
    places.hold(Math.max(1, share), true);
  }
}
