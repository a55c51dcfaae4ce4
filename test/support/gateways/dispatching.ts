/** Targets to choose from, and a dispatcher with a controlled clock. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { noCaps } from '../../../src/core/caps.ts';
import { isLease, type NoTarget, type RoutePlan, type TargetLease, Tried } from '../../../src/core/dispatch.ts';
import { defineFamily } from '../../../src/core/family.ts';
import { byOperation } from '../../../src/core/operations/index.ts';
import type { Credential, Model, Target, Timeouts, Upstream } from '../../../src/core/snapshot.ts';
import { createDispatcher } from '../../../src/upstream/dispatcher.ts';
import type { CooldownChange } from '../../../src/upstream/target-lease.ts';
import { createFakeClock } from '../time/fake-clock.ts';

const family = defineFamily({ id: 'test', title: 'Test', offers: {} });
const offer = { path: '/embeddings' };
const timeouts: Timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 };

export function credential(id: string, weight = 1): Credential {
  return { id, weight, headers: [], fingerprint: id };
}

export function upstream(id: string, more: Partial<Upstream> = {}): Upstream {
  return {
    id,
    family,
    origin: undefined,
    pathPrefix: '',
    credentials: [credential('key')],
    forwardHeaders: [],
    responseHeaders: undefined,
    secrets: [],
    screen: 'all',
    unscreened: [],
    timeouts: byOperation(() => timeouts),
    limits: { concurrency: 1_000, queue: 0, queueTimeoutMs: 1_000, bulkShare: 0.1 },
    caps: noCaps,
    tls: undefined,
    addresses: undefined,
    healthCheck: undefined,
    options: {},
    answerLimitBytes: 1024,
    offers: new Map(),
    ...more,
  };
}

export function target(of: Upstream, priority = 0, weight = 1): Target {
  return {
    upstream: of,
    model: 'm',
    priority,
    weight,
    price: undefined,
    offers: of.offers,
    unsupported: undefined,
    bridge: undefined,
    tokenIds: 'decode',
    defaults: {},
  };
}

export function routePlan(...tiers: Target[][]): RoutePlan {
  const targets = tiers.flat();
  const [first, ...others] = targets;
  if (first === undefined) throw new TypeError('a route plan needs a target');
  const model: Model = {
    id: 'm',
    aliases: [],
    operations: ['embeddings'],
    visible: true,
    space: undefined,
    acceptsMessages: false,
    asksUsage: false,
    balance: 'weighted',
    retry: { scope: 'safe', attempts: 5, sameTarget: undefined },
    hedge: undefined,
    caps: noCaps,
    targets: [first, ...others],
  };
  return {
    model,
    tiers: tiers.map((tier) => tier.map((one) => ({ target: one, offer, lifted: false }))),
    totalMs: 1_000,
    alone: targets.length === 1,
    replayable: true,
  };
}

/** The caller of a request with this body that was not sent yet. */
const caller = { lane: 'interactive', key: undefined, estimate: undefined, queuedMs: 0 } as const;

export const untried = (body = ''): Tried => new Tried(Buffer.from(body), caller);

export function setup(random: () => number = Math.random) {
  const clock = createFakeClock();
  const changes: CooldownChange[] = [];
  const dispatcher = createDispatcher({ clock, random, onChange: (change) => changes.push(change) });
  const choose = (where: RoutePlan, tried = untried(), matched = ''): TargetLease => {
    const chosen = dispatcher.choose(where, tried, matched);
    assert.ok(isLease(chosen), 'nobody was chosen');
    return chosen;
  };
  const nobody = (where: RoutePlan, tried = untried(), matched = ''): NoTarget => {
    const chosen = dispatcher.choose(where, tried, matched);
    assert.ok(!isLease(chosen), 'somebody was chosen');
    return chosen;
  };
  /** As many calls as it takes to have it rest. */
  const breakDown = (one: Target, kind: 'wire' | 'answer'): void => {
    for (let i = 0; i < 5; i += 1) choose(routePlan([one])).failed('broken', kind);
  };
  const shares = (where: RoutePlan, count = 1_000): Map<string, number> => {
    const seen = new Map<string, number>();
    for (let i = 0; i < count; i += 1) {
      const lease = choose(where);
      const { id } = lease.candidate.target.upstream;
      seen.set(id, (seen.get(id) ?? 0) + 1);
      lease.dropped();
    }
    return seen;
  };
  return { clock, changes, dispatcher, choose, nobody, breakDown, shares };
}
