import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TryRecord } from '../core/accounting/ledger-row.ts';
import type { Bill, Price, RequestEstimate } from '../core/accounting/price.ts';
import type { Usage } from '../core/accounting/usage.ts';
import { Exchange } from '../core/exchange.ts';
import type { Operation } from '../core/operations/index.ts';
import { operationRows } from '../core/operations/index.ts';
import type { Route } from '../core/route.ts';
import type { Snapshot, Target } from '../core/snapshot.ts';
import { mostNanos } from '../lib/money.ts';
import { bill, unpricedIn, worstCostNanos } from './billing.ts';

const nothing: Price = {
  input: undefined,
  cachedInput: undefined,
  cacheWrite: undefined,
  output: undefined,
  searchUnit: undefined,
  request: undefined,
  item: undefined,
  image: undefined,
};
const asked: RequestEstimate = {
  items: 3,
  images: 0,
  likelyInputTokens: 40,
  mostInputTokens: 160,
  mostOutputTokens: 50,
  mostSearchUnits: 2,
};
const unsaid: Usage = { promptTokens: null, completionTokens: null, totalTokens: null, searchUnits: null };

interface Case
  extends Partial<
    Pick<Exchange, 'outcome' | 'status' | 'responseBytes' | 'decodedBytes' | 'attempts' | 'sentAtMs' | 'pictures'>
  > {
  readonly operation?: Operation;
  readonly price?: Price | undefined;
  readonly usage?: Partial<Usage> | null;
  readonly estimate?: Partial<RequestEstimate>;
  readonly tries?: readonly string[];
}

function billOf({
  operation = 'embeddings',
  price,
  usage = null,
  estimate = {},
  tries = [],
  ...rest
}: Case): Bill | null {
  const exchange = new Exchange('id', undefined, {} as Snapshot, 0, 0);
  exchange.route = { operation, row: operationRows[operation] } as Route;
  exchange.target = { price } as Target;
  exchange.estimate = { ...asked, ...estimate };
  exchange.usage = usage && { ...unsaid, ...usage };
  exchange.status = 200;
  exchange.outcome = 'ok';
  exchange.attempts = 1;
  exchange.tries.push(...tries.map((outcome) => ({ outcome }) as TryRecord));
  Object.assign(exchange, rest);
  bill(exchange);
  return exchange.bill;
}

const perMillion = { ...nothing, input: 20_000_000, output: 60_000_000 };

test('bills the token counts that the upstream reported', () => {
  const row = billOf({ operation: 'completions', price: perMillion, usage: { promptTokens: 10, completionTokens: 5 } });
  assert.deepEqual(row, {
    inputTokens: 10,
    cachedTokens: 0,
    outputTokens: 5,
    searchUnits: 0,
    items: 3,
    images: 0,
    isEstimated: false,
    costNanos: 500,
  });
});

test('splits a reported token total: tokens that are not output are billed as input', () => {
  const cost = (usage: Partial<Usage>) => billOf({ price: perMillion, usage })?.costNanos;
  assert.equal(cost({ totalTokens: 100 }), 2000);
  assert.equal(cost({ totalTokens: 100, completionTokens: 50 }), 1000 + 3000);
  assert.equal(cost({ totalTokens: 100, promptTokens: 90 }), 1800 + 600);
  // The remainder is zero for the input, which is impossible: its estimate counts.
  assert.equal(cost({ totalTokens: 1, completionTokens: 5 }), 800 + 300);
});

test('counts cached tokens as part of the input tokens, even if the upstream reports more', () => {
  const usage = { promptTokens: 10, completionTokens: 1, cachedTokens: 4_000 };
  assert.equal(billOf({ operation: 'chat', price: perMillion, usage, estimate: { items: 1 } })?.cachedTokens, 10);
});

test('bills all requested images when the client leaves while they are generated', () => {
  const made = (count: number, outcome: Exchange['outcome']) => {
    const pictures = { count, size: undefined, quality: undefined };
    return billOf({ operation: 'images', price: { ...nothing, image: 5 }, estimate: { images: 4 }, outcome, pictures });
  };
  assert.deepEqual([made(3, 'ok')?.images, made(3, 'ok')?.costNanos], [3, 15]);
  for (const outcome of ['aborted', 'cut'] as const) {
    assert.deepEqual([made(1, outcome)?.images, made(1, outcome)?.costNanos], [4, 20], outcome);
    assert.equal(made(5, outcome)?.images, 5);
  }
});

test('bills total tokens beyond input and output as reasoning output for chat, and ignores them for embeddings', () => {
  const usage = { promptTokens: 23, completionTokens: 9, totalTokens: 334 };
  const price = { ...nothing, input: 1_000_000, output: 1_000_000 };
  const chat = billOf({ operation: 'chat', price, usage, estimate: { items: 1 } });
  assert.deepEqual([chat?.inputTokens, chat?.outputTokens, chat?.isEstimated], [23, 311, false]);
  const fewer = billOf({ operation: 'chat', price, usage: { ...usage, totalTokens: 9 }, estimate: { items: 1 } });
  assert.deepEqual([fewer?.inputTokens, fewer?.outputTokens], [23, 9]);
  assert.equal(billOf({ operation: 'embeddings', price, usage, estimate: { items: 1 } })?.outputTokens, 9);
});

test('bills cached input tokens at the cached price, or at the input price if there is none', () => {
  const usage = { promptTokens: 1000, completionTokens: 0, cachedTokens: 400 };
  assert.equal(billOf({ price: { ...perMillion, cachedInput: 5_000_000 }, usage })?.costNanos, 12_000 + 2000);
  assert.equal(billOf({ price: perMillion, usage })?.costNanos, 20_000);
  assert.equal(billOf({ price: perMillion, usage: { ...usage, cachedTokens: 5000 } })?.costNanos, 20_000);
});

test('bills search units, requests, items and images each at its own price', () => {
  const price = { ...nothing, searchUnit: 2_000_000, request: 7, item: 11, image: 13 };
  const row = billOf({ operation: 'rerank', price, usage: { searchUnits: 3 }, estimate: { images: 2 } });
  assert.equal(row?.costNanos, 6_000_000 + 7 + 33 + 26);
  assert.equal(row?.isEstimated, false);
  assert.equal(row?.inputTokens, 0);
});

test('estimates counts that the upstream did not report, and marks the bill as estimated', () => {
  const rerank = billOf({ operation: 'rerank', price: { ...nothing, searchUnit: 2_000_000 } });
  assert.deepEqual([rerank?.searchUnits, rerank?.costNanos, rerank?.isEstimated], [2, 4_000_000, true]);
  const embeddings = billOf({ price: perMillion });
  assert.deepEqual([embeddings?.inputTokens, embeddings?.costNanos, embeddings?.isEstimated], [40, 800, true]);
  const plain = billOf({ operation: 'completions', price: perMillion, responseBytes: 101 });
  assert.deepEqual([plain?.outputTokens, plain?.isEstimated], [26, true]);
  const streamed = { operation: 'completions', price: perMillion, estimate: { isStream: true } } as const;
  assert.equal(billOf({ ...streamed, responseBytes: 2001 })?.outputTokens, 11);
  assert.equal(billOf({ ...streamed, responseBytes: 1_000_000 })?.outputTokens, asked.mostOutputTokens);
  assert.equal(billOf({ ...streamed, usage: { promptTokens: 4, completionTokens: 2 } })?.isEstimated, false);
});

test('counts tokens of free and unpriced requests too, and search units only if they have a price', () => {
  const unknown = billOf({ operation: 'rerank', price: undefined, usage: { totalTokens: 12 } });
  assert.deepEqual([unknown?.inputTokens, unknown?.searchUnits, unknown?.costNanos], [12, 0, null]);
  const free = billOf({ operation: 'rerank', price: { ...nothing, input: 0, searchUnit: 0 } });
  assert.deepEqual([free?.searchUnits, free?.costNanos], [0, 0]);
});

test('bills each line of a batch at the batch discount of the price, rounded line by line', () => {
  const batch = { path: '/v1/chat/completions', lines: 1 };
  const usage = { promptTokens: 1, completionTokens: 0 };
  const cost = (price: Partial<Price>) =>
    billOf({ operation: 'chat', price: { ...nothing, ...price }, usage, estimate: { items: 1, batch } })?.costNanos;
  assert.equal(cost({ input: 20_000_000, batchPercent: 50 }), 10);
  assert.equal(cost({ input: 21_000_000, batchPercent: 50 }), 11);
  assert.equal(cost({ input: 20_000_000 }), 20);
  assert.equal(cost({ request: 300, batchPercent: 50 }), 150);
  const outside = { operation: 'chat', price: { ...nothing, request: 300, batchPercent: 50 }, usage } as const;
  assert.equal(billOf(outside)?.costNanos, 300);
  // Each line may be rounded by a nano-dollar.
  const whole = { ...asked, items: 4, mostInputTokens: 1_000, mostOutputTokens: 0, batch: { ...batch, lines: 4 } };
  const price = { ...nothing, input: 1_000_000, request: 10, item: 2, batchPercent: 50 };
  assert.equal(worstCostNanos(price, whole), (1_000 + 4 * 10 + 4 * 2) / 2 + 4);
});

test('does not bill errors, refusals and requests that were never sent', () => {
  const price = perMillion;
  assert.equal(billOf({ price, outcome: 'error', status: 500 }), null);
  assert.equal(billOf({ price, outcome: 'refused', status: 429 }), null);
  assert.equal(billOf({ price, outcome: 'aborted', status: 500 }), null);
  assert.equal(billOf({ price, outcome: 'cut', status: 503 }), null);
  assert.equal(billOf({ price, outcome: 'aborted', status: 499, attempts: 0 }), null);
  assert.equal(billOf({ price, outcome: 'aborted', status: 499, attempts: 2, tries: ['not-sent', 'failed'] }), null);
});

test('does not bill responses with status 204 or 304, except on custom routes', () => {
  const price = { ...perMillion, request: 7 };
  for (const status of [204, 304]) {
    for (const operation of ['embeddings', 'chat', 'images'] as const)
      assert.equal(billOf({ price, status, operation }), null);
    assert.equal(billOf({ price: { ...nothing, request: 7 }, status, operation: 'own' })?.costNanos, 7);
  }
});

test('bills an aborted or broken response by the reported usage, else by an estimate', () => {
  const price = perMillion;
  const left = billOf({ price, outcome: 'aborted', usage: { promptTokens: 7, totalTokens: 7 } });
  assert.deepEqual([left?.inputTokens, left?.costNanos, left?.isEstimated], [7, 140, true]);
  const cut = billOf({ operation: 'completions', price, outcome: 'cut', responseBytes: 40 });
  assert.deepEqual([cut?.inputTokens, cut?.outputTokens, cut?.isEstimated], [40, 10, true]);
  const before = billOf({ price, outcome: 'aborted', status: 499, attempts: 2, tries: ['queue', 'not-sent'] });
  assert.deepEqual([before?.inputTokens, before?.isEstimated], [40, true]);
});

test('rounds the cost of a request once at the end, half up', () => {
  const cost = (input: number, output: number, promptTokens: number, completionTokens: number) =>
    billOf({ price: { ...nothing, input, output }, usage: { promptTokens, completionTokens }, estimate: { items: 1 } })
      ?.costNanos;
  assert.equal(cost(499_999, 0, 1, 0), 0);
  assert.equal(cost(500_000, 0, 1, 0), 1);
  assert.equal(cost(250_000, 250_000, 1, 1), 1);
  assert.equal(cost(249_999, 250_000, 1, 1), 0);
});

const count = fc.oneof(fc.nat(10_000), fc.nat(1_000_000_000));
const priced = fc.option(
  fc.oneof(
    fc.nat(1_000_000_000),
    fc.maxSafeNat().map((n) => n % 100_000_000_000_001),
  ),
  {
    nil: undefined,
  },
);
const prices = fc.record({
  input: priced,
  cachedInput: priced,
  cacheWrite: priced,
  output: priced,
  searchUnit: priced,
  request: priced,
  item: priced,
  image: priced,
});
const quantities = fc.record({ input: count, output: count, units: fc.nat(10_000), items: count, images: fc.nat(100) });

test('estimates the output tokens of a compressed response from its uncompressed size', () => {
  const price: Price = { ...nothing, output: 1_000_000 };
  const estimate = { mostOutputTokens: 1_000, isStream: true };
  const answer: Case = { operation: 'completions', price, estimate, responseBytes: 1_000 };
  assert.equal(billOf(answer)?.outputTokens, 5);
  assert.equal(billOf({ ...answer, decodedBytes: 20_000 })?.outputTokens, 100);
  assert.equal(billOf({ ...answer, decodedBytes: 20_000_000 })?.outputTokens, 1_000);
});

test('caps absurdly large counts so that their sums still fit into the database', () => {
  const price: Price = { ...nothing, input: 1_000_000, cachedInput: 1_000_000, output: 1_000_000 };
  const most = Number.MAX_SAFE_INTEGER;
  const usage = { promptTokens: most, completionTokens: most, cachedTokens: most, searchUnits: most };
  const made = billOf({ operation: 'completions', price, usage });
  assert.deepEqual(
    [made?.inputTokens, made?.cachedTokens, made?.outputTokens, made?.searchUnits],
    Array(4).fill(1_000_000_000),
  );
  assert.equal(made?.costNanos, 2_000_000_000);
});

const million = 1_000_000;
const parted: Price = {
  ...{ ...nothing, input: million, cachedInput: 2 * million, cacheWrite: 3 * million, cacheWriteHour: 5 * million },
  ...{ audioInput: 7 * million, imageInput: 11 * million },
  ...{ output: 13 * million, audioOutput: 17 * million, imageOutput: 19 * million },
};

test('bills audio, image and one-hour cache tokens at their own price, or at the general token price without one', () => {
  const usage = {
    ...{ promptTokens: 100, completionTokens: 50, cachedTokens: 10, cacheWriteTokens: 30 },
    units: {
      cacheWriteHourTokens: 20,
      audioInputTokens: 15,
      imageInputTokens: 5,
      audioOutputTokens: 8,
      imageOutputTokens: 2,
    },
  };
  const costs = (price: Price) => billOf({ operation: 'chat', price, usage, estimate: { items: 1 } })?.costNanos;
  assert.equal(costs(parted), 40 * 1 + 10 * 2 + 10 * 3 + 20 * 5 + 15 * 7 + 5 * 11 + 40 * 13 + 8 * 17 + 2 * 19);
  assert.equal(costs({ ...nothing, input: million, output: 13 * million }), 100 + 50 * 13);
  assert.equal(costs({ ...nothing, input: million, cacheWrite: 3 * million }), 70 + 30 * 3);
  const unsplit = billOf({ operation: 'chat', price: parted, usage: { ...usage, units: undefined } });
  assert.equal(unsplit?.costNanos, 60 * 1 + 10 * 2 + 30 * 3 + 50 * 13);
});

test('bills all tokens at the audio or image price when the upstream does not count text tokens separately', () => {
  const usage = { promptTokens: 20, completionTokens: 9 };
  const costs = (operation: Operation) =>
    billOf({ operation, price: parted, usage, estimate: { items: 1 } })?.costNanos;
  assert.equal(costs('speech'), 20 + 9 * 17);
  assert.equal(costs('images'), 20 + 9 * 19);
  assert.equal(costs('transcriptions'), 20 * 7 + 9 * 13);
});

test('multiplies the token price, and nothing else, by the factor of the reported service tier', () => {
  const price: Price = {
    ...{ ...nothing, input: million, output: million, request: 100 },
    factors: { serviceTier: { priority: 2 * million, flex: million / 2 }, speed: { fast: 6 * million } },
  };
  const costs = (said: string | undefined, asked?: string) => {
    const usage = { promptTokens: 7, completionTokens: 2, ...(said !== undefined && { units: { serviceTier: said } }) };
    return billOf({
      operation: 'chat',
      price,
      usage,
      estimate: { items: 1, ...(asked !== undefined && { terms: { serviceTier: asked } }) },
    });
  };
  assert.equal(costs('priority')?.costNanos, 118);
  assert.equal(costs('flex')?.costNanos, 105);
  assert.equal(costs('default', 'priority')?.costNanos, 109);
  assert.equal(costs(undefined, 'priority')?.costNanos, 118);
  assert.equal(costs(undefined, 'priority')?.units?.serviceTier, 'priority');
  assert.deepEqual([costs('ultrafast')?.costNanos, costs('ultrafast')?.isEstimated], [109, true]);
  assert.deepEqual([costs('default')?.units, costs('default')?.isEstimated], [undefined, false]);
});

test('reserves the cost at the highest price factor that the tier, speed and region of the request can cause', () => {
  const price: Price = {
    ...{ ...nothing, input: million },
    factors: {
      serviceTier: { priority: 2 * million, flex: million / 2 },
      speed: { fast: 6 * million },
      inferenceGeo: { us: 1_100_000 },
    },
  };
  const held = (terms?: RequestEstimate['terms']) =>
    worstCostNanos(price, { ...asked, mostInputTokens: 1_000, ...(terms && { terms }) });
  assert.equal(held(), 2_200);
  assert.equal(held({ serviceTier: 'auto' }), 2_200);
  assert.equal(held({ serviceTier: 'default' }), 1_100);
  assert.equal(held({ serviceTier: 'flex', inferenceGeo: 'global' }), 1_000);
  assert.equal(held({ serviceTier: 'default', speed: 'fast', inferenceGeo: 'us' }), 6_600);
});

test('names the request parameter that may raise the cost but has no configured price factor', () => {
  const price: Price = { ...nothing, input: million, factors: { serviceTier: { priority: 2 * million } } };
  const named = (terms: RequestEstimate['terms'], of = price) =>
    unpricedIn(of, { ...asked, ...(terms && { terms }) })?.param;
  assert.equal(named({ serviceTier: 'priority' }), undefined);
  assert.equal(named({ serviceTier: 'ultrafast' }), 'service_tier');
  assert.equal(named({ speed: 'fast' }), 'speed');
  assert.equal(named({ serviceTier: 'flex', inferenceGeo: 'us' }), 'inference_geo');
  assert.equal(named(undefined), undefined);
  assert.equal(named({ speed: 'fast' }, nothing), undefined);
});

test('bills tool calls by kind, and assumes the maximum when the response broke off before reporting usage', () => {
  const price: Price = { ...nothing, input: million, tools: { web_search: 100, file_search: 7 } };
  const tools = { kinds: ['web_search', 'file_search'], most: 4 };
  const costs = (toolCalls: Readonly<Record<string, number>> | undefined, more: Partial<Case> = {}) => {
    const usage = { promptTokens: 1, completionTokens: 1, ...(toolCalls && { units: { toolCalls } }) };
    const { estimate, ...rest } = more;
    const made = billOf({ operation: 'responses', price, usage, estimate: { items: 1, tools, ...estimate }, ...rest });
    return [made?.costNanos, made?.isEstimated, made?.units?.toolCalls];
  };
  const counted = { web_search: 2, file_search: 1 };
  assert.deepEqual(costs(counted), [208, false, counted]);
  assert.deepEqual(costs({}), [1, false, undefined]);
  assert.deepEqual(costs({ mcp: 1 }), [1, true, { mcp: 1 }]);
  assert.deepEqual(costs(undefined, { outcome: 'cut' }), [401, true, { web_search: 4, file_search: 4 }]);
  assert.deepEqual(costs({ web_search: 1 }, { outcome: 'cut' }), [101, true, { web_search: 1 }]);
  const sure = { kinds: ['web_search'], most: 1, areSure: true } as const;
  const once = { web_search: 1 };
  assert.deepEqual(costs(undefined, { operation: 'chat', estimate: { tools: sure } }), [101, false, once]);
  assert.equal(worstCostNanos(price, { ...asked, tools }), 160 + 400);
  const unpriced = { ...price, tools: { web_search: 100 } };
  assert.deepEqual(unpricedIn(unpriced, { ...asked, tools }), { param: 'tools', setting: 'price.tools.file_search' });
  assert.equal(unpricedIn(price, { ...asked, tools }), undefined);
});

test('a bill is exact to the nano-dollar at any size', () => {
  fc.assert(
    fc.property(
      prices,
      quantities,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (price, { input: more, output, units, items, images }, share) => {
        // A count below the number of items would be rejected.
        const input = Math.max(more, items);
        const cached = Math.floor(input * share);
        const put = Math.floor((input - cached) * share);
        const usage = {
          promptTokens: input,
          completionTokens: output,
          cachedTokens: cached,
          cacheWriteTokens: put,
          searchUnits: units,
        };
        const got = billOf({ operation: 'rerank', price, usage, estimate: { items, images } })?.costNanos;
        const at = (one: number | undefined): bigint => BigInt(one ?? 0);
        const tokens =
          BigInt(input - cached - put) * at(price.input) +
          BigInt(cached) * at(price.cachedInput ?? price.input) +
          BigInt(put) * at(price.cacheWrite ?? price.input) +
          BigInt(output) * at(price.output);
        const each =
          BigInt(units) * at(price.searchUnit) +
          at(price.request) +
          BigInt(items) * at(price.item) +
          BigInt(images) * at(price.image);
        const exact = (tokens + 500_000n) / 1_000_000n + each;
        assert.equal(got, exact > BigInt(mostNanos) ? mostNanos : Number(exact));
      },
    ),
    { numRuns: 2000 },
  );
});

test('the worst-case estimate of a request is never below its final bill', () => {
  fc.assert(
    fc.property(prices, quantities, fc.double({ min: 0, max: 1, noNaN: true }), (price, most, share) => {
      const part = (whole: number): number => Math.floor(whole * share);
      const estimate: RequestEstimate = {
        items: most.items,
        images: most.images,
        likelyInputTokens: part(most.input),
        mostInputTokens: most.input,
        mostOutputTokens: most.output,
        mostSearchUnits: most.units,
      };
      const usage = {
        promptTokens: part(most.input),
        completionTokens: part(most.output),
        cachedTokens: part(part(most.input)),
        cacheWriteTokens: part(most.input),
        searchUnits: part(most.units),
      };
      const cost = billOf({ operation: 'rerank', price, usage, estimate })?.costNanos ?? 0;
      assert.ok(worstCostNanos(price, estimate) >= cost);
    }),
    { numRuns: 1000 },
  );
  assert.equal(worstCostNanos(undefined, asked), 0);
});

test('reserves images at the most expensive price row that can apply', () => {
  const word = fc.constantFrom(undefined, 'a', 'b', 'c');
  const row = fc.record({ size: word, quality: word, each: fc.nat(1_000_000_000) });
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1 }),
      fc.record({ size: word, quality: word }),
      fc.record({ size: word, quality: word }),
      fc.integer({ min: 1, max: 10 }),
      (rows, asks, reported, count) => {
        const price = { ...nothing, image: Math.max(...rows.map(({ each }) => each)), pictures: rows };
        // The service reports the requested values, or none.
        const pictures = { count, size: asks.size ?? reported.size, quality: asks.quality ?? reported.quality };
        const estimate = { images: count, picture: asks };
        for (const seen of [pictures, { count, size: undefined, quality: undefined }, undefined]) {
          const got = billOf({ operation: 'images', price, estimate, pictures: seen })?.costNanos ?? 0;
          assert.ok(got <= worstCostNanos(price, { ...asked, ...estimate }));
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
