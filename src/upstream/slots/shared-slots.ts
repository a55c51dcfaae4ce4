/** Manages this process's share of each upstream's slots, if processes share them: claims slots on demand, returns unused ones. */

import { performance } from 'node:perf_hooks';
import type { SlotArbiter, SlotClaim } from '../../core/slots.ts';
import type { Slots } from './slots.ts';

const tidyEveryMs = 500;
/** Interval of claims while calls wait for slots here or in another process. */
const hurriedMs = 100;
/** How long the slots of an idle upstream are kept. */
const idleMs = 60_000;

interface Shared {
  readonly slots: Slots;
  usedAtMs: number;
  isContended: boolean;
}

export class SharedSlots {
  readonly #arbiter: SlotArbiter;
  readonly #shared = new Map<string, Shared>();
  readonly #timer: NodeJS.Timeout;
  #lastTidyMs = 0;
  #isClaiming = false;
  #isAsked = false;

  constructor(arbiter: SlotArbiter) {
    this.#arbiter = arbiter;
    this.#timer = setInterval(() => this.#look(), hurriedMs).unref();
  }

  /** Shares the upstream's slots from now on; call `ask` to claim more. */
  add(upstream: string, slots: Slots): void {
    this.#shared.set(upstream, { slots, usedAtMs: performance.now(), isContended: false });
    if (!this.#arbiter.isThere) this.#liveAlone(slots);
  }

  remove(upstream: string): void {
    this.#shared.delete(upstream);
  }

  /** Claims slots, as a call waits for one or was denied one. All requests of one event-loop turn make one claim. */
  ask(upstream: string): void {
    const shared = this.#shared.get(upstream);
    if (shared === undefined || this.#isAsked) return;
    shared.usedAtMs = performance.now();
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      void this.#claim((one) => one.slots.isShort);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastTidyMs < tidyEveryMs) {
      void this.#claim(({ slots, isContended }) => isContended || slots.isShort);
      return;
    }
    this.#lastTidyMs = nowMs;
    void this.#claim((shared) => {
      if (shared.slots.peak > 0) shared.usedAtMs = nowMs;
      return shared.slots.held > 0 || nowMs - shared.usedAtMs < idleMs;
    });
  }

  /** Sends one claim at a time, for all matching upstreams. */
  async #claim(isMeant: (shared: Shared) => boolean): Promise<void> {
    if (this.#isClaiming) return;
    const wanting = [...this.#shared].filter(([, shared]) => isMeant(shared));
    if (wanting.length === 0) return;
    if (!this.#arbiter.isThere) {
      for (const [, { slots }] of wanting) this.#liveAlone(slots);
      return;
    }
    this.#isClaiming = true;
    try {
      const claims = wanting.map(([upstream, shared]) => this.#toClaim(upstream, shared));
      const grants = await this.#arbiter.claim(claims);
      for (const [index, [, shared]] of wanting.entries()) {
        const grant = grants[index];
        const wants = claims[index]?.wants ?? 0;
        if (grant === undefined) continue;
        shared.isContended = grant.keep < shared.slots.concurrency;
        shared.slots.hold(Math.min(grant.held, grant.keep), grant.held < wants);
      }
    } catch {
      // The arbiter logs the error.
      for (const [, { slots }] of wanting) this.#liveAlone(slots);
    } finally {
      this.#isClaiming = false;
    }
  }

  /** The claim for an upstream. Unneeded slots are given up before it is sent, so that no call takes them in the meantime. */
  #toClaim(upstream: string, { slots, usedAtMs }: Shared): SlotClaim {
    const most = slots.concurrency;
    const isIdle = performance.now() - usedAtMs >= idleMs;
    const spare = isIdle ? 0 : Math.floor(most / (2 * Math.max(1, this.#arbiter.nodes)));
    const wants = Math.min(slots.recentPeak(), Math.max(slots.mostUseful, slots.inFlight));
    if (slots.held > Math.max(wants, spare)) slots.hold(Math.max(wants, spare), false);
    return { upstream, most, held: Math.max(slots.held, slots.inFlight), wants };
  }

  #liveAlone(slots: Slots): void {
    const share = Math.floor(slots.concurrency / Math.max(1, this.#arbiter.nodes));
    slots.hold(Math.max(1, share), true);
  }
}
