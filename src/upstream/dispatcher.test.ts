import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credential, routePlan, setup, target, untried, upstream } from '../../test/support/gateways/dispatching.ts';
import type { RoutePlan, Tried } from '../core/dispatch.ts';
import type { ModelIndex, Target, Upstream } from '../core/snapshot.ts';
import { atOnce } from '../lib/time-slices.ts';

test('calls skip a failing target of a tier, and go to the next tier if all its targets fail', () => {
  const { breakDown, shares } = setup();
  const [a, b, c] = [target(upstream('a')), target(upstream('b')), target(upstream('c'))];
  const where = routePlan([a, b], [c]);
  breakDown(a, 'wire');
  assert.deepEqual([...shares(where).keys()], ['b']);
  breakDown(b, 'wire');
  assert.deepEqual([...shares(where).keys()], ['c']);
});

test("if over half of a tier's targets answer errors, half stays in use and the failing ones of it get few calls", () => {
  const { breakDown, shares } = setup();
  const targets = ['a', 'b', 'c', 'd'].map((id) => target(upstream(id)));
  for (const one of targets.slice(0, 3)) breakDown(one, 'answer');
  const seen = shares(routePlan(targets));
  assert.equal(seen.size, 2);
  const pressed = 1_000 - (seen.get('d') ?? 0);
  assert.ok(pressed > 40 && pressed < 160, `${pressed} of 1000`);
});

test('an unreachable target gets no traffic, however many of its tier are in cooldown for error responses', () => {
  const { breakDown, shares, clock } = setup(() => 0.99);
  const targets = ['gone', 'a', 'b', 'c', 'd', 'good'].map((id) => target(upstream(id)));
  const [gone, ...others] = targets;
  assert.ok(gone !== undefined);
  breakDown(gone, 'wire');
  clock.advance(100);
  for (const one of others.slice(0, 4)) breakDown(one, 'answer');
  const seen = shares(routePlan(targets));
  assert.equal(seen.has('gone'), false);
});

test('if all targets are in cooldown, one that failed its health check is called last', () => {
  const { breakDown, choose, dispatcher } = setup();
  const [a, b] = [upstream('a'), upstream('b')];
  for (let n = 0; n < 2; n += 1) dispatcher.checked(a, false, 'answered 500');
  breakDown(target(b), 'wire');
  assert.equal(choose(routePlan([target(a)], [target(b)])).candidate.target.upstream.id, 'b');
});

test('unreachable targets are in cooldown however many there are', () => {
  const { breakDown, shares } = setup();
  const targets = ['a', 'b', 'c', 'd'].map((id) => target(upstream(id)));
  for (const one of targets.slice(0, 3)) breakDown(one, 'wire');
  assert.deepEqual([...shares(routePlan(targets)).keys()], ['d']);
});

test('if all targets are in cooldown, the one that recovers first is called', () => {
  const { breakDown, choose, clock } = setup(() => 0);
  const [a, b] = [target(upstream('a')), target(upstream('b'))];
  breakDown(b, 'wire');
  clock.advance(100);
  breakDown(a, 'wire');
  assert.equal(choose(routePlan([a, b])).candidate.target, b);
});

test('a target gets no calls during the pause it requested, and refusals state the remaining time', () => {
  const { choose, nobody, clock } = setup();
  const where = routePlan([target(upstream('a'))]);
  choose(where).limited('answered 429', 5_000);
  clock.advance(1_000);
  const none = nobody(where);
  assert.equal(none.kind, 'resting');
  assert.equal(none.retryAfterMs, 4_000);
  assert.deepEqual(none.why, ['a: m: in cooldown for 4.0 s more (answered 429)']);
  clock.advance(4_000);
  choose(where).served(1);
});

test('a rate limit at one target does not apply to the same credential at another', () => {
  const { choose, nobody } = setup();
  const where = upstream('a');
  const [first, second] = [target(where), { ...target(where), model: 'other' }];
  choose(routePlan([first])).limited('answered 429', 5_000);
  assert.equal(nobody(routePlan([first])).kind, 'resting');
  choose(routePlan([second])).served(1);
});

test('a rejected credential is in cooldown at every target of its upstream', () => {
  const { choose, changes } = setup();
  const where = upstream('a', { credentials: [credential('key 1'), credential('key 2')] });
  const [first, second] = [target(where), { ...target(where), model: 'other' }];
  const refused = choose(routePlan([first]));
  refused.rejected('answered 401');
  for (let i = 0; i < 20; i += 1) {
    const lease = choose(routePlan([second]));
    assert.notEqual(lease.credential, refused.credential);
    lease.served(1);
  }
  assert.deepEqual(
    changes.map(({ model, credential: id, inCooldown }) => ({ model, id, inCooldown })),
    [{ model: undefined, id: refused.credential.id, inCooldown: true }],
  );
});

test('a credential of weight 0 is never used', () => {
  const { choose } = setup();
  const where = upstream('a', { credentials: [credential('key 1', 0), credential('key 2')] });
  for (let i = 0; i < 50; i += 1) assert.equal(choose(routePlan([target(where)])).credential.id, 'key 2');
});

test('retries count against the retry budget of the upstream they go to, first calls do not', () => {
  const { choose, nobody } = setup();
  const where = routePlan([target(upstream('a'))]);
  const again = (): Tried => Object.assign(untried(), { sent: 1, counted: true });
  for (let i = 0; i < 20; i += 1) choose(where, again()).dropped();
  assert.equal(nobody(where, again()).kind, 'spent');
  choose(where).dropped();
});

test('an unsent call does not count against the retry budget', () => {
  const { choose } = setup();
  const where = routePlan([target(upstream('a')), target(upstream('b'))]);
  for (let i = 0; i < 200; i += 1) {
    const tried = untried();
    const first = choose(where, tried);
    first.dropped();
    tried.upstream(first.candidate.target.upstream.id);
    assert.notEqual(choose(where, tried).candidate.target, first.candidate.target);
  }
});

test('a target that a request has tried is not chosen again, and none is left once all were tried', () => {
  const { choose, nobody } = setup();
  const where = routePlan([target(upstream('a')), target(upstream('b'))], [target(upstream('c'))]);
  const tried = untried();
  const seen = new Set<Target>();
  for (let i = 0; i < 3; i += 1) {
    const lease = choose(where, tried);
    lease.dropped();
    seen.add(lease.candidate.target);
    tried.target(lease.candidate.target);
  }
  assert.equal(seen.size, 3);
  assert.equal(nobody(where, tried).kind, 'tried');
});

test('two consecutive failed health checks take an upstream out, and one success restores it', () => {
  const { dispatcher, shares, breakDown, changes } = setup();
  const [first, second] = [upstream('a'), upstream('b')];
  const where = routePlan([target(first), target(second)]);
  dispatcher.checked(first, false, 'answered 500');
  assert.equal(shares(where).size, 2);
  dispatcher.checked(first, false, 'answered 500');
  assert.deepEqual([...shares(where).keys()], ['b']);
  assert.equal(changes.at(-1)?.why, 'health check: answered 500');
  dispatcher.checked(first, true, undefined);
  assert.equal(shares(where).size, 2);
  assert.equal(changes.at(-1)?.inCooldown, false);
  breakDown(target(first), 'wire');
});

test('a saturated upstream is skipped, and reported if all are saturated', async () => {
  const { choose, nobody } = setup();
  const limits = { concurrency: 1, queue: 0, queueTimeoutMs: 1_000, bulkShare: 0.1 };
  const where = routePlan([target(upstream('a', { limits }))], [target(upstream('b', { limits }))]);
  const client = { gone: false, work: undefined };
  const first = choose(where);
  assert.equal(first.enter(client, 1_000_000), 'entered');
  const second = choose(where);
  assert.equal(second.candidate.target.upstream.id, 'b');
  assert.equal(second.enter(client, 1_000_000), 'entered');
  assert.equal(nobody(where).kind, 'full');
  first.served(1);
  assert.equal(nobody(where).kind, 'full', 'the answer is still in progress');
  first.over(undefined);
  assert.equal(choose(where).candidate.target.upstream.id, 'a');
});

test("a target's health survives a reload, and is forgotten with its upstream", () => {
  const { dispatcher, choose, breakDown, shares } = setup();
  const before = [target(upstream('a')), target(upstream('b'))] as const;
  breakDown(before[0], 'wire');
  const after = [target(upstream('a')), target(upstream('b'))] as const;
  assert.deepEqual([...shares(routePlan([...after])).keys()], ['b']);

  const models = modelsOf('b', routePlan([after[1]]));
  const snapshot = { upstreams: new Map([['b', after[1].upstream]]), models };
  dispatcher.adopt(snapshot);
  const again = [target(upstream('a')), target(upstream('b'))] as const;
  assert.equal(shares(routePlan([...again])).size, 2);
  choose(routePlan([...again])).dropped();
});

test("a health check result is kept until the upstream's address changes or its check is removed", () => {
  const { dispatcher } = setup();
  const check = { healthCheck: { path: '/health', intervalMs: 1_000, timeoutMs: 1_000 } };
  const checked = { ...check, origin: 'http://one.test' };
  const moved = { ...check, origin: 'http://other.test' };
  for (const [more, isKnown] of [
    [checked, true],
    [moved, false],
    [{ origin: checked.origin }, false],
  ] as const) {
    const adopt = (next: Partial<Upstream>): ModelIndex => {
      const one = target(upstream('a', next));
      const models = modelsOf('a', routePlan([one]));
      dispatcher.adopt({ upstreams: new Map([['a', one.upstream]]), models });
      return models;
    };
    adopt(checked);
    dispatcher.checked(upstream('a', checked), true, undefined);
    assert.equal(atOnce(dispatcher.describing({ models: adopt(more) }))[0]?.isKnown, isKnown);
  }
});

test("a target's reported state is healthy, in cooldown, half-open, or failing if there is no other target", () => {
  const { dispatcher, breakDown, clock, choose } = setup(() => 0);
  const [a, b] = [target(upstream('a')), target(upstream('b'))];
  let { model } = routePlan([a, b]);
  const models = () => modelsOf('a', { model });
  const states = (): string[] =>
    atOnce(dispatcher.describing({ models: models() })).map(
      ({ upstream: id, state, why }) => `${id} ${state}${why ? `: ${why}` : ''}`,
    );
  assert.deepEqual(states(), ['a healthy', 'b healthy']);
  breakDown(a, 'wire');
  assert.deepEqual(states(), ['a resting: broken', 'b healthy']);
  clock.advance(1_000);
  const probe = choose(routePlan([a]));
  assert.deepEqual(states(), ['a probing: broken', 'b healthy']);
  probe.served(1);
  assert.deepEqual(states(), ['a healthy', 'b healthy']);
  breakDown(a, 'wire');
  ({ model } = routePlan([a]));
  assert.deepEqual(states(), ['a failing: broken']);
});

const named = (of: Upstream, name: string): Target => ({ ...target(of), model: name });

/** The models of a configuration whose targets are all at one upstream. */
const modelsOf = (upstreamId: string, { model }: Pick<RoutePlan, 'model'>): ModelIndex => ({
  resolve: () => undefined,
  all: [model],
  namesByUpstream: new Map([[upstreamId, new Set(model.targets.map((one) => one.model))]]),
});

/** A pattern of a configuration in force. */
function patternSetup(name = 'oa-*') {
  const all = setup(() => 0);
  const one = named(upstream('a'), name);
  const where = routePlan([one]);
  const models = modelsOf('a', where);
  all.dispatcher.adopt({ upstreams: new Map([['a', one.upstream]]), models });
  const limited = (matched: string): void => all.choose(where, untried(), matched).limited('answered 429', 20_000);
  const states = (): string[] =>
    atOnce(all.dispatcher.describing({ models })).map(
      ({ model, state, why }) => `${model} ${state}${why ? `: ${why}` : ''}`,
    );
  return { ...all, where, models, limited, states };
}

test('each model name matched by a pattern has its own cooldown, and other names of the pattern have none', () => {
  const { choose, nobody, limited, where, states, changes } = patternSetup();
  limited('small');
  const none = nobody(where, untried(), 'small');
  assert.deepEqual([none.kind, none.isLimited, none.retryAfterMs], ['resting', true, 20_000]);
  assert.match(none.why[0] ?? '', /^a: oa-small: in cooldown for 20\.0 s more \(answered 429\)$/);
  choose(where, untried(), 'large').served(1);
  // The state shows the pattern once, and which of its names is in cooldown.
  assert.deepEqual(states(), ['oa-* resting: oa-small: answered 429']);
  assert.deepEqual(
    changes.map(({ model, inCooldown }) => [model, inCooldown]),
    [['oa-small', true]],
  );
});

test("a model name matched by a pattern and the same name in the configuration share one target's health", () => {
  const { choose, nobody, limited } = patternSetup();
  limited('small');
  const exact = routePlan([named(upstream('a'), 'oa-small')]);
  assert.equal(nobody(exact).kind, 'resting');
  assert.ok(choose(routePlan([named(upstream('a'), 'oa-large')])));
});

test('of over a thousand model names of a pattern, idle ones are evicted first and those in cooldown last', () => {
  const { choose, nobody, limited, where, clock } = patternSetup();
  limited('resting');
  const busy = choose(where, untried(), 'busy');
  for (let n = 0; n < 3_000; n += 1) {
    clock.advance(1);
    choose(where, untried(), `name-${n}`).failed('broken', 'wire');
  }
  assert.equal(nobody(where, untried(), 'resting').kind, 'resting');
  busy.served(1);
});

test("the health of a pattern's model name is dropped after ten minutes without a call", () => {
  const { choose, where, clock, states } = patternSetup();
  for (let n = 0; n < 5; n += 1) choose(where, untried(), 'gone').failed('broken', 'wire');
  choose(where, untried(), 'busy').enter({ gone: false, work: undefined }, 1);
  assert.deepEqual(states(), ['oa-* failing: oa-gone: broken']);
  clock.advance(600_001);
  assert.deepEqual(states(), ['oa-* healthy']);
  // It begins anew, as one that was never called.
  choose(where, untried(), 'gone').served(1);
  assert.deepEqual(states(), ['oa-* healthy']);
});

test("the health of a pattern's model name is dropped after ten minutes without a call, also after a reload", () => {
  const { choose, where, models, clock, states, dispatcher } = patternSetup();
  for (let n = 0; n < 5; n += 1) choose(where, untried(), 'gone').failed('broken', 'wire');
  const { upstream: same } = where.model.targets[0];
  dispatcher.adopt({ upstreams: new Map([['a', same]]), models });
  assert.deepEqual(states(), ['oa-* failing: oa-gone: broken']);
  clock.advance(600_001);
  assert.deepEqual(states(), ['oa-* healthy']);
});

test("the health of a pattern's model name is kept for ten minutes after its last call, after any uptime", () => {
  const { choose, where, clock, states } = patternSetup();
  clock.advance(3_600_000);
  for (let n = 0; n < 5; n += 1) choose(where, untried(), 'bad').failed('broken', 'wire');
  clock.advance(590_000);
  assert.notDeepEqual(states(), ['oa-* healthy']);
  clock.advance(10_001);
  assert.deepEqual(states(), ['oa-* healthy']);
});

test("the health of a pattern's model name survives a reload that keeps the pattern", () => {
  const { dispatcher, nobody, limited, choose } = patternSetup();
  limited('small');
  const again = named(upstream('a'), 'oa-*');
  const adopt = (where: RoutePlan): void =>
    dispatcher.adopt({
      upstreams: new Map([['a', again.upstream]]),
      models: modelsOf('a', where),
    });
  const same = routePlan([again]);
  adopt(same);
  assert.equal(nobody(same, untried(), 'small').kind, 'resting');
  adopt(routePlan([named(again.upstream, 'other-*')]));
  const back = routePlan([named(upstream('a'), 'oa-*')]);
  adopt(back);
  choose(back, untried(), 'small').dropped();
});
