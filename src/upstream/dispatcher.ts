/** Chooses the target to call: tier by tier among healthy targets with a free slot; if none is healthy, one in cooldown. */

import type { Candidate, Dispatcher, NoTarget, RoutePlan, TargetLease, Tried } from '../core/dispatch.ts';
import type { Balance, Snapshot, Target, Upstream } from '../core/snapshot.ts';
import type { TargetState } from '../core/target-state.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import {
  HealthIndex,
  type KeyView,
  type Option,
  type TargetHealth,
  type TargetView,
  type UpstreamHealth,
} from './health/target-health.ts';
import { bindingUntilMs, stateWithNames } from './health/target-state.ts';
import type { SharedSlots } from './slots/shared-slots.ts';
import { type CooldownChange, HeldTarget, type LeaseDeps } from './target-lease.ts';

/** Limit of the share of a tier that is in cooldown because of error answers, as the other targets must take over all calls. */
const restingShare = 0.5;
/** If more targets fail, one that should be in cooldown is called with this share of its weight. */
const pressedWeight = 0.1;
/** Failed active checks after which an upstream counts as down: a single one may fail by accident. */
const failedChecksToCooldown = 2;
/** `Retry-After` of a refusal, if nothing says when a slot will be free. */
const fullRetryAfterMs = 1_000;

export interface DispatcherDeps extends LeaseDeps {
  readonly random: () => number;
  /** Set if processes share the slots at upstreams. */
  readonly shared?: SharedSlots | undefined;
}

export interface TargetDispatcher extends Dispatcher {
  /** Adopts a configuration; targets that remain keep their state. */
  adopt(snapshot: Pick<Snapshot, 'upstreams' | 'models'>): void;
  checked(upstream: Upstream, ok: boolean, why: string | undefined): void;
  /** Describes the state of every target of a configuration, each once; the caller may pause at every `yield`. */
  describing(snapshot: Pick<Snapshot, 'models'>): Generator<undefined, TargetState[], undefined>;
}

export function createDispatcher(deps: DispatcherDeps): TargetDispatcher {
  const { clock, random, onChange, shared } = deps;
  const healthIndex = new HealthIndex(random, clock.monotonicMs(), shared);

  function choose(routePlan: RoutePlan, tried: Tried, matched: string): TargetLease | NoTarget {
    const nowMs = clock.monotonicMs();
    for (const tier of routePlan.tiers) {
      const lease = chooseIn(tier, routePlan, tried, matched, nowMs);
      if (lease !== undefined) return lease;
    }
    return lastResort(routePlan, tried, matched, nowMs) ?? nobody(routePlan, tried, matched, nowMs);
  }

  function chooseIn(
    tier: readonly Candidate[],
    routePlan: RoutePlan,
    tried: Tried,
    matched: string,
    nowMs: number,
  ): TargetLease | undefined {
    const [only] = tier;
    if (tier.length === 1 && only !== undefined) {
      const view = healthIndex.viewOf(only.target, matched, nowMs);
      const option = isOpenTo(only, view, tried) ? optionFor(only, view, tried, nowMs) : undefined;
      return option && begin(option, routePlan, tried, nowMs);
    }
    const options = optionsIn(tier, tried, matched, nowMs);
    // No call has to queue while a target of the same priority is free.
    const free = options.length > 1 ? options.filter(({ view }) => view.upstream.slots.isFree(tried.lane)) : options;
    const best = free.length > 0 ? free : options;
    while (best.length > 0) {
      const [option] = best.splice(pick(best, routePlan.model.balance, random, nowMs), 1);
      const lease = option && begin(option, routePlan, tried, nowMs);
      if (lease !== undefined) return lease;
    }
    return undefined;
  }

  /** The candidate with a credential; undefined if it may not be called now. */
  function optionFor(candidate: Candidate, view: TargetView, tried: Tried, nowMs: number): Option | undefined {
    const key = mayCall(view, tried, nowMs) ? chooseKey(view, tried, nowMs) : undefined;
    return key && { candidate, view, key, weight: candidate.target.weight };
  }

  function optionsIn(tier: readonly Candidate[], tried: Tried, matched: string, nowMs: number): Option[] {
    const options: Option[] = [];
    let resting = 0;
    for (const candidate of tier) {
      const view = healthIndex.viewOf(candidate.target, matched, nowMs);
      if (!isOpenTo(candidate, view, tried)) continue;
      const option = optionFor(candidate, view, tried, nowMs);
      if (option !== undefined) options.push(option);
      else if (view.health.circuit.openedBy === 'answer' && !mayCall(view, tried, nowMs)) resting += 1;
    }
    const over = resting - Math.ceil(tier.length * restingShare);
    return over > 0 && options.length > 0 ? [...options, ...pressed(tier, tried, matched, over, nowMs)] : options;
  }

  /** The targets of a tier whose cooldown ends soonest, which are called so that not too many are in cooldown at once. */
  function pressed(tier: readonly Candidate[], tried: Tried, matched: string, count: number, nowMs: number): Option[] {
    return tier
      .map((candidate) => ({ candidate, view: healthIndex.viewOf(candidate.target, matched, nowMs) }))
      .filter(({ candidate, view: { health, upstream } }) => {
        const { circuit } = health;
        if (circuit.openedBy !== 'answer' || circuit.allows(nowMs) || circuit.bindingUntilMs > nowMs) return false;
        return upstream.down === undefined && upstream.slots.hasRoom(tried) && !tried.hasTarget(candidate.target);
      })
      .sort((a, b) => a.view.health.circuit.cooldownUntilMs - b.view.health.circuit.cooldownUntilMs)
      .slice(0, count)
      .flatMap(({ candidate, view }) => {
        const key = chooseKey(view, tried, nowMs);
        return key === undefined ? [] : [{ candidate, view, key, weight: candidate.target.weight * pressedWeight }];
      });
  }

  /** Leases the target; undefined if a retry would exceed the upstream's retry budget. */
  function begin(option: Option, routePlan: RoutePlan, tried: Tried, nowMs: number): TargetLease | undefined {
    const { budget } = option.view.upstream;
    const isPaid = tried.sent > 0;
    if (isPaid && !budget.tryTake(nowMs)) return undefined;
    if (!tried.counted) budget.deposit();
    tried.counted = true;
    return new HeldTarget(option, { routePlan, isPaid, caller: tried.caller }, deps, nowMs);
  }

  /** Chooses one of the working credentials by weight; most targets have only one. */
  function chooseKey({ keys, target }: TargetView, tried: Tried, nowMs: number): KeyView | undefined {
    const [only] = keys;
    if (keys.length === 1 && only !== undefined) return mayUse(only, target, tried, nowMs) ? only : undefined;
    const usable = keys.filter((key) => mayUse(key, target, tried, nowMs));
    return usable[pickByWeight(usable, random)];
  }

  function mayUse({ credential, circuit, limit }: KeyView, target: Target, tried: Tried, nowMs: number): boolean {
    return circuit.allows(nowMs) && limit.allows(nowMs) && !tried.hasCredential(credential, target);
  }

  /**
   * Without an alternative cooldowns are ignored, unless a pause was requested: the one that ends soonest is chosen. If the first call went to a
   * healthy target there was an alternative: its answer goes to the client.
   */
  function lastResort(routePlan: RoutePlan, tried: Tried, matched: string, nowMs: number): TargetLease | undefined {
    if (tried.sent > 0 && !tried.resorted) return undefined;
    for (const option of untried(routePlan.tiers, tried, matched, nowMs)) {
      if (bindingUntilMs(option.view, option.key) > nowMs || !option.view.upstream.slots.hasRoom(tried)) continue;
      const lease = begin(option, routePlan, tried, nowMs);
      if (lease === undefined) continue;
      tried.resorted = true;
      return lease;
    }
    return undefined;
  }

  /** All targets that were not tried, by the end of their cooldown; those of upstreams that are known to be down come last. */
  function untried(tiers: RoutePlan['tiers'], tried: Tried, matched: string, nowMs: number): Option[] {
    return tiers
      .flat()
      .filter(({ target }) => !tried.hasTarget(target))
      .flatMap((candidate) => {
        const view = healthIndex.viewOf(candidate.target, matched, nowMs);
        return view.keys.map((key) => ({ candidate, view, key, weight: candidate.target.weight }));
      })
      .filter(({ candidate, key }) => !tried.hasCredential(key.credential, candidate.target))
      .sort((a, b) => isDown(a) - isDown(b) || cooldownUntilMs(a) - cooldownUntilMs(b));
  }

  function nobody({ tiers }: RoutePlan, tried: Tried, matched: string, nowMs: number): NoTarget {
    const left = untried(tiers, tried, matched, nowMs);
    const why = left.map((option) => `${nameOf(option)}: ${reasonOf(option, tried, nowMs)}`);
    if (left.length === 0) return { kind: 'tried', retryAfterMs: 0, isLimited: false, why };
    const resting = left.filter(({ view, key }) => bindingUntilMs(view, key) > nowMs);
    if (resting.length === left.length) {
      const wakesAtMs = Math.min(...resting.map(({ view, key }) => bindingUntilMs(view, key)));
      const isLimited = resting.every(({ view, key }) => isOnlyLimited(view, key, nowMs));
      return { kind: 'resting', retryAfterMs: wakesAtMs - nowMs, isLimited, why };
    }
    const isFull = left.some((option) => !resting.includes(option) && !option.view.upstream.slots.hasRoom(tried));
    return { kind: isFull ? 'full' : 'spent', retryAfterMs: fullRetryAfterMs, isLimited: false, why };
  }

  function excuseUnavailable({ tiers }: RoutePlan, { bodyMark }: Tried, matched: string): void {
    const nowMs = clock.monotonicMs();
    const alike = new Map<TargetHealth, TargetView>();
    for (const { target } of tiers.flat()) {
      const view = healthIndex.viewOf(target, matched, nowMs);
      if (view.health.bodyFaults.isOnly(bodyMark)) alike.set(view.health, view);
    }
    if (alike.size < 2) return;
    for (const { health, target } of alike.values()) {
      const { circuit, bodyFaults, name } = health;
      const wasOpen = circuit.state(nowMs) !== 'closed';
      circuit.excuse(bodyMark, nowMs);
      circuit.forgive(0, bodyFaults.counted);
      bodyFaults.excuseUnavailable();
      if (!wasOpen || circuit.state(nowMs) !== 'closed') continue;
      onChange({ ...changeOf(target.upstream.id, { inCooldown: false, why: circuit.why, forMs: 0 }), model: name });
    }
  }

  return {
    choose,
    excuseUnavailable,
    pacing: (upstream) => healthIndex.of(upstream).pacer,
    adopt(snapshot) {
      for (const { id, down } of healthIndex.adopt(snapshot)) {
        onChange(changeOf(id, { inCooldown: false, why: down, forMs: 0 }));
      }
    },
    checked(upstream, ok, why) {
      const health = healthIndex.of(upstream);
      const wasDown = health.down;
      if (ok) health.isChecked = true;
      health.failedChecks = ok ? 0 : health.failedChecks + 1;
      health.down = health.failedChecks >= failedChecksToCooldown ? `health check: ${why ?? 'failed'}` : undefined;
      const nowMs = clock.monotonicMs();
      if (ok) wakeUnreachable(health, nowMs);
      if ((wasDown === undefined) === (health.down === undefined)) return;
      const inCooldown = health.down !== undefined;
      const forMs = upstream.healthCheck?.intervalMs ?? 0;
      onChange(changeOf(upstream.id, { inCooldown, why: health.down ?? wasDown ?? '', forMs }));
    },
    describing,
  };

  function* describing(snapshot: Pick<Snapshot, 'models'>): Generator<undefined, TargetState[], undefined> {
    const nowMs = clock.monotonicMs();
    healthIndex.forgetIdle(nowMs);
    const states = new Map<TargetHealth, TargetState>();
    const lanes = new Map<UpstreamHealth, TargetState['lanes']>();
    for (const { targets } of snapshot.models.all) {
      yield;
      const weighted = targets.filter(({ weight }) => weight > 0);
      for (const target of weighted) {
        const view = healthIndex.view(target);
        const alone = weighted.length === 1 && view.keys.length === 1;
        const known = states.get(view.health);
        if (known !== undefined && known.state !== 'failing') continue;
        const ofUpstream = getOrMake(lanes, view.upstream, () => view.upstream.lanes());
        states.set(view.health, stateWithNames(view, alone, nowMs, ofUpstream));
      }
    }
    return [...states.values()];
  }
}

function changeOf(upstream: string, what: Pick<CooldownChange, 'inCooldown' | 'why' | 'forMs'>): CooldownChange {
  return { upstream, model: undefined, credential: undefined, alone: false, ...what };
}

/** Ends cooldowns of a reachable upstream that connection errors or loading caused, but not those that its answers caused. */
function wakeUnreachable({ targets }: UpstreamHealth, nowMs: number): void {
  for (const { circuit } of targets.values()) {
    if (circuit.openedBy === 'wire' || circuit.openedBy === 'loading') circuit.wake(nowMs);
  }
}

function isOpenTo({ target }: Candidate, { upstream }: TargetView, tried: Tried): boolean {
  return !tried.hasTarget(target) && upstream.slots.hasRoom(tried);
}

/** Whether the target may be called. The body matters only if it is the one that brought the target into cooldown. */
function mayCall({ health: { circuit }, upstream }: TargetView, tried: Tried, nowMs: number): boolean {
  if (upstream.down !== undefined || !circuit.allows(nowMs)) return false;
  return circuit.oneBody === undefined || circuit.mayProbe(tried.bodyMark, nowMs);
}

function cooldownUntilMs({ view, key }: Option): number {
  return Math.max(view.health.circuit.cooldownUntilMs, key.circuit.cooldownUntilMs, key.limit.cooldownUntilMs);
}

function isDown({ view }: Option): number {
  return view.upstream.down === undefined ? 0 : 1;
}

/** Whether the target can be called apart from rate limits: neither it nor the credential is in a pause that the upstream requested. */
function isOnlyLimited({ health }: TargetView, { circuit }: KeyView, nowMs: number): boolean {
  return health.circuit.bindingUntilMs <= nowMs && circuit.bindingUntilMs <= nowMs;
}

function nameOf({ view: { target, health }, key: { credential } }: Option): string {
  const name = `${target.upstream.id}: ${health.name}`;
  return target.upstream.credentials.length === 1 ? name : `${name}, ${credential.id}`;
}

function reasonOf({ view, key }: Option, tried: Tried, nowMs: number): string {
  for (const circuit of [view.health.circuit, key.circuit, key.limit]) {
    const leftMs = circuit.cooldownUntilMs - nowMs;
    if (leftMs > 0) return `in cooldown for ${(leftMs / 1000).toFixed(1)} s more (${circuit.why})`;
  }
  const { down, slots } = view.upstream;
  if (down !== undefined) return down;
  return slots.hasRoom(tried) ? 'its retry budget is spent' : 'its queue is full (limits.concurrency, limits.queue)';
}

/** Index of the option to call: by weight, by how busy they are, or by latency. There is at least one option. */
function pick(options: readonly Option[], balance: Balance, random: () => number, nowMs: number): number {
  if (options.length === 1) return 0;
  if (balance === 'fastest') return fastest(options, nowMs);
  const first = pickByWeight(options, random);
  if (balance === 'weighted') return first;
  // The better of two random options: if all processes chose the best of all, they would all call it at the same moment.
  const second = pickByWeight(options, random, first);
  return busyness(options[first]) <= busyness(options[second]) ? first : second;
}

function busyness(option: Option | undefined): number {
  return option === undefined ? Number.POSITIVE_INFINITY : (option.view.health.inFlight + 1) / option.weight;
}

/** Index of the fastest option. Calls in flight count too: the fastest target slows down once all calls go to it. */
function fastest(options: readonly Option[], nowMs: number): number {
  let best = 0;
  let leastCost = Number.POSITIVE_INFINITY;
  for (const [index, { view }] of options.entries()) {
    const { latency, inFlight } = view.health;
    const cost = (latency.movingMs(nowMs) + 1) * (inFlight + 1);
    if (cost >= leastCost) continue;
    best = index;
    leastCost = cost;
  }
  return best;
}

/** Index of a random option, by the share of each; `except` is left out. */
function pickByWeight(all: readonly { readonly weight: number }[], random: () => number, except = -1): number {
  let sum = 0;
  for (let i = 0; i < all.length; i += 1) if (i !== except) sum += all[i]?.weight ?? 0;
  let left = random() * sum;
  let last = 0;
  for (let i = 0; i < all.length; i += 1) {
    const weight = all[i]?.weight ?? 0;
    if (i === except || weight === 0) continue;
    last = i;
    left -= weight;
    if (left < 0) return i;
  }
  return last;
}
