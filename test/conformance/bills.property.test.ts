/** Whatever is asked and answered: a bill is what the service counted, to the last nano-dollar, and no more than was reserved for it. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { bill, unpricedIn, worstCostNanos } from '../../src/accounting/billing.ts';
import { type Bill, oneFactor, type Price, type RequestEstimate } from '../../src/core/accounting/price.ts';
import type { Candidate } from '../../src/core/dispatch.ts';
import { Exchange } from '../../src/core/exchange.ts';
import type { Route } from '../../src/core/route.ts';
import type { Snapshot, Target } from '../../src/core/snapshot.ts';
import { questionReaderOf } from '../../src/plan/question.ts';
import { estimateOf } from '../../src/plan/usage/request-estimate.ts';
import { createUsageObserver } from '../../src/plan/usage/usage.ts';
import { routes } from '../../src/routes/index.ts';
import { type Journal, model, type Served, served } from '../support/bills/services.ts';

const rate = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100_000_000 }));
const perhaps = fc.option(rate, { nil: undefined });
const factor = fc.integer({ min: 1, max: 6_000_000 });
const allPrices: fc.Arbitrary<Price> = fc.record({
  ...{ input: rate, cachedInput: perhaps, cacheWrite: perhaps, cacheWriteHour: perhaps },
  ...{ audioInput: perhaps, imageInput: perhaps, output: rate, audioOutput: perhaps, imageOutput: perhaps },
  ...{ searchUnit: fc.constant(undefined), request: perhaps, item: perhaps, image: fc.constant(undefined) },
  tools: fc.record({ web_search: rate, file_search: rate, google_search: rate }),
  factors: fc.record({
    serviceTier: fc.record({ priority: factor, flex: factor }),
    // Where several are multiplied the product is rounded to a millionth: with these it is exact.
    speed: fc.record({ fast: fc.constantFrom(2_000_000, 6_000_000) }),
    inferenceGeo: fc.record({ us: fc.constantFrom(2_000_000, 3_000_000) }),
  }),
});

/** Of one thing alone: nothing that is held for another makes up for what was forgotten of it. */
const onePrice: fc.Arbitrary<Price> = fc
  .constantFrom('input', 'output', 'cacheWriteHour', 'audioOutput', 'imageInput')
  .map((unit) => ({
    ...nothing,
    [unit]: oneFactor,
    tools: { web_search: 0, file_search: 0, google_search: 0 },
    factors: {
      serviceTier: { priority: oneFactor, flex: oneFactor },
      speed: { fast: oneFactor },
      inferenceGeo: { us: oneFactor },
    },
  }));
const nothing: Price = {
  ...{ input: undefined, cachedInput: undefined, cacheWrite: undefined, output: undefined, searchUnit: undefined },
  ...{ request: undefined, item: undefined, image: undefined },
};

async function estimateFor({ body }: Served, route: Route): Promise<RequestEstimate> {
  const tiers = [[{ target: { defaults: {} } as Target, offer: { path: '/' }, lifted: false } as Candidate]];
  const question = await questionReaderOf(route)(Buffer.from(JSON.stringify(body)));
  return estimateOf(question, route, { tiers, model });
}

async function billOf(
  { answer, isStream }: Served,
  route: Route,
  estimate: RequestEstimate,
  price: Price,
): Promise<Bill> {
  const type = isStream ? 'text/event-stream' : 'application/json';
  const observer = createUsageObserver(type, undefined, undefined, route.row, estimate.tools !== undefined);
  for (let at = 0; at < answer.length; at += 97) observer.push(Buffer.from(answer.slice(at, at + 97)));
  const exchange = new Exchange('id', undefined, {} as Snapshot, 0, 0);
  Object.assign(exchange, { route, estimate, status: 200, outcome: 'ok', attempts: 1 });
  exchange.target = { price, upstream: { family: {}, options: {} } } as Target;
  exchange.usage = await observer.finish();
  bill(exchange);
  assert.ok(exchange.bill !== null);
  return exchange.bill;
}

/** Worked out from the journal alone, with nothing that the gateway makes of it. */
function costOf(journal: Journal, operation: string, price: Price): bigint {
  const { input = 0, output = 0, cacheWrite = input } = price;
  const lines: readonly [number, number][] = [
    [journal.text, input],
    [journal.cached, price.cachedInput ?? input],
    [journal.written - journal.writtenForAnHour, cacheWrite],
    [journal.writtenForAnHour, price.cacheWriteHour ?? cacheWrite],
    [journal.audioIn, price.audioInput ?? input],
    [journal.imageIn, price.imageInput ?? input],
    [journal.output, output],
    [journal.audioOut, price.audioOutput ?? output],
    [journal.imageOut, price.imageOutput ?? output],
  ];
  let tokens = lines.reduce((sum, [count, each]) => sum + BigInt(count) * BigInt(each), 0n);
  let factors = 1n;
  for (const [word, of] of [
    [journal.words.serviceTier, price.factors?.serviceTier],
    [journal.words.speed, price.factors?.speed],
    [journal.words.inferenceGeo, price.factors?.inferenceGeo],
  ] as const) {
    factors *= 1_000_000n;
    tokens *= BigInt(of?.[word ?? ''] ?? 1_000_000);
  }
  const scale = 1_000_000n * factors;
  const search = operation === 'generate' ? price.tools?.google_search : price.tools?.web_search;
  const calls = journal.searches * (search ?? 0) + journal.fileSearches * (price.tools?.file_search ?? 0);
  return (tokens + scale / 2n) / scale + BigInt((price.request ?? 0) + (price.item ?? 0) + calls);
}

test("the billed cost equals the service's own count, and the reserved worst case is never less", async () => {
  let bounded = 0;
  await fc.assert(
    fc.asyncProperty(served, fc.oneof(allPrices, onePrice), async (one, price) => {
      const route = routes.find(({ operation }) => operation === one.operation);
      assert.ok(route);
      const estimate = await estimateFor(one, route);
      const made = await billOf(one, route, estimate, price);
      const cost = costOf(one.journal, one.operation, price);
      assert.equal(BigInt(made.costNanos ?? -1), cost);
      assert.equal(made.isEstimated, false);
      if (estimate.unbounded !== undefined || unpricedIn(price, estimate) !== undefined) return;
      bounded += 1;
      assert.ok(worstCostNanos(price, estimate) >= (made.costNanos ?? 0), 'it costs more than was reserved');
    }),
    { numRuns: 1_500 },
  );
  assert.ok(bounded > 500, `only ${bounded} could be bounded`);
});
