/** Conformance tests of every store: background responses. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BackgroundAnswer } from '../../../src/core/store/background-answers.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-writes.ts';

const estimate = {
  items: 1,
  images: 0,
  likelyInputTokens: 10,
  mostInputTokens: 1_000,
  mostOutputTokens: 5_000,
  mostSearchUnits: 0,
};

const answerOf = (id: string, more: Partial<BackgroundAnswer> = {}): BackgroundAnswer => ({
  id,
  upstream: 'up',
  credential: 'c',
  key: 'key_1',
  project: 'p',
  model: 'm',
  rowId: `row-${id}`,
  estimate,
  createdAtMs: 5,
  end: undefined,
  ...more,
});

const options = { handsMs: 60_000, most: 100 };

export function describeBackground(openStore: OpenStore): void {
  test('a background response is polled by one node, until that node is silent for too long', async (t) => {
    const clock = createFakeClock();
    const { background } = await openStore(t, clock);
    const [one, two] = [answerOf('resp_1'), answerOf('resp_2', { project: undefined })];
    await background.add(one, 'first', clock.nowMs() + 1_000);
    await background.add(two, 'first', clock.nowMs() + 1_000);
    await background.add(answerOf('resp_1', { key: 'other' }), 'second', clock.nowMs());
    assert.deepEqual(await background.claim('first', options), []);
    clock.advance(1_000);
    assert.deepEqual(await background.claim('second', options), []);
    assert.deepEqual(
      (await background.claim('first', options)).toSorted((a, b) => a.id.localeCompare(b.id)),
      [one, two],
    );
    await background.postpone(one, 'first', clock.nowMs() + 30_000);
    await background.remove(two);
    assert.deepEqual(await background.claim('first', options), []);
    clock.advance(89_000);
    assert.deepEqual(await background.claim('second', options), []);
    clock.advance(2_000);
    assert.deepEqual(await background.claim('second', options), [one]);
    assert.deepEqual(await background.claim('first', options), []);
    // A node that has lost it cannot postpone it.
    await background.postpone(one, 'first', 0);
    await background.release('second');
    assert.deepEqual(await background.claim('third', options), [one]);
  });

  test('with several nodes, each response is polled by exactly one', async (t) => {
    const clock = createFakeClock();
    const { background } = await openStore(t, clock);
    const ids = Array.from({ length: 20 }, (_, no) => `resp_${no}`);
    for (const id of ids) await background.add(answerOf(id), 'gone', clock.nowMs());
    await background.release('gone');
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((node) => background.claim(node, options)));
    assert.deepEqual(
      claims
        .flat()
        .map(({ id }) => id)
        .toSorted(),
      ids.toSorted(),
    );
  });

  test('a node that sees the end first notifies the polling node', async (t) => {
    const clock = createFakeClock();
    const { background } = await openStore(t, clock);
    await background.add(answerOf('resp_1'), 'first', clock.nowMs() + 10_000);
    assert.equal(await background.get('resp_1', 'other'), undefined);
    const found = await background.get('resp_1', 'up');
    assert.deepEqual(found, answerOf('resp_1'));
    const usage = {
      promptTokens: 10,
      completionTokens: 4,
      totalTokens: null,
      searchUnits: null,
      cachedTokens: 2,
      units: { reasoningTokens: 3 },
      cacheWriteTokens: null,
    };
    const written = { texts: 1, bytes: 16, sample: '', choices: 1 };
    const end = { status: 'completed', usage, written, bytes: 300 } as const;
    await background.reportEnd(answerOf('resp_1'), end);
    assert.deepEqual(await background.claim('first', options), [answerOf('resp_1', { end })]);
    await background.reportEnd(answerOf('resp_1'), { status: 'failed', usage: null, written: undefined, bytes: 0 });
    assert.deepEqual((await background.get('resp_1', 'up'))?.end, {
      status: 'failed',
      usage: null,
      written: undefined,
      bytes: 0,
    });
  });

  test('batches are separate from responses, and found by project', async (t) => {
    const clock = createFakeClock();
    const { background, batches } = await openStore(t, clock);
    const batch = answerOf('batch_1', { estimate: { ...estimate, batch: { path: '/v1/embeddings', lines: 7 } } });
    await batches.add(batch, 'first', clock.nowMs());
    await batches.add(answerOf('batch_2', { project: 'q' }), 'first', clock.nowMs());
    assert.deepEqual(await batches.ofProject('p'), [batch]);
    assert.deepEqual(await background.ofProject('p'), []);
    assert.deepEqual(await background.claim('first', options), []);
    assert.deepEqual((await batches.claim('first', options)).length, 2);
    await batches.remove(batch);
    assert.deepEqual(await batches.ofProject('p'), []);
  });
}
