/** The sampler over given readings and a controlled clock. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFakeClock } from '../../../../test/support/time/fake-clock.ts';
import type { Reading } from './reading.ts';
import { createSampler, keptMs, type LiveFrame, lingerMs } from './sampler.ts';

const second = 1_000;

function open() {
  const clock = createFakeClock();
  let reading: Reading = {};
  let reads = 0;
  let isAway = false;
  let next: (() => void) | undefined;
  const sampler = createSampler({
    async read() {
      reads += 1;
      if (isAway) throw new Error('nobody answers');
      return structuredClone(reading);
    },
    boundsOf: () => [0.1, 0.2],
    clock,
    later(work) {
      next = work;
      return () => {
        next = undefined;
      };
    },
  });
  return {
    sampler,
    get reads() {
      return reads;
    },
    get isWaiting() {
      return next !== undefined;
    },
    set(more: Reading) {
      reading = { ...reading, ...more };
    },
    away(is: boolean) {
      isAway = is;
    },
    async pass(seconds = 1) {
      for (let at = 0; at < seconds; at += 1) {
        clock.advance(second);
        const work = next;
        next = undefined;
        work?.();
        await setImmediate();
      }
    },
  };
}

const requests = (outcome: string, count: number, operation = 'rerank', status = '2xx') => ({
  [`{route="/v1/${operation}",operation="${operation}",model="m",status="${status}",outcome="${outcome}"}`]: count,
});

async function watch({ sampler }: ReturnType<typeof open>) {
  const frames: LiveFrame[] = [];
  const watching = sampler.watch((frame) => frames.push(frame));
  await setImmediate();
  return { frames, watching, last: () => frames.at(-1)?.sample };
}

describe('sampler of live metrics', () => {
  test('reads metrics once a second for any number of watchers, and stops a minute after the last one left', async () => {
    const rig = open();
    await rig.pass(5);
    assert.equal(rig.reads, 0);
    const one = await watch(rig);
    const other = await watch(rig);
    assert.equal(rig.reads, 1);
    await rig.pass(10);
    assert.equal(rig.reads, 11);
    assert.deepEqual([one.frames.length, other.frames.length], [10, 10]);
    one.watching.close();
    await rig.pass(5);
    assert.equal(rig.reads, 16);
    assert.equal(one.frames.length, 10);
    other.watching.close();
    await rig.pass(lingerMs / second);
    const readsAtEnd = rig.reads;
    assert.equal(rig.isWaiting, false);
    await rig.pass(10);
    assert.equal(rig.reads, readsAtEnd);
  });

  test('gives the last five minutes to a new watcher, without a gap after a page reload', async () => {
    const rig = open();
    const first = await watch(rig);
    await rig.pass(keptMs / second + 30);
    first.watching.close();
    await rig.pass(20);
    const again = await watch(rig);
    const { history } = again.watching;
    assert.ok(history.length >= keptMs / second - 1 && history.length <= keptMs / second, String(history.length));
    const times = history.map(({ at }) => Date.parse(at));
    for (const [at, time] of times.entries()) if (at > 0) assert.equal(time - (times[at - 1] ?? 0), second);
  });

  test('growth during a pause of sampling is not reported in the first sample after it', async () => {
    const rig = open();
    rig.set({ postern_requests_total: requests('ok', 10) });
    const first = await watch(rig);
    await rig.pass(2);
    first.watching.close();
    await rig.pass(lingerMs / second + 5);
    rig.set({ postern_requests_total: requests('ok', 5_000) });
    const again = await watch(rig);
    await rig.pass(1);
    assert.equal(again.last()?.requests, 0);
  });

  test('a sample counts requests by outcome, status and operation, with tokens, cost, items and retries', async () => {
    const rig = open();
    rig.set({ postern_requests_total: requests('ok', 100) });
    const { last } = await watch(rig);
    rig.set({
      postern_requests_total: {
        ...requests('ok', 103),
        ...requests('refused', 2, 'embeddings', '4xx'),
        ...requests('ok', 1, 'none'),
      },
      postern_requests_in_flight: { '{operation="rerank"}': 3, '{operation="embeddings"}': 1 },
      postern_tokens_total: { '{model="m",upstream="u",direction="input"}': 40 },
      postern_cost_dollars_total: { '{model="m",upstream="u"}': 0.0025 },
      postern_items_total: { '{model="m",upstream="u"}': 4 },
      postern_saved_items_total: { '{model="m",upstream="u"}': 12 },
      postern_saved_cost_dollars_total: { '{model="m",upstream="u"}': 0.0075 },
      postern_attempts_total: {
        '{upstream="u",outcome="answered"}': 3,
        '{upstream="u",outcome="failed"}': 2,
        '{upstream="u",outcome="queue"}': 7,
      },
      postern_limit_hits_total: { '{holder="key",measure="tokens"}': 2 },
      postern_request_duration_seconds: { '{route="/v1/rerank",model="m"}': [0, 4, 0, 0.6] },
    });
    await rig.pass(1);
    const sample = last();
    assert.equal(sample?.requests, 6);
    assert.deepEqual(sample?.byOutcome, { ok: 4, refused: 2 });
    assert.deepEqual(sample?.byStatus, { '2xx': 4, '4xx': 2 });
    assert.deepEqual(sample?.byOperation, { rerank: 3, embeddings: 2, none: 1 });
    assert.equal(sample?.inFlight, 4);
    assert.deepEqual([sample?.inputTokens, sample?.outputTokens, sample?.cost], [40, 0, '0.0025']);
    assert.deepEqual([sample?.items, sample?.savedItems, sample?.saved], [4, 12, '0.0075']);
    assert.equal(sample?.retries, 2);
    assert.equal(sample?.limitHits, 2);
    assert.deepEqual(sample?.latency, { p50: 150, p95: 195, p99: 199 });
    await rig.pass(1);
    assert.equal(last()?.requests, 0);
    assert.notEqual(last()?.latency, null, 'percentiles are of ten seconds');
    await rig.pass(10);
    assert.equal(last()?.latency, null);
  });

  test("ignores a metric's sum that fell because a model was dropped from it", async () => {
    const rig = open();
    rig.set({ postern_requests_total: { ...requests('ok', 100), ...requests('error', 50) } });
    const { last } = await watch(rig);
    rig.set({ postern_requests_total: requests('ok', 8) });
    await rig.pass(1);
    assert.deepEqual([last()?.requests, last()?.byOutcome], [0, {}]);
  });

  test('samples show state and calls of the configured upstreams', async () => {
    const rig = open();
    const targets = { '{upstream="u",model="m",state="healthy"}': 1, '{upstream="u",model="n",state="resting"}': 1 };
    rig.set({ postern_target_state: targets });
    const { frames } = await watch(rig);
    rig.set({
      postern_attempts_total: { '{upstream="u",outcome="answered"}': 4, '{upstream="gone",outcome="failed"}': 1 },
      postern_upstream_first_byte_seconds: { '{upstream="u"}': [4, 0, 0, 0.2] },
    });
    await rig.pass(1);
    assert.deepEqual(frames.at(-1)?.upstreams, [
      {
        id: 'u',
        answered: 4,
        otherwise: 0,
        firstByteMs: 50,
        inFlight: 0,
        waiting: 0,
        targets: { healthy: 1, probing: 0, loading: 0, resting: 1, failing: 0 },
      },
    ]);
  });

  test('continues after a failed reading of the metrics, and reports the failure', async () => {
    const rig = open();
    const { frames, last } = await watch(rig);
    await rig.pass(1);
    rig.away(true);
    await rig.pass(1);
    assert.equal(frames.at(-1)?.sample, undefined);
    rig.away(false);
    rig.set({ postern_requests_total: requests('ok', 2) });
    await rig.pass(1);
    assert.deepEqual([last()?.requests, last()?.spanMs], [2, 2 * second]);
  });

  test('reports the process state even without watchers, and reads it at most every two seconds', async () => {
    const rig = open();
    rig.set({ postern_workers: { '': 2 }, postern_store_up: { '': 0 } });
    const state = await rig.sampler.state();
    assert.deepEqual([state.workers, state.isStoreUp, state.isRedisUp], [2, false, undefined]);
    await rig.sampler.state();
    assert.equal(rig.reads, 1);
    await rig.pass(3);
    await rig.sampler.state();
    assert.equal(rig.reads, 2);
  });
});
