/** Chooses whom to call: tier by tier among those that work and have room, and someone that rests rather than nobody. */

import type { Candidate, Course, Dispatcher, NoTurn, Tried, Turn } from '../core/dispatch.ts';
import type { Snapshot, Target, Upstream } from '../core/snapshot.ts';
import type { TargetState } from '../core/target-state.ts';
import { pick, pickByWeight } from './balance.ts';
import { type KeyView, Standings, type TargetView, type UpstreamStanding } from './standing.ts';
import { bindingUntilMs, stateOf } from './target-state.ts';
import { TargetTurn, type TurnDeps } from './turn.ts';

/** No more of a tier than this rests because of what it answered: the others would have to bear it all. */
const restingShare = 0.5;
/** Beyond that share, one that should rest is called with this much of its weight. */
const pressedWeight = 0.1;
/** An active check may fail once. */
const failedChecksToRest = 2;
/** Where nothing says when there will be room again. */
const fullRetryAfterMs = 1_000;

export interface DispatcherDeps extends TurnDeps {
  readonly random: () => number;
}

export interface TargetDispatcher extends Dispatcher {
  /** Takes over a configuration; what is known of those that stay is kept. */
  adopt(snapshot: Pick<Snapshot, 'upstreams' | 'models'>): void;
  /** What an active check found. */
  checked(upstream: Upstream, ok: boolean, why: string | undefined): void;
  /** How every target of a configuration is, each once. */
  describe(snapshot: Pick<Snapshot, 'models'>): TargetState[];
}

export function createDispatcher(deps: DispatcherDeps): TargetDispatcher {
  const { clock, random, onChange } = deps;
  const standings = new Standings(random, clock.monotonicMs());

  // What one choice looks at; choosing never waits, so that one set is enough.
  const found: Candidate[] = [];
  const views: TargetView[] = [];
  const keys: KeyView[] = [];
  const weights: number[] = [];
  const keyWeights: number[] = [];

  function choose(course: Course, tried: Tried): Turn | NoTurn {
    const nowMs = clock.monotonicMs();
    for (const tier of course.tiers) {
      const turn = chooseIn(tier, course, tried, nowMs);
      if (turn !== undefined) return turn;
    }
    return lastResort(course, tried, nowMs) ?? nobody(course, tried, nowMs);
  }

  function chooseIn(
    tier: readonly Candidate[],
    { model, alone }: Course,
    tried: Tried,
    nowMs: number,
  ): Turn | undefined {
    collect(tier, tried, nowMs);
    if (found.length > 1) keepThoseWithRoom();
    while (found.length > 0) {
      const index = pick(views, weights, model.balance, random, nowMs);
      const turn = take(index, alone, tried, nowMs);
      if (turn !== undefined) return turn;
      removeAt(index);
    }
    return undefined;
  }

  /** Everyone of a tier that may be called now. */
  function collect(tier: readonly Candidate[], tried: Tried, nowMs: number): void {
    found.length = views.length = keys.length = weights.length = 0;
    let pressed = 0;
    for (const candidate of tier) {
      const view = standings.view(candidate.target);
      if (tried.hasTarget(candidate.target) || !view.upstream.places.hasRoom) continue;
      if (!view.standing.circuit.allows(nowMs) || view.upstream.down !== undefined) {
        if (view.standing.circuit.openedBy === 'answer') pressed += 1;
        continue;
      }
      const key = chooseKey(view, tried, nowMs);
      if (key !== undefined) add(candidate, view, key, candidate.target.weight);
    }
    const over = pressed - Math.ceil(tier.length * restingShare);
    if (over > 0 && found.length > 0) press(tier, tried, over, nowMs);
  }

  /** Calls those of a tier that wake soonest, so that not too many of it rest at once. */
  function press(tier: readonly Candidate[], tried: Tried, count: number, nowMs: number): void {
    const resting = tier
      .map((candidate) => ({ candidate, view: standings.view(candidate.target) }))
      .filter(({ candidate, view: { standing, upstream } }) => {
        const { circuit } = standing;
        if (circuit.openedBy !== 'answer' || circuit.allows(nowMs) || circuit.bindingUntilMs > nowMs) return false;
        return upstream.down === undefined && upstream.places.hasRoom && !tried.hasTarget(candidate.target);
      })
      .sort((a, b) => a.view.standing.circuit.restsUntilMs - b.view.standing.circuit.restsUntilMs);
    for (const { candidate, view } of resting.slice(0, count)) {
      const key = chooseKey(view, tried, nowMs);
      if (key !== undefined) add(candidate, view, key, candidate.target.weight * pressedWeight);
    }
  }

  function add(candidate: Candidate, view: TargetView, key: KeyView, weight: number): void {
    found.push(candidate);
    views.push(view);
    keys.push(key);
    weights.push(weight);
  }

  /** Nobody has to queue as long as one of the same priority is free. */
  function keepThoseWithRoom(): void {
    if (!views.some(({ upstream }) => upstream.places.isFree)) return;
    for (let i = views.length - 1; i >= 0; i -= 1) {
      if (views[i]?.upstream.places.isFree !== true) removeAt(i);
    }
  }

  function removeAt(index: number): void {
    found.splice(index, 1);
    views.splice(index, 1);
    keys.splice(index, 1);
    weights.splice(index, 1);
  }

  /** Undefined where a repetition would be too many for the upstream. */
  function take(index: number, alone: boolean, tried: Tried, nowMs: number): Turn | undefined {
    const candidate = found[index];
    const view = views[index];
    const key = keys[index];
    if (candidate === undefined || view === undefined || key === undefined) return undefined;
    return begin(candidate, view, key, alone, tried, nowMs);
  }

  function begin(
    candidate: Candidate,
    view: TargetView,
    key: KeyView,
    alone: boolean,
    tried: Tried,
    nowMs: number,
  ): Turn | undefined {
    const { budget } = view.upstream;
    const isPaid = tried.sent > 0;
    if (isPaid && !budget.tryTake(nowMs)) return undefined;
    if (!tried.counted) budget.deposit();
    tried.counted = true;
    return new TargetTurn({ candidate, view, key, alone, isPaid }, deps, nowMs);
  }

  /** By weight among those that work; most have one. */
  function chooseKey({ keys: all, target }: TargetView, tried: Tried, nowMs: number): KeyView | undefined {
    const [only] = all;
    if (all.length === 1 && only !== undefined) return mayUse(only, target, tried, nowMs) ? only : undefined;
    keyWeights.length = 0;
    let usable = 0;
    for (const key of all) {
      const weight = mayUse(key, target, tried, nowMs) ? key.credential.weight : 0;
      keyWeights.push(weight);
      usable += weight;
    }
    return usable === 0 ? undefined : all[pickByWeight(keyWeights, random)];
  }

  function mayUse({ credential, circuit, limit }: KeyView, target: Target, tried: Tried, nowMs: number): boolean {
    return circuit.allows(nowMs) && limit.allows(nowMs) && !tried.hasCredential(credential, target);
  }

  /**
   * Nothing rests where there is no alternative, save where it asked for it: the one that wakes soonest. Where the first call
   * went to one that works, there was one: what that said goes to the client.
   */
  function lastResort({ tiers, alone }: Course, tried: Tried, nowMs: number): Turn | undefined {
    if (tried.sent > 0 && !tried.resorted) return undefined;
    for (const { candidate, view, key } of untried(tiers, tried)) {
      if (bindingUntilMs(view, key) > nowMs || !view.upstream.places.hasRoom) continue;
      const turn = begin(candidate, view, key, alone, tried, nowMs);
      if (turn === undefined) continue;
      tried.resorted = true;
      return turn;
    }
    return undefined;
  }

  /** Every pair that was not tried, by the end of its rest; those last whose upstream is known to be down. */
  function untried(tiers: Course['tiers'], tried: Tried): Pair[] {
    return tiers
      .flat()
      .filter(({ target }) => !tried.hasTarget(target))
      .flatMap((candidate) => {
        const view = standings.view(candidate.target);
        return view.keys.map((key) => ({ candidate, view, key }));
      })
      .filter(({ candidate, key }) => !tried.hasCredential(key.credential, candidate.target))
      .sort((a, b) => isDown(a) - isDown(b) || restsUntilMs(a) - restsUntilMs(b));
  }

  function nobody({ tiers }: Course, tried: Tried, nowMs: number): NoTurn {
    const left = untried(tiers, tried);
    const why = left.map((pair) => `${nameOf(pair)}: ${reasonOf(pair, nowMs)}`);
    if (left.length === 0) return { kind: 'tried', retryAfterMs: 0, why };
    const resting = left.filter(({ view, key }) => bindingUntilMs(view, key) > nowMs);
    if (resting.length === left.length) {
      const wakesAtMs = Math.min(...resting.map(({ view, key }) => bindingUntilMs(view, key)));
      return { kind: 'resting', retryAfterMs: wakesAtMs - nowMs, why };
    }
    const isFull = left.some((pair) => !resting.includes(pair) && !pair.view.upstream.places.hasRoom);
    return { kind: isFull ? 'full' : 'spent', retryAfterMs: fullRetryAfterMs, why };
  }

  return {
    choose,
    adopt(snapshot) {
      for (const { id, down } of standings.adopt(snapshot)) {
        onChange({
          upstream: id,
          model: undefined,
          credential: undefined,
          rests: false,
          alone: false,
          why: down,
          forMs: 0,
        });
      }
    },
    checked(upstream, ok, why) {
      const standing = standings.of(upstream);
      const wasDown = standing.down;
      standing.failedChecks = ok ? 0 : standing.failedChecks + 1;
      standing.down = standing.failedChecks >= failedChecksToRest ? `health check: ${why ?? 'failed'}` : undefined;
      const nowMs = clock.monotonicMs();
      if (ok) wakeUnreachable(standing, nowMs);
      if ((wasDown === undefined) === (standing.down === undefined)) return;
      onChange({
        upstream: upstream.id,
        model: undefined,
        credential: undefined,
        rests: standing.down !== undefined,
        alone: false,
        why: standing.down ?? wasDown ?? '',
        forMs: upstream.healthCheck?.intervalMs ?? 0,
      });
    },
    describe: (snapshot) => {
      const nowMs = clock.monotonicMs();
      const states = new Map<string, TargetState>();
      for (const { targets } of snapshot.models.all) {
        const weighted = targets.filter(({ weight }) => weight > 0);
        for (const target of weighted) {
          const view = standings.view(target);
          const alone = weighted.length === 1 && view.keys.length === 1;
          const name = `${target.upstream.id} ${target.model}`;
          const known = states.get(name);
          if (known === undefined || known.state === 'failing') states.set(name, stateOf(view, alone, nowMs));
        }
      }
      return [...states.values()];
    },
  };
}

/** That it is there says nothing of those who answered that they cannot. */
function wakeUnreachable({ targets }: UpstreamStanding, nowMs: number): void {
  for (const { circuit } of targets.values()) {
    if (circuit.openedBy === 'wire') circuit.wake(nowMs);
  }
}

interface Pair {
  readonly candidate: Candidate;
  readonly view: TargetView;
  readonly key: KeyView;
}

function restsUntilMs({ view, key }: Pair): number {
  return Math.max(view.standing.circuit.restsUntilMs, key.circuit.restsUntilMs, key.limit.restsUntilMs);
}

function isDown({ view }: Pair): number {
  return view.upstream.down === undefined ? 0 : 1;
}

function nameOf({ view: { target }, key: { credential } }: Pair): string {
  const name = `${target.upstream.id}: ${target.model}`;
  return target.upstream.credentials.length === 1 ? name : `${name}, ${credential.id}`;
}

function reasonOf({ view, key }: Pair, nowMs: number): string {
  for (const circuit of [view.standing.circuit, key.circuit, key.limit]) {
    const leftMs = circuit.restsUntilMs - nowMs;
    if (leftMs > 0) return `rests ${(leftMs / 1000).toFixed(1)} s more (${circuit.why})`;
  }
  const { down, places } = view.upstream;
  if (down !== undefined) return down;
  return places.hasRoom ? 'its retry budget is spent' : 'its queue is full (limits.concurrency, limits.queue)';
}
