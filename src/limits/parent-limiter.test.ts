import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { headersIn } from '../../test/support/limits/rate-lines.ts';
import { type Holder, noCaps } from '../core/caps.ts';
import { createLimitServer, type ParentAnswer, type WorkerQuestion } from './limit-server.ts';
import type { Refused, Taken } from './limiter.ts';
import { ParentLimiter } from './parent-limiter.ts';

const one = { requests: 1, tokens: 0, items: 0 };
const clock = { monotonicMs: () => performance.now() };

/** Each as in its own process: messages are copied. */
function startParent(_: TestContext, workers: number) {
  const state = createLimitServer({ clock, workers });
  const lines: string[] = [];
  let isSilent = false;
  const held: (() => void)[] = [];
  const all = Array.from({ length: workers }, (_, worker) => {
    let hear: (answers: readonly ParentAnswer[]) => void = () => undefined;
    const ask = (questions: readonly WorkerQuestion[]): void => {
      const asked = structuredClone(questions);
      const answer = () => setImmediate(() => hear(structuredClone(state.answer(worker, asked))));
      if (isSilent) held.push(answer);
      else answer();
    };
    const onAnswers = (listener: typeof hear): void => {
      hear = listener;
    };
    const channel = { ask, onAnswers };
    return new ParentLimiter({ channel, workers, clock, log: { warn: (message) => lines.push(message) } });
  });
  return {
    all,
    state,
    lines,
    fallSilent() {
      isSilent = true;
    },
    speak() {
      isSilent = false;
      for (const answer of held.splice(0)) answer();
    },
  };
}

const keyOf = (caps: Partial<Holder['caps']>): Holder[] => [{ kind: 'key', id: 'dev', caps: { ...noCaps, ...caps } }];
const aMinute = (most: number) => [{ measure: 'requests', window: 'minute', most }] as const;
const taken = (answers: readonly (Taken | Refused)[]): number => answers.filter(({ kind }) => kind === 'taken').length;

test('workers together admit exactly the limit, and the headers show the shared count', async (t) => {
  const { all } = startParent(t, 4);
  const answers: (Taken | Refused)[] = [];
  for (let round = 0; round < 3; round += 1) {
    // Each has its own lists, and new ones after a change of the configuration.
    const asked = all.flatMap((limiter) => {
      const holders = keyOf({ rates: aMinute(40) });
      return Array.from({ length: 10 }, () => limiter.reserve(holders, one));
    });
    answers.push(...(await Promise.all(asked)));
  }
  assert.equal(taken(answers), 40);
  assert.deepEqual(answers[0] && headersIn(answers[0]).slice(0, 4), [
    ...['x-ratelimit-limit-requests', '40', 'x-ratelimit-remaining-requests', '39'],
  ]);
  const refused = answers.find((answer) => answer.kind === 'refused');
  assert.ok(refused?.kind === 'refused');
  assert.equal(refused.limit, '40 requests a minute of the key "dev"');
  assert.match(
    refused.message,
    /^The limit of 40 requests a minute of the key "dev" is reached; try again in \d+ s\.$/,
  );
});

test('a concurrency slot returned twice by one worker admits only one request of another', async (t) => {
  const { all } = startParent(t, 2);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  const holders = keyOf({ concurrency: 1 });
  const held = await first.reserve(holders, one);
  assert.ok(held.kind === 'taken');
  assert.equal((await second.reserve(holders, one)).kind, 'refused');
  held.settle(one);
  held.settle(one);
  assert.equal((await second.reserve(holders, one)).kind, 'taken');
  assert.equal((await first.reserve(holders, one)).kind, 'refused');
});

test('when a worker dies its concurrent requests end, and its rate counts stay', async (t) => {
  const { all, state } = startParent(t, 2);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  const holders = keyOf({ concurrency: 2, rates: aMinute(3) });
  assert.equal(taken([await first.reserve(holders, one), await first.reserve(holders, one)]), 2);
  assert.equal((await second.reserve(holders, one)).kind, 'refused');
  state.leave(0);
  assert.equal((await second.reserve(holders, one)).kind, 'taken');
  const refused = await second.reserve(holders, one);
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.measure, 'requests');
});

test('when a worker dies its upstream slots are freed', async (t) => {
  const { all, state } = startParent(t, 2);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  const claim = { upstream: 'up', most: 4, held: 0, wants: 4 };
  assert.equal((await first.claim([claim]))[0]?.held, 4);
  assert.equal((await second.claim([claim]))[0]?.held, 0);
  state.leave(0);
  assert.deepEqual(await second.claim([claim]), [{ held: 4, keep: 4 }]);
});

test('late messages of a dead worker take no concurrency, rate or upstream slots', async (t) => {
  const { all, state } = startParent(t, 2);
  const [, second] = all;
  assert.ok(second !== undefined);
  const holders = keyOf({ concurrency: 1 });
  const claim = { upstream: 'up', most: 4, held: 0, wants: 4 };
  state.leave(0);
  const late: WorkerQuestion[] = [
    { kind: 'holders', list: 1, holders },
    { kind: 'reserve', no: 1, list: 1, amounts: one },
    { kind: 'slots', no: 2, claims: [claim] },
  ];
  assert.deepEqual(state.answer(0, late), []);
  assert.equal((await second.reserve(holders, one)).kind, 'taken');
  assert.equal((await second.claim([claim]))[0]?.held, 4);
});

test('a worker whose parent does not answer admits its share and logs once; double counts are returned later', async (t) => {
  const { all, fallSilent, speak, lines } = startParent(t, 2);
  const [first, second] = all;
  assert.ok(first !== undefined && second !== undefined);
  const holders = keyOf({ rates: aMinute(10) });
  fallSilent();
  const alone = await Promise.all(Array.from({ length: 8 }, () => first.reserve(holders, one)));
  assert.equal(taken(alone), 5);
  assert.equal(lines.length, 1);
  speak();
  const later = await Promise.all(Array.from({ length: 12 }, () => second.reserve(holders, one)));
  assert.ok(taken(later) >= 2 && taken(later) <= 10);
});

test('a worker that only claims upstream slots logs each time the parent stops answering', async (t) => {
  const { all, fallSilent, speak, lines } = startParent(t, 1);
  const [limiter] = all;
  assert.ok(limiter !== undefined);
  const claim = { upstream: 'up', most: 4, held: 0, wants: 4 };
  for (const silences of [1, 2]) {
    fallSilent();
    const unanswered = [limiter.claim([claim]), limiter.claim([claim])];
    await Promise.all(unanswered.map((grants) => assert.rejects(grants, /no answer within/)));
    assert.equal(lines.length, silences);
    speak();
    assert.equal((await limiter.claim([claim]))[0]?.held, 4);
  }
});

test('after 10,000 limit lists a worker makes the parent drop them all, and the counts stay', async (t) => {
  const { all } = startParent(t, 1);
  const [limiter] = all;
  assert.ok(limiter !== undefined);
  const first = keyOf({ rates: aMinute(20_000) });
  await limiter.reserve(first, one);
  for (let batch = 0; batch < 11; batch += 1) {
    await Promise.all(
      Array.from({ length: 1_000 }, () => limiter.reserve(keyOf({ rates: aMinute(20_000) }), { ...one, requests: 0 })),
    );
  }
  const last = await limiter.reserve(first, one);
  assert.equal(headersIn(last)[3], '19998');
});
