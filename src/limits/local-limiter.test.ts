import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { type Caps, type Holder, noCaps } from '../core/caps.ts';
import { Counters } from './counters.ts';
import type { Begun } from './limiter.ts';
import { MemoryLimiter, obstacleTo } from './local-limiter.ts';

const one = { requests: 1, tokens: 0, items: 0 };
const keyOf = (caps: Partial<Caps>): Holder[] => [{ kind: 'key', id: 'dev', caps: { ...noCaps, ...caps } }];
const aMinute = (most: number) => [{ measure: 'requests', window: 'minute', most }] as const;

function begun(answer: { kind: string }): Begun {
  assert.equal(answer.kind, 'begun');
  return answer as Begun;
}

test('counts running requests as concurrent until they end, each once', () => {
  const limiter = new MemoryLimiter(createFakeClock());
  const holders = keyOf({ concurrency: 2 });
  const first = begun(limiter.begin(holders));
  begun(limiter.begin(holders));
  assert.equal(limiter.begin(holders).kind, 'refused');
  assert.equal(limiter.reserve(holders, one).kind, 'taken', 'those that have begun may go on');
  first.over();
  first.over();
  begun(limiter.begin(keyOf({ concurrency: 3 })));
  assert.equal(limiter.begin(keyOf({ concurrency: 3 })).kind, 'refused');
});

test('keeps the counters of a key or project while one of its requests runs, and drops them afterwards', () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const first = begun(limiter.begin([{ kind: 'project', id: 'p', caps: noCaps }]));
  const busy = keyOf({});
  begun(limiter.begin(busy));
  const sizeLater = (): number => {
    for (let n = 0; n < 5; n += 1) {
      clock.advance(1);
      begun(limiter.begin(busy));
    }
    return [...limiter.counters.all()].length;
  };
  assert.equal(sizeLater(), 2);
  first.over();
  assert.equal(sizeLater(), 1);
});

test('with the shared count late, a node admits its share of what was left, or nothing if nothing was left', () => {
  const plan = new Counters().plan(keyOf({ rates: aMinute(10) }), 0);
  const [rate] = plan.rates;
  assert.ok(rate !== undefined);
  rate.window.hear(0, 6);
  assert.equal(obstacleTo(plan, { ...one, requests: 2 }, 0, 2, true), undefined);
  assert.equal(obstacleTo(plan, { ...one, requests: 3 }, 0, 2, true)?.retryAfterMs, 1_000);
  rate.window.hear(0, 10);
  const obstacle = obstacleTo(plan, one, 0, 2, true);
  assert.deepEqual([obstacle?.asked, obstacle?.isForever], [1, false]);
  assert.equal(obstacleTo(plan, { ...one, requests: 11 }, 0, 2, true)?.isForever, true);
});

test("a request as large as the limit may be retried after the window, or after 5 s if it exceeds a node's share", () => {
  const plan = new Counters().plan(keyOf({ rates: aMinute(10) }), 0);
  plan.rates[0]?.window.add(0, 1);
  assert.equal(obstacleTo(plan, { ...one, requests: 10 }, 0, 1)?.retryAfterMs, 61_000);
  assert.equal(obstacleTo(plan, { ...one, requests: 10 }, 0, 2)?.retryAfterMs, 5_000);
});
