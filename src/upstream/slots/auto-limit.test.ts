import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AutoLimit, Baselines } from './auto-limit.ts';

/** A batching server: a call takes the same time up to `knee` at once, and proportionally longer beyond. */
interface Server {
  knee: number;
  callMs: number;
  /** Of a call's time, at random. */
  jitter: number;
}

interface Sample {
  readonly limit: number;
  readonly nowMs: number;
}

/** Deterministic pseudo-random numbers. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

class Simulation {
  nowMs = 1_000_000;
  readonly limiter: AutoLimit;
  readonly server: Server;
  /** Calls that clients would have running. */
  demand: number;
  served = 0;
  latencySum = 0;
  samples: Sample[] = [];
  works: readonly number[] = [1];
  readonly #baselines = new Baselines();
  #calls: { readonly endsAtMs: number; readonly beganMs: number; readonly work: number }[] = [];
  readonly #random: () => number;

  constructor(limiter: AutoLimit, server: Server, demand: number, seed = 1) {
    this.limiter = limiter;
    this.server = server;
    this.demand = demand;
    this.#random = randomOf(seed);
  }

  run(ms: number): void {
    const untilMs = this.nowMs + ms;
    while (this.nowMs < untilMs) {
      while (this.#calls.length < Math.min(this.limiter.limit, this.demand)) this.#begin();
      let first = 0;
      for (let at = 1; at < this.#calls.length; at += 1) {
        if ((this.#calls[at]?.endsAtMs ?? 0) < (this.#calls[first]?.endsAtMs ?? 0)) first = at;
      }
      const call = this.#calls[first];
      if (call === undefined || call.endsAtMs > untilMs) {
        this.nowMs = untilMs;
        return;
      }
      this.nowMs = call.endsAtMs;
      const tookMs = this.nowMs - call.beganMs;
      this.limiter.served(this.#baselines, call.work, tookMs, this.#calls.length, this.nowMs, this.nowMs);
      this.#calls.splice(first, 1);
      this.served += 1;
      this.latencySum += tookMs / call.work;
      this.samples.push({ limit: this.limiter.learned, nowMs: this.nowMs });
      assert.ok(this.limiter.limit >= 1 && this.limiter.limit <= this.limiter.max);
      assert.ok(this.limiter.learned >= this.limiter.min && this.limiter.learned <= this.limiter.max);
    }
  }

  /** Every running call takes longer by so much. */
  stall(ms: number): void {
    this.#calls = this.#calls.map((call) => ({ ...call, endsAtMs: call.endsAtMs + ms }));
  }

  /** Since the last call. */
  measure(): { perSecond(ms: number): number; readonly latencyMs: number } {
    const { served, latencySum } = this;
    this.served = 0;
    this.latencySum = 0;
    return { perSecond: (ms) => (served / ms) * 1_000, latencyMs: latencySum / Math.max(1, served) };
  }

  #begin(): void {
    const { knee, callMs, jitter } = this.server;
    const work = this.works[Math.floor(this.#random() * this.works.length)] ?? 1;
    const loaded = Math.max(1, (this.#calls.length + 1) / knee);
    const ms = callMs * work * loaded * (1 + jitter * (this.#random() * 2 - 1));
    this.#calls.push({ endsAtMs: this.nowMs + ms, beganMs: this.nowMs, work });
  }
}

const near = (limit: number, knee: number): boolean => limit >= Math.floor(knee * 0.8) && limit <= knee * 1.8 + 3;

test('finds the best concurrency of any batching server within 30 s', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 128 }),
      fc.integer({ min: 20, max: 500 }),
      fc.integer({ min: 0, max: 20 }),
      fc.nat(),
      (knee, callMs, jitterPercent, seed) => {
        const server = { knee, callMs, jitter: jitterPercent / 100 };
        const simulation = new Simulation(new AutoLimit(2, 256), server, 512, seed);
        simulation.run(30_000);
        const { learned } = simulation.limiter;
        assert.ok(learned <= knee * 1.8 + 3, `${learned} for a knee of ${knee}`);
        simulation.measure();
        simulation.run(30_000);
        const { perSecond, latencyMs } = simulation.measure();
        assert.ok(
          perSecond(30_000) >= (0.75 * knee * 1_000) / callMs,
          `${perSecond(30_000)} of ${(knee * 1_000) / callMs}`,
        );
        assert.ok(latencyMs <= callMs * (1.9 + 2 / knee), `${latencyMs} ms for ${callMs} ms`);
      },
    ),
    { numRuns: 30 },
  );
});

test('the limit doubles while more calls cost nothing, and grows slowly after a refusal', () => {
  const server = { knee: 256, callMs: 100, jitter: 0 };
  const starting = new Simulation(new AutoLimit(1, 256), server, 512);
  starting.run(2_000);
  assert.ok(starting.limiter.learned >= 64, `${starting.limiter.learned}`);
  const refused = new Simulation(new AutoLimit(1, 256), server, 512);
  refused.limiter.refused(refused.nowMs);
  refused.run(2_000);
  assert.ok(refused.limiter.learned <= 16, `${refused.limiter.learned}`);
});

test('the learned limit follows an optimum that moves up and down', () => {
  const server = { knee: 32, callMs: 100, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(2, 256), server, 512);
  for (const knee of [32, 8, 64, 4, 32]) {
    server.knee = knee;
    simulation.run(30_000);
    assert.ok(near(simulation.limiter.learned, knee), `${simulation.limiter.learned} for a knee of ${knee}`);
  }
});

test('if a server with slow calls suddenly handles far fewer at once, probes find the new optimum', () => {
  const server = { knee: 64, callMs: 1_000, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(1, 256), server, 512);
  simulation.run(60_000);
  server.knee = 4;
  simulation.run(60_000);
  assert.ok(near(simulation.limiter.learned, 4), `${simulation.limiter.learned}`);
});

test('adapts when calls get slower or faster for reasons other than concurrency', () => {
  const server = { knee: 16, callMs: 100, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(2, 256), server, 512);
  for (const callMs of [100, 300, 60, 200]) {
    server.callMs = callMs;
    simulation.run(60_000);
    assert.ok(near(simulation.limiter.learned, 16), `${simulation.limiter.learned} at ${callMs} ms`);
  }
});

test('the learned limit does not collapse after a burst of slow calls or refusals', () => {
  const server = { knee: 32, callMs: 100, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(1, 256), server, 512);
  simulation.run(30_000);
  for (let burst = 0; burst < 5; burst += 1) {
    simulation.stall(3_000);
    simulation.limiter.refused(simulation.nowMs);
    const from = simulation.samples.length;
    simulation.run(8_000);
    const least = Math.min(...simulation.samples.slice(from).map(({ limit }) => limit));
    assert.ok(least >= 8, `${least}`);
    assert.ok(simulation.limiter.learned >= 24, `${simulation.limiter.learned}`);
  }
});

test('processes that share a server find its optimum together, despite clock differences', () => {
  const random = randomOf(5);
  const knee = 32;
  const skewMs = 50;
  const nodes = Array.from({ length: 4 }, () => ({
    limiter: new AutoLimit(2, 256),
    baselines: new Baselines(),
    inFlight: 0,
  }));
  const calls: { readonly endsAtMs: number; readonly beganMs: number; readonly by: number }[] = [];
  let nowMs = 1_000_000;
  while (nowMs < 1_240_000) {
    for (const [by, node] of nodes.entries()) {
      while (node.inFlight < node.limiter.limit) {
        node.inFlight += 1;
        const ms = 100 * Math.max(1, (calls.length + 1) / knee) * (0.9 + 0.2 * random());
        calls.push({ endsAtMs: nowMs + ms, beganMs: nowMs, by });
      }
    }
    const [call] = calls.splice(calls.indexOf(calls.reduce((a, b) => (b.endsAtMs < a.endsAtMs ? b : a))), 1);
    const node = nodes[call?.by ?? 0];
    assert.ok(call !== undefined && node !== undefined);
    nowMs = call.endsAtMs;
    const epochMs = nowMs + call.by * skewMs;
    node.limiter.served(node.baselines, 1, nowMs - call.beganMs, node.inFlight, nowMs, epochMs);
    node.inFlight -= 1;
  }
  const sum = nodes.reduce((total, { limiter }) => total + limiter.learned, 0);
  assert.ok(near(sum, knee), `${sum} for a knee of ${knee}`);
});

test('light traffic does not change the learned limit', () => {
  const server = { knee: 32, callMs: 100, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(2, 256), server, 512);
  simulation.run(30_000);
  simulation.demand = 2;
  simulation.run(1_000);
  const { learned } = simulation.limiter;
  simulation.run(60_000);
  assert.ok(near(learned, 32));
  assert.equal(simulation.limiter.learned, learned);
});

test("with calls of very different sizes, the limit still learns the server's best concurrency", () => {
  const server = { knee: 16, callMs: 5, jitter: 0.1 };
  const simulation = new Simulation(new AutoLimit(2, 256), server, 512);
  simulation.works = [1, 4, 32, 100];
  simulation.run(60_000);
  assert.ok(near(simulation.limiter.learned, 16), `${simulation.limiter.learned}`);
});

test('over a simulated day the limit is near the optimum under load, and always between min and max', () => {
  const hourMs = 3_600_000;
  const server = { knee: 8, callMs: 2_000, jitter: 0.2 };
  const simulation = new Simulation(new AutoLimit(2, 24), server, 0, 7);
  const random = randomOf(3);
  for (let quarter = 0; quarter < 96; quarter += 1) {
    // More by day than by night; the server's capacity changes at two in the morning and in the afternoon.
    simulation.demand = Math.max(1, Math.round(30 * Math.sin((Math.PI * quarter) / 96) ** 2));
    server.knee = quarter < 8 || quarter >= 56 ? 16 : 8;
    if (random() < 0.2) simulation.stall(10_000);
    simulation.run(hourMs / 12);
    simulation.measure();
    simulation.run(hourMs / 6);
    const { perSecond, latencyMs } = simulation.measure();
    const best = Math.min(simulation.demand, server.knee) / (server.callMs / 1_000);
    assert.ok(perSecond(hourMs / 6) >= 0.85 * best, `quarter ${quarter}: ${perSecond(hourMs / 6)} of ${best}`);
    assert.ok(latencyMs <= server.callMs * 1.7, `quarter ${quarter}: ${latencyMs} ms`);
    simulation.samples = [];
  }
});
