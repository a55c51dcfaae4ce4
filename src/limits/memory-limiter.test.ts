import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headersIn } from '../../test/support/limits/rate-lines.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { type Caps, type Holder, type HolderKind, noCaps, type Rate } from '../core/caps.ts';
import type { Amounts, Taken } from './limiter.ts';
import { MemoryLimiter } from './local-limiter.ts';

const minuteMs = 60_000;
const one: Amounts = { requests: 1, tokens: 0, items: 0 };

function holder(kind: HolderKind, id: string, caps: Partial<Caps>): Holder {
  return { kind, id, caps: { ...noCaps, ...caps } };
}

const requestsAMinute = (most: number): Rate => ({ measure: 'requests', window: 'minute', most });
const tokensAMinute = (most: number): Rate => ({ measure: 'tokens', window: 'minute', most });

function taken(answer: { kind: string }): Taken {
  assert.equal(answer.kind, 'taken');
  return answer as Taken;
}

test('admits as many requests as the limit, and the next one when the first has left the window', () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const holders = [holder('key', 'dev', { rates: [requestsAMinute(3)] })];
  for (let i = 0; i < 3; i += 1) assert.equal(limiter.reserve(holders, one).kind, 'taken');
  const refused = limiter.reserve(holders, one);
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.limit, '3 requests a minute of the key "dev"');
  assert.equal(refused.message, 'The limit of 3 requests a minute of the key "dev" is reached; try again in 60 s.');
  clock.advance(refused.retryAfterMs - 1);
  assert.equal(limiter.reserve(holders, one).kind, 'refused');
  clock.advance(1);
  assert.equal(limiter.reserve(holders, one).kind, 'taken');
});

test("a request that the model's limit refuses takes nothing from the key's limits", () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const key = holder('key', 'dev', { rates: [requestsAMinute(2)], concurrency: 5 });
  const model = holder('model', 'm', { rates: [requestsAMinute(1)] });
  assert.equal(limiter.reserve([model], one).kind, 'taken');
  for (let i = 0; i < 10; i += 1) {
    const refused = limiter.reserve([key, model], one);
    assert.ok(refused.kind === 'refused');
    assert.equal(refused.limit, '1 request a minute of the model "m"');
  }
  assert.equal(limiter.reserve([key], one).kind, 'taken');
  assert.equal(limiter.reserve([key], one).kind, 'taken');
  assert.equal(limiter.reserve([key], one).kind, 'refused');
});

test('counts concurrent requests until they settle, each once', () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const holders = [holder('project', 'p', { concurrency: 2 })];
  const first = taken(limiter.reserve(holders, one));
  taken(limiter.reserve(holders, one));
  const refused = limiter.reserve(holders, one);
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.limit, '2 requests at a time of the project "p"');
  first.settle(one);
  first.settle(one);
  taken(limiter.reserve(holders, one));
  assert.equal(limiter.reserve(holders, one).kind, 'refused');
});

test('settling a request returns unused amounts, adds overruns, and can return everything', () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const holders = [holder('key', 'dev', { rates: [tokensAMinute(100), requestsAMinute(10)] })];
  const remaining = (t: Taken): string | undefined =>
    headersIn(t)[headersIn(t).indexOf('x-ratelimit-remaining-tokens') + 1];
  const asked = { requests: 1, tokens: 60, items: 0 };
  const first = taken(limiter.reserve(holders, asked));
  assert.equal(remaining(first), '40');
  first.settle({ requests: 1, tokens: 10, items: 0 });
  const second = taken(limiter.reserve(holders, asked));
  assert.equal(remaining(second), '30');
  second.settle({ requests: 1, tokens: 500, items: 0 });
  assert.equal(limiter.reserve(holders, { requests: 1, tokens: 1, items: 0 }).kind, 'refused');
  clock.advance(61_000);
  const third = taken(limiter.reserve(holders, asked));
  third.settle({ requests: 0, tokens: 0, items: 0 });
  const fourth = taken(limiter.reserve(holders, asked));
  assert.deepEqual(headersIn(fourth), [
    ...[
      'x-ratelimit-limit-requests',
      '10',
      'x-ratelimit-remaining-requests',
      '9',
      'x-ratelimit-reset-requests',
      '1m1s',
    ],
    ...['x-ratelimit-limit-tokens', '100', 'x-ratelimit-remaining-tokens', '40', 'x-ratelimit-reset-tokens', '1m1s'],
  ]);
});

test('refuses a request above the limit itself with advice to split it', () => {
  const limiter = new MemoryLimiter(createFakeClock());
  const refused = limiter.reserve([holder('key', 'dev', { rates: [tokensAMinute(100)] })], {
    requests: 1,
    tokens: 101,
    items: 0,
  });
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.isForever, true);
  assert.match(refused.message, /asks for about 101 tokens at once.*100 tokens a minute.*split it/);
  const none = limiter.reserve([holder('key', 'none', { rates: [requestsAMinute(0)] })], one);
  assert.ok(none.kind === 'refused');
  assert.equal(none.isForever, true);
});

test('keeps its counts when the limits change', () => {
  const limiter = new MemoryLimiter(createFakeClock());
  const before = [holder('key', 'dev', { rates: [tokensAMinute(100)], concurrency: 2 })];
  const first = taken(limiter.reserve(before, { requests: 1, tokens: 80, items: 0 }));
  const after = [holder('key', 'dev', { rates: [tokensAMinute(90), requestsAMinute(5)], concurrency: 1 })];
  assert.equal(limiter.reserve(after, { requests: 1, tokens: 10, items: 0 }).kind, 'refused');
  first.settle({ requests: 1, tokens: 80, items: 0 });
  taken(limiter.reserve(after, { requests: 1, tokens: 10, items: 0 }));
});

test('reports, per measure, the limit with the smallest remaining share', () => {
  const limiter = new MemoryLimiter(createFakeClock());
  const key = holder('key', 'dev', {
    rates: [requestsAMinute(10), { measure: 'requests', window: 'day', most: 1_000 }],
  });
  const model = holder('model', 'm', { rates: [requestsAMinute(4), { measure: 'items', window: 'minute', most: 9 }] });
  const headers = headersIn(taken(limiter.reserve([key, model], { requests: 1, tokens: 3, items: 9 })));
  assert.deepEqual(headers, [
    ...['x-ratelimit-limit-requests', '4', 'x-ratelimit-remaining-requests', '3', 'x-ratelimit-reset-requests', '1m1s'],
    ...['x-ratelimit-limit-items', '9', 'x-ratelimit-remaining-items', '0', 'x-ratelimit-reset-items', '1m1s'],
  ]);
});

test('drops the counters of keys whose counts have expired', () => {
  const clock = createFakeClock();
  const limiter = new MemoryLimiter(clock);
  const busy = [holder('key', 'busy', { rates: [requestsAMinute(100_000)], concurrency: 100_000 })];
  const open = taken(limiter.reserve([holder('key', 'open', { rates: [requestsAMinute(5)] })], one));
  for (let i = 0; i < 1_000; i += 1) {
    taken(limiter.reserve([holder('key', `key ${i}`, { rates: [requestsAMinute(5)] })], one)).settle(one);
  }
  assert.equal([...limiter.counters.all()].length, 1_001);
  clock.advance(62_000);
  for (let i = 0; i < 2_000; i += 1) {
    taken(limiter.reserve(busy, one));
    clock.advance(1);
  }
  assert.equal([...limiter.counters.all()].length, 2);
  open.settle(one);
  clock.advance(62_000);
  for (let i = 0; i < 10; i += 1) {
    taken(limiter.reserve(busy, one));
    clock.advance(1);
  }
  assert.equal([...limiter.counters.all()].length, 1);
});

type Step =
  | { readonly do: 'reserve'; readonly tokens: number; readonly items: number; readonly holders: number }
  | { readonly do: 'settle'; readonly which: number; readonly tokens: number; readonly twice: boolean }
  | { readonly do: 'wait'; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('reserve' as const),
        tokens: fc.nat(60),
        items: fc.nat(4),
        holders: fc.nat(3),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        which: fc.nat(50),
        tokens: fc.nat(60),
        twice: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(fc.nat(1_500), fc.nat(70_000)) }),
    },
  ),
  { maxLength: 120, size: 'max' },
);

interface Noted {
  readonly atMs: number;
  readonly lists: readonly Holder[];
  readonly taken: Taken;
  tokens: number;
  readonly items: number;
  isSettled: boolean;
}

test('in any order of reserve, settle and wait, no minute exceeds the limit', () => {
  fc.assert(
    fc.property(steps, (story: readonly Step[]) => {
      const clock = createFakeClock();
      const limiter = new MemoryLimiter(clock);
      const key = holder('key', 'k', { rates: [requestsAMinute(9), tokensAMinute(200)], concurrency: 4 });
      const project = holder('project', 'p', {
        rates: [{ measure: 'items', window: 'minute', most: 11 }],
        concurrency: 3,
      });
      const model = holder('model', 'm', { rates: [tokensAMinute(150), requestsAMinute(7)] });
      const lists = [[key], [key, project], [key, project, model], [model]];
      const noted: Noted[] = [];
      for (const step of story) {
        if (step.do === 'wait') clock.advance(step.ms);
        else if (step.do === 'reserve') {
          const list = lists[step.holders] ?? [];
          const amounts = { requests: 1, tokens: step.tokens, items: step.items };
          const answer = limiter.reserve(list, amounts);
          if (answer.kind === 'taken') {
            const atMs = clock.monotonicMs();
            noted.push({ atMs, lists: list, taken: answer, tokens: step.tokens, items: step.items, isSettled: false });
          } else if (!answer.isForever) {
            assert.ok(answer.retryAfterMs > 0);
          }
        } else {
          const entry = noted[step.which % Math.max(1, noted.length)];
          if (entry === undefined) continue;
          // Never more than was estimated: use beyond the estimate exceeds the limit, as documented.
          const tokens = Math.min(step.tokens, entry.tokens);
          entry.taken.settle({ requests: 1, tokens, items: entry.items });
          if (step.twice) entry.taken.settle({ requests: 0, tokens: 0, items: 0 });
          if (!entry.isSettled) entry.tokens = tokens;
          entry.isSettled = true;
        }
        for (const holder of [key, project, model]) {
          const mine = noted.filter((entry) => entry.lists.includes(holder));
          for (const { atMs: endMs } of mine) {
            const within = mine.filter(({ atMs }) => atMs <= endMs && atMs > endMs - minuteMs);
            for (const { measure, most } of holder.caps.rates) {
              const sum = within.reduce((total, entry) => total + (measure === 'requests' ? 1 : entry[measure]), 0);
              assert.ok(sum <= most, `${sum} ${measure} of ${holder.kind}, and the limit is ${most}`);
            }
          }
          const open = mine.filter(({ isSettled }) => !isSettled).length;
          assert.ok(open <= (holder.caps.concurrency ?? Number.POSITIVE_INFINITY));
        }
      }
      // Everything is returned: all is available again, and no more.
      for (const { taken } of noted) taken.settle({ requests: 1, tokens: 0, items: 0 });
      clock.advance(2 * minuteMs);
      const whole = limiter.reserve([key, project, model], { requests: 7, tokens: 150, items: 11 });
      assert.equal(whole.kind, 'taken');
      const list = [{ ...project, caps: { ...project.caps, rates: [] } }];
      assert.equal(limiter.reserve(list, one).kind, 'taken');
      assert.equal(limiter.reserve(list, one).kind, 'taken');
      assert.equal(limiter.reserve(list, one).kind, 'refused');
    }),
    { numRuns: 100 },
  );
});

test('a refused request is still refused 1 ms before its retry time, and admitted at that time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 80 }), waitMs: fc.nat(9_000) }), {
        maxLength: 60,
        size: 'max',
      }),
      fc.integer({ min: 1, max: 100 }),
      (before, tokens) => {
        const clock = createFakeClock();
        const limiter = new MemoryLimiter(clock);
        const holders = [
          holder('key', 'k', { rates: [tokensAMinute(100), { measure: 'tokens', window: 'day', most: 1_000 }] }),
          holder('model', 'm', { rates: [requestsAMinute(5)] }),
        ];
        for (const step of before) {
          limiter.reserve(holders, { requests: 1, tokens: step.tokens, items: 0 });
          clock.advance(step.waitMs);
        }
        const asked = { requests: 1, tokens, items: 0 };
        const answer = limiter.reserve(holders, asked);
        if (answer.kind === 'taken') return;
        clock.advance(answer.retryAfterMs - 1);
        assert.equal(limiter.reserve(holders, asked).kind, 'refused');
        clock.advance(1);
        assert.equal(limiter.reserve(holders, asked).kind, 'taken');
      },
    ),
    { numRuns: 300 },
  );
});
