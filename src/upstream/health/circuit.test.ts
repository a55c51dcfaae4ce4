import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Circuit } from './circuit.ts';

/** Without jitter, cooldowns have their maximum: 1 s, 2 s, 4 s and so on. */
const longest = (): number => 0;

function fail(circuit: Circuit, nowMs: number, times = 1): void {
  for (let i = 0; i < times; i += 1) circuit.failed(circuit.begin(nowMs), nowMs, 'reset', 'wire');
}

function succeed(circuit: Circuit, nowMs: number, times = 1): void {
  for (let i = 0; i < times; i += 1) circuit.succeeded(circuit.begin(nowMs), nowMs);
}

/** In cooldown from 0 to 1,000 ms. */
function opened(random: () => number = longest): Circuit {
  const circuit = new Circuit(random);
  fail(circuit, 0, 5);
  return circuit;
}

test('the circuit opens after five failures in a row', () => {
  const circuit = new Circuit(longest);
  fail(circuit, 0, 4);
  assert.equal(circuit.state(0), 'closed');
  fail(circuit, 0);
  assert.equal(circuit.state(0), 'open');
  assert.equal(circuit.allows(0), false);
  assert.deepEqual(
    [circuit.why, circuit.openedBy, circuit.consecutiveFailures, circuit.openedCount, circuit.cooldownUntilMs],
    ['reset', 'wire', 5, 1, 1_000],
  );
});

test('a success restarts the count of failures', () => {
  const circuit = new Circuit(longest);
  for (let round = 0; round < 3; round += 1) {
    fail(circuit, round * 20_000, 4);
    succeed(circuit, round * 20_000);
  }
  assert.equal(circuit.consecutiveFailures, 0);
  assert.equal(circuit.state(60_000), 'closed');
});

test('opens when half of twenty calls within ten seconds failed, not for fewer calls or failures', () => {
  const half = new Circuit(longest);
  for (let pair = 0; pair < 9; pair += 1) {
    succeed(half, pair * 1_000);
    fail(half, pair * 1_000);
  }
  succeed(half, 9_000);
  assert.equal(half.state(9_999), 'closed');
  fail(half, 9_999);
  assert.equal(half.state(9_999), 'open');

  const less = new Circuit(longest);
  for (let round = 0; round < 100; round += 1) {
    succeed(less, round * 100, 5);
    fail(less, round * 100, 4);
  }
  assert.equal(less.state(9_999), 'closed');
});

test('calls older than ten seconds do not count', () => {
  const circuit = new Circuit(longest);
  for (let pair = 0; pair < 9; pair += 1) {
    succeed(circuit, 0);
    fail(circuit, 0);
  }
  succeed(circuit, 9_999);
  fail(circuit, 10_000);
  assert.equal(circuit.state(10_000), 'closed');
  fail(circuit, 3_600_000, 4);
  assert.equal(circuit.state(3_600_000), 'open');
});

test('failures and calls of different ten-second windows are not mixed', () => {
  const better = new Circuit(longest);
  for (let round = 0; round < 3; round += 1) {
    fail(better, 0, 4);
    succeed(better, 0);
  }
  succeed(better, 9_999);
  succeed(better, 10_000, 17);
  fail(better, 10_000, 3);
  assert.equal(better.state(10_000), 'closed');

  const worse = new Circuit(longest);
  succeed(worse, 0, 30);
  succeed(worse, 9_999);
  for (let round = 0; round < 5; round += 1) {
    assert.equal(worse.state(10_000), 'closed');
    succeed(worse, 10_000, 2);
    fail(worse, 10_000, 2 + (round % 2));
  }
  fail(worse, 10_000);
  assert.equal(worse.state(10_000), 'open');
});

test('after the cooldown one probe at a time is admitted, and its success closes', () => {
  const circuit = opened();
  assert.equal(circuit.allows(999), false);
  assert.equal(circuit.state(1_000), 'half-open');
  assert.equal(circuit.allows(1_000), true);
  const probe = circuit.begin(1_000);
  assert.ok(probe > 0);
  assert.equal(circuit.allows(1_000), false);
  assert.equal(circuit.state(1_000), 'half-open');
  circuit.succeeded(probe, 1_200);
  assert.deepEqual([circuit.state(1_200), circuit.allows(1_200)], ['closed', true]);
  assert.deepEqual([circuit.openedBy, circuit.cooldownUntilMs, circuit.consecutiveFailures], [undefined, 0, 0]);
});

test('cooldowns double with each failed probe, up to a minute', () => {
  const circuit = opened();
  const cooldowns = [];
  for (let nowMs = 1_000; cooldowns.length < 8; nowMs = circuit.cooldownUntilMs) {
    fail(circuit, nowMs);
    cooldowns.push(circuit.cooldownUntilMs - nowMs);
  }
  assert.deepEqual(cooldowns, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  assert.equal(circuit.openedCount, 1);
});

test('jitter shortens cooldowns by up to a fifth, and never lengthens them', () => {
  assert.equal(opened(() => 0.5).cooldownUntilMs, 900);
  assert.equal(Math.round(opened(() => 1 - Number.EPSILON).cooldownUntilMs), 800);
});

test('a flapping target gets longer cooldowns until it was closed for half a minute', () => {
  const circuit = opened();
  succeed(circuit, 1_000);
  fail(circuit, 30_999, 5);
  assert.equal(circuit.cooldownUntilMs, 32_999);
  succeed(circuit, 33_000);
  fail(circuit, 63_000, 5);
  assert.equal(circuit.cooldownUntilMs, 64_000);
  assert.equal(circuit.openedCount, 3);
});

test('failures before a cooldown no longer count after the circuit closes', () => {
  const circuit = new Circuit(longest);
  fail(circuit, 0, 4);
  succeed(circuit, 0);
  fail(circuit, 0, 5);
  succeed(circuit, 1_000);
  for (let i = 0; i < 4; i += 1) {
    fail(circuit, 1_000, 2);
    succeed(circuit, 1_000, 2);
  }
  assert.equal(circuit.state(1_000), 'closed');
});

test('an abandoned probe allows the next probe at once', () => {
  const circuit = opened();
  const probe = circuit.begin(1_000);
  circuit.abandoned(probe);
  assert.deepEqual([circuit.state(1_100), circuit.allows(1_100), circuit.cooldownUntilMs], ['half-open', true, 1_000]);
  assert.ok(circuit.begin(1_100) > 0);
});

test('a call begun before the circuit opened changes nothing when it ends', () => {
  const circuit = new Circuit(longest);
  const early = Array.from({ length: 20 }, () => circuit.begin(0));
  fail(circuit, 0, 5);
  const before = { ...circuit };
  for (const ticket of early.slice(0, 5)) circuit.failed(ticket, 500, 'late', 'answer');
  for (const ticket of early.slice(5, 10)) circuit.succeeded(ticket, 1_500);
  assert.deepEqual({ ...circuit }, before);
  assert.equal(circuit.state(1_500), 'half-open');
  succeed(circuit, 1_500);
  for (const ticket of early.slice(10)) circuit.failed(ticket, 2_000, 'late', 'answer');
  assert.equal(circuit.state(2_000), 'closed');
  assert.equal(circuit.consecutiveFailures, 0);
});

test('a failure reported without a begun call counts only while the circuit is closed', () => {
  const circuit = new Circuit(longest);
  for (let i = 0; i < 5; i += 1) circuit.failed(0, 0, 'broke off', 'wire');
  assert.equal(circuit.state(0), 'open');
  circuit.failed(0, 1_000, 'broke off', 'wire');
  circuit.succeeded(0, 1_000);
  assert.equal(circuit.state(1_000), 'half-open');
  succeed(circuit, 1_000);
  for (let i = 0; i < 5; i += 1) circuit.failed(0, 2_000, 'broke off', 'wire');
  assert.equal(circuit.state(2_000), 'open');
});

test('a call despite the cooldown closes the circuit by success, and does not extend the cooldown by failure', () => {
  const circuit = opened();
  const [failing, working] = [circuit.begin(200), circuit.begin(200)];
  assert.ok(failing <= 0 && working <= 0);
  circuit.failed(failing, 300, 'reset', 'wire');
  assert.deepEqual([circuit.cooldownUntilMs, circuit.state(300)], [1_000, 'open']);
  assert.equal(circuit.consecutiveFailures, 6);
  circuit.succeeded(working, 400);
  assert.equal(circuit.state(400), 'closed');
});

test('the success of a call beside the probe closes the circuit, too', () => {
  const circuit = opened();
  const probe = circuit.begin(1_000);
  const beside = circuit.begin(1_000);
  assert.ok(beside <= 0);
  circuit.succeeded(beside, 1_100);
  assert.equal(circuit.state(1_100), 'closed');
  circuit.failed(probe, 1_200, 'reset', 'wire');
  assert.deepEqual([circuit.state(1_200), circuit.consecutiveFailures], ['closed', 1]);
});

test('a requested pause cannot be ended by a success or health check', () => {
  const circuit = new Circuit(longest);
  circuit.coolDownFor(7_000, 0, 'Retry-After: 7');
  assert.deepEqual([circuit.state(6_999), circuit.openedBy, circuit.why], ['open', 'answer', 'Retry-After: 7']);
  assert.deepEqual([circuit.cooldownUntilMs, circuit.bindingUntilMs], [7_000, 7_000]);
  succeed(circuit, 100);
  circuit.wake(200);
  circuit.openNow(300, 'refused', 'answer');
  assert.deepEqual([circuit.state(6_999), circuit.cooldownUntilMs], ['open', 7_000]);
});

test('a requested pause ends in a probe, and cooldowns grow from there', () => {
  const circuit = new Circuit(longest);
  circuit.coolDownFor(7_000, 0, 'Retry-After: 7');
  const probe = circuit.begin(7_000);
  assert.ok(probe > 0);
  circuit.failed(probe, 7_000, 'reset', 'wire');
  assert.equal(circuit.cooldownUntilMs, 8_000);
  fail(circuit, 8_000);
  assert.equal(circuit.cooldownUntilMs, 10_000);
});

test('of several requested pauses the longest applies, and a pause of zero opens nothing', () => {
  const circuit = new Circuit(longest);
  circuit.coolDownFor(0, 0, 'Retry-After: 0');
  assert.equal(circuit.state(0), 'closed');
  circuit.coolDownFor(5_000, 0, 'Retry-After: 5');
  circuit.coolDownFor(1_000, 0, 'Retry-After: 1');
  assert.deepEqual([circuit.cooldownUntilMs, circuit.bindingUntilMs, circuit.why], [5_000, 5_000, 'Retry-After: 5']);
  const longer = opened();
  longer.coolDownFor(600, 0, 'Retry-After: 0.6');
  assert.deepEqual([longer.cooldownUntilMs, longer.bindingUntilMs, longer.why], [1_000, 600, 'reset']);
});

test('openNow() opens the circuit at once, and repeated calls in one cooldown do not lengthen it', () => {
  const circuit = new Circuit(longest);
  for (let i = 0; i < 50; i += 1) circuit.openNow(0, '401', 'answer');
  assert.deepEqual([circuit.cooldownUntilMs, circuit.openedCount, circuit.openedBy], [1_000, 1, 'answer']);
  circuit.openNow(1_000, '401', 'answer');
  assert.equal(circuit.cooldownUntilMs, 3_000);
});

test('a probe reported as failed twice causes one cooldown', () => {
  for (const ticketFirst of [true, false]) {
    const circuit = opened();
    const probe = circuit.begin(1_000);
    if (!ticketFirst) circuit.openNow(1_000, '401', 'answer');
    circuit.failed(probe, 1_000, '401', 'answer');
    if (ticketFirst) circuit.openNow(1_000, '401', 'answer');
    assert.deepEqual([circuit.cooldownUntilMs, circuit.allows(3_000)], [3_000, true]);
  }
});

test('a successful health check ends the cooldown, and a probe closes it', () => {
  const circuit = opened();
  circuit.wake(300);
  assert.equal(circuit.state(300), 'half-open');
  const probe = circuit.begin(300);
  assert.ok(probe > 0);
  circuit.wake(400);
  assert.equal(circuit.allows(400), false);
  circuit.failed(probe, 400, 'reset', 'wire');
  assert.equal(circuit.cooldownUntilMs, 2_400);
});

type End = 'succeeded' | 'failed' | 'abandoned';
type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'begin'; readonly count: number }
  | { readonly kind: 'end'; readonly how: End; readonly which: number }
  | { readonly kind: 'burst'; readonly failures: number; readonly successes: number }
  | { readonly kind: 'restFor'; readonly ms: number }
  | { readonly kind: 'openNow' | 'wake' | 'rested' };

const how = fc.constantFrom<End>('succeeded', 'failed', 'failed', 'abandoned');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.oneof(fc.nat(999), fc.nat(40_000)) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('end' as const), how, which: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('burst' as const), failures: fc.nat(4), successes: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restFor' as const), ms: fc.nat(90_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('openNow' as const, 'wake' as const) }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'rested' as const }) },
);

/** A call in the model: its kind, and how often the circuit had opened when it began. */
interface ModelCall {
  readonly isProbe: boolean;
  readonly era: number;
}

/** The expected behaviour of a circuit, by its history rather than by counters. */
class Model {
  state: 'closed' | 'resting' = 'closed';
  untilMs = 0;
  boundUntilMs = 0;
  growth = 0;
  era = 0;
  closedAtMs: number | undefined = undefined;
  row = 0;
  readonly underWay = new Set<ModelCall>();
  verdicts: { readonly second: number; readonly failed: boolean }[] = [];

  /** A call that hangs since an earlier period is no probe of this cooldown. */
  get probesOut(): number {
    return [...this.underWay].filter(({ isProbe, era }) => isProbe && era === this.era).length;
  }

  allows(nowMs: number): boolean {
    return this.state === 'closed' || (nowMs >= this.untilMs && this.probesOut === 0);
  }

  begin(nowMs: number): ModelCall {
    const call = { isProbe: this.state === 'resting' && this.allows(nowMs), era: this.era };
    this.underWay.add(call);
    return call;
  }

  end(call: ModelCall, how: End, nowMs: number): void {
    this.underWay.delete(call);
    if (how === 'abandoned' || call.era !== this.era) return;
    this.row = how === 'failed' ? this.row + 1 : 0;
    if (this.state === 'resting') {
      if (how === 'failed' && call.isProbe) this.openNow(nowMs);
      if (how === 'succeeded' && nowMs >= this.boundUntilMs) this.#close(nowMs);
      return;
    }
    const second = Math.floor(nowMs / 1_000);
    this.verdicts.push({ second, failed: how === 'failed' });
    const recent = this.verdicts.filter((verdict) => verdict.second > second - 10);
    const failures = recent.filter(({ failed }) => failed).length;
    const tooOften = recent.length >= 20 && failures / recent.length >= 0.5;
    if (how === 'failed' && (this.row >= 5 || tooOften)) this.openNow(nowMs);
  }

  openNow(nowMs: number): void {
    if (this.state === 'resting' && nowMs < this.untilMs) return;
    this.#open(nowMs);
    this.untilMs = nowMs + 0.9 * Math.min(60_000, 1_000 * 2 ** this.growth);
    this.growth += 1;
  }

  coolDownFor(ms: number, nowMs: number): void {
    if (ms === 0) return;
    this.#open(nowMs);
    this.boundUntilMs = Math.max(this.boundUntilMs, nowMs + ms);
    this.untilMs = Math.max(this.untilMs, nowMs + ms);
  }

  wake(nowMs: number): void {
    if (this.state === 'resting' && this.untilMs > nowMs) this.untilMs = Math.max(nowMs, this.boundUntilMs);
  }

  #open(nowMs: number): void {
    if (this.state === 'resting') return;
    this.state = 'resting';
    this.era += 1;
    if (this.closedAtMs === undefined || nowMs >= this.closedAtMs + 30_000) this.growth = 0;
  }

  #close(nowMs: number): void {
    this.state = 'closed';
    this.closedAtMs = nowMs;
    this.untilMs = 0;
    this.boundUntilMs = 0;
    this.verdicts = [];
  }
}

test('behaves like a simple model: never two probes, no cooldown over a minute unless requested', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
      const circuit = new Circuit(() => 0.5);
      const model = new Model();
      const calls: { readonly ticket: number; readonly call: ModelCall }[] = [];
      let nowMs = 0;

      function begin(): void {
        assert.equal(circuit.allows(nowMs), model.allows(nowMs));
        const call = model.begin(nowMs);
        const ticket = circuit.begin(nowMs);
        assert.equal(ticket > 0, call.isProbe);
        calls.push({ ticket, call });
      }
      function end(how: End, which: number): void {
        const [ended] = calls.splice(which % Math.max(1, calls.length), 1);
        if (ended === undefined) return;
        model.end(ended.call, how, nowMs);
        if (how === 'failed') circuit.failed(ended.ticket, nowMs, 'reset', 'wire');
        else if (how === 'abandoned') circuit.abandoned(ended.ticket);
        else circuit.succeeded(ended.ticket, nowMs);
      }
      function take(each: Step): void {
        switch (each.kind) {
          case 'pass':
            nowMs += each.ms;
            break;
          case 'rested':
            nowMs = Math.max(nowMs, circuit.cooldownUntilMs);
            break;
          case 'begin':
            for (let i = 0; i < each.count; i += 1) begin();
            break;
          case 'end':
            end(each.how, each.which);
            break;
          case 'burst':
            for (let i = 0; i < each.failures + each.successes; i += 1) {
              begin();
              end(i < each.failures ? 'failed' : 'succeeded', calls.length - 1);
            }
            break;
          case 'restFor':
            model.coolDownFor(each.ms, nowMs);
            circuit.coolDownFor(each.ms, nowMs, 'asked');
            break;
          case 'openNow':
            model.openNow(nowMs);
            circuit.openNow(nowMs, 'told', 'answer');
            break;
          case 'wake':
            model.wake(nowMs);
            circuit.wake(nowMs);
            break;
        }
      }

      for (const each of steps) {
        take(each);
        const expected = nowMs < model.untilMs ? 'open' : 'half-open';
        assert.equal(circuit.state(nowMs), model.state === 'closed' ? 'closed' : expected);
        assert.deepEqual(
          [circuit.cooldownUntilMs, circuit.bindingUntilMs, circuit.consecutiveFailures, circuit.openedCount],
          [model.untilMs, model.boundUntilMs, model.row, model.era],
        );
        assert.equal(circuit.openedBy === undefined, model.state === 'closed');
        assert.ok(model.probesOut <= 1);
        assert.ok(circuit.cooldownUntilMs <= Math.max(nowMs + 60_000, circuit.bindingUntilMs));
      }
    }),
    { numRuns: 500 },
  );
});

test('a probe that hangs does not block the probe after the next cooldown', () => {
  const circuit = new Circuit(() => 0);
  const breakDown = (nowMs: number): void => {
    for (let i = 0; i < 5; i += 1) circuit.failed(circuit.begin(nowMs), nowMs, 'broken', 'wire');
  };
  breakDown(0);
  const hanging = circuit.begin(1_000);
  circuit.succeeded(circuit.begin(1_001), 1_002); // those without an alternative
  breakDown(1_003);
  assert.equal(circuit.allows(60_000), true);
  const probe = circuit.begin(60_000);
  circuit.abandoned(hanging);
  assert.equal(circuit.allows(60_001), false, 'the new probe is still out');
  circuit.succeeded(probe, 60_002);
  assert.equal(circuit.state(60_002), 'closed');
});

test('a target that loads a model is probed every few seconds, no more often than a failing one', () => {
  const circuit = new Circuit(() => 0);
  let nowMs = 0;
  const cooldownMs: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    circuit.openNow(nowMs, 'answered 503', 'loading');
    assert.equal(circuit.openedBy, 'loading');
    cooldownMs.push(circuit.cooldownUntilMs - nowMs);
    nowMs = circuit.cooldownUntilMs;
  }
  assert.deepEqual(cooldownMs, [1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
});

test("failures that are later attributed to the request are subtracted from the circuit's counts", () => {
  const circuit = new Circuit(() => 0);
  for (let n = 0; n < 40; n += 1) {
    circuit.failed(0, n * 100, 'broken', 'answer');
    circuit.forgive(0, 1);
  }
  assert.deepEqual([circuit.consecutiveFailures, circuit.state(4_000)], [0, 'closed']);
  for (let n = 0; n < 5; n += 1) circuit.failed(0, 4_000, 'broken', 'answer');
  circuit.forgive(0, 5);
  assert.equal(circuit.state(4_000), 'open', 'one that rests goes on');
});

test('a subtracted failure is removed from the second of the window in which it was counted', () => {
  const circuit = new Circuit(longest);
  for (let second = 0; second < 4; second += 1) circuit.failed(0, second * 1_000, 'broken', 'answer');
  circuit.forgive(0, 4);
  for (let n = 0; n < 12; n += 1) succeed(circuit, 4_000);
  for (let n = 0; n < 9; n += 1) {
    fail(circuit, 5_000);
    if (n % 4 === 3) succeed(circuit, 5_000);
  }
  assert.equal(circuit.state(5_000), 'closed', 'nine of 23 failed');
});

/** Five failures of a single request body. */
function openedByOneBody(): Circuit {
  const circuit = new Circuit(longest);
  for (let n = 0; n < 5; n += 1) circuit.failed(circuit.begin(0), 0, '503', 'answer', 'a');
  return circuit;
}

test('a circuit opened by one body admits a probe with another body after 1 s, with the same body after 2 s', () => {
  const circuit = openedByOneBody();
  assert.deepEqual([circuit.oneBody, circuit.cooldownUntilMs], ['a', 1_000]);
  assert.deepEqual(
    [circuit.mayProbe('b', 1_000), circuit.mayProbe('a', 1_999), circuit.mayProbe('a', 2_000)],
    [true, false, true],
  );
});

test('a failed probe with the body that opened the circuit keeps the cooldown short; another body lengthens it', () => {
  const circuit = openedByOneBody();
  for (const nowMs of [2_000, 4_000, 6_000]) {
    circuit.failed(circuit.begin(nowMs), nowMs, '503', 'answer', 'a');
    assert.deepEqual([circuit.oneBody, circuit.cooldownUntilMs], ['a', nowMs + 1_000]);
  }
  circuit.failed(circuit.begin(7_000), 7_000, '503', 'answer', 'b');
  assert.deepEqual([circuit.oneBody, circuit.cooldownUntilMs], [undefined, 8_000]);
  circuit.failed(circuit.begin(8_000), 8_000, '503', 'answer', 'a');
  assert.deepEqual([circuit.oneBody, circuit.cooldownUntilMs], [undefined, 10_000]);
});

test('attributing failures to the one body that opened the circuit closes it, but not during a requested pause', () => {
  const circuit = openedByOneBody();
  circuit.excuse('b', 500);
  assert.equal(circuit.state(500), 'open');
  circuit.excuse('a', 500);
  assert.equal(circuit.state(500), 'closed');
  const paused = openedByOneBody();
  paused.coolDownFor(3_000, 0, '503');
  paused.excuse('a', 2_999);
  assert.equal(paused.state(2_999), 'open');
  paused.excuse('a', 3_000);
  assert.equal(paused.state(3_000), 'closed');
  const broken = opened();
  broken.excuse('a', 500);
  assert.equal(broken.state(500), 'open');
});
