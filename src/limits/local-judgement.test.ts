import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caps, type Holder, noCaps } from '../core/caps.ts';
import { Counters } from './counters.ts';
import type { Begun } from './limiter.ts';
import { begin, obstacleTo } from './local-judgement.ts';

const one = { requests: 1, tokens: 0, items: 0 };
const keyOf = (caps: Partial<Caps>): Holder[] => [{ kind: 'key', id: 'dev', caps: { ...noCaps, ...caps } }];
const aMinute = (most: number) => [{ measure: 'requests', window: 'minute', most }] as const;

function begun(answer: { kind: string }): Begun {
  assert.equal(answer.kind, 'begun');
  return answer as Begun;
}

test('counts running requests as concurrent until they end, each once', () => {
  const plan = new Counters().plan(keyOf({ concurrency: 2 }), 0);
  const first = begun(begin(plan, 0, 1));
  begun(begin(plan, 0, 1));
  assert.equal(begin(plan, 0, 1).kind, 'refused');
  assert.equal(obstacleTo(plan, one, 0, 1), undefined, 'those that have begun may go on');
  first.over();
  first.over();
  begun(begin(plan, 0, 1));
  assert.equal(begin(plan, 0, 1).kind, 'refused');
});

test('keeps a holder while one of its requests runs, and forgets it afterwards', () => {
  const counters = new Counters();
  const first = begun(begin(counters.plan([{ kind: 'project', id: 'p', caps: noCaps }], 0), 0, 1));
  const busy = keyOf({});
  counters.plan(busy, 0).hold();
  let nowMs = 0;
  const sizeLater = (): number => {
    for (let n = 0; n < 5; n += 1) counters.plan(busy, ++nowMs);
    return counters.size;
  };
  assert.equal(sizeLater(), 2);
  first.over();
  assert.equal(sizeLater(), 1);
});

test('when the shared count is late, a node admits its part of what was left, and nothing if nothing was', () => {
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
