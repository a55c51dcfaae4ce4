/** The live feed over streams that a test writes, and a clock that it moves. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { LiveEvent, LiveSample } from '../../../../../src/admin/contract.ts';
import { createLiveFeed, type LiveFeed } from './live-feed.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 12) + second * 1000).toISOString();
const samplesOf = (...seconds: number[]) => seconds.map((second) => ({ at: at(second) }) as LiveSample);

function open() {
  const streams: { controller: ReadableStreamDefaultController<Uint8Array>; signal: AbortSignal }[] = [];
  const timers = new Set<{ work(): void; ms: number }>();
  let isHidden = false;
  let isAway = false;
  let look: () => void = () => undefined;
  const feed = createLiveFeed({
    async open(signal) {
      if (isAway) throw new Error('nobody there');
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          streams.push({ controller, signal });
          signal.addEventListener('abort', () => controller.error(new Error('aborted')), { once: true });
        },
      });
      return new Response(body);
    },
    isHidden: () => isHidden,
    onSight(listener) {
      look = listener;
      return () => {
        look = () => undefined;
      };
    },
    random: () => 1,
    later(work, ms) {
      const timer = { work, ms };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    feed,
    streams,
    timers,
    away(is: boolean) {
      isAway = is;
    },
    hide(is: boolean) {
      isHidden = is;
      look();
    },
    /** Ends the wait for the next try, and returns how long it was. */
    fireRetry(): number {
      const [timer] = [...timers].filter(({ ms }) => ms < 20_000);
      assert.ok(timer, 'no try is planned');
      timers.delete(timer);
      timer.work();
      return timer.ms;
    },
    async send(event: Partial<LiveEvent>) {
      const full = { isHistory: false, samples: [], upstreams: [], isBehind: false, ...event };
      streams.at(-1)?.controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(full)}\n\n`));
      await wait(5);
    },
  };
}

const seconds = (feed: LiveFeed): string[] => feed.get().samples.map((sample) => sample.at);

test('the live feed keeps history and new samples, one per second, for five minutes', async () => {
  const { feed, send } = open();
  feed.subscribe(() => undefined);
  await wait(5);
  await send({ isHistory: true, samples: samplesOf(0, 1, 2) });
  await send({ samples: samplesOf(3) });
  await send({ samples: samplesOf(3) });
  assert.equal(feed.get().status, 'live');
  assert.deepEqual(seconds(feed), [0, 1, 2, 3].map(at));
  await send({ samples: samplesOf(301) });
  assert.deepEqual(seconds(feed), [2, 3, 301].map(at));
});

test("the live feed keeps its samples when the gateway's history after a reconnect lacks them", async () => {
  const { feed, send, hide } = open();
  feed.subscribe(() => undefined);
  await wait(5);
  await send({ isHistory: true, samples: samplesOf(0, 1) });
  hide(true);
  hide(false);
  await wait(5);
  await send({ isHistory: true, samples: samplesOf(9) });
  assert.deepEqual(seconds(feed), [0, 1, 9].map(at));
});

test('opens one stream for all viewers, and none without viewers or on a hidden page', async () => {
  const { feed, streams, hide } = open();
  const ends = [feed.subscribe(() => undefined), feed.subscribe(() => undefined)];
  await wait(5);
  assert.equal(streams.length, 1);
  hide(true);
  assert.equal(streams[0]?.signal.aborted, true);
  hide(false);
  await wait(5);
  assert.equal(streams.length, 2);
  for (const end of ends) end();
  assert.equal(streams[1]?.signal.aborted, true);
});

test('reports a lost connection, and reconnects with delays up to fifteen seconds that reset on success', async () => {
  const { feed, streams, away, fireRetry, send } = open();
  feed.subscribe(() => undefined);
  await wait(5);
  away(true);
  streams[0]?.controller.close();
  await wait(5);
  assert.equal(feed.get().status, 'lost');
  const waits: number[] = [];
  for (let time = 0; time < 6; time += 1) {
    waits.push(fireRetry());
    await wait(5);
  }
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  away(false);
  fireRetry();
  await wait(5);
  await send({ isHistory: true });
  assert.equal(feed.get().status, 'live');
  streams.at(-1)?.controller.close();
  await wait(5);
  assert.equal(fireRetry(), 1_000);
});

test('a stream silent for twenty seconds counts as lost', async () => {
  const { feed, timers } = open();
  feed.subscribe(() => undefined);
  await wait(5);
  const [silence] = [...timers].filter(({ ms }) => ms === 20_000);
  silence?.work();
  await wait(5);
  assert.equal(feed.get().status, 'lost');
});

test('while the feed is paused the display stands still, and then catches up', async () => {
  const { feed, send } = open();
  feed.subscribe(() => undefined);
  await wait(5);
  await send({ isHistory: true, samples: samplesOf(0) });
  feed.pause(true);
  await send({ samples: samplesOf(1) });
  assert.deepEqual(seconds(feed), [at(0)]);
  feed.pause(false);
  assert.deepEqual(seconds(feed), [0, 1].map(at));
});
