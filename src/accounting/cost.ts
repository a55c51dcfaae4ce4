/** Multiplies billed quantities by a price; the result is in whole nano-dollars, rounded once, half up. */

import { oneFactor, type Price } from '../core/accounting/price.ts';
import { mostNanos } from '../lib/money.ts';

const tokensPerPrice = 1_000_000;

/** Billed quantities. Cached, sound and image tokens are included in the sums of input and output, and are charged once. */
export interface Quantities {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is cached for an hour. */
  readonly cacheWriteHourTokens: number;
  readonly audioInputTokens: number;
  readonly imageInputTokens: number;
  readonly outputTokens: number;
  readonly audioOutputTokens: number;
  readonly imageOutputTokens: number;
  readonly searchUnits: number;
  readonly items: number;
  readonly images: number;
  readonly imageNanos: number;
  readonly characters: number;
  readonly seconds: number;
  readonly toolNanos: number;
}

/** The cost of the quantities. `factor` is in millionths and applies to tokens only. Sums beyond a double's precision are computed with bigints. */
export function costNanos(price: Price, quantities: Quantities, factor: number): number {
  const { searchUnit = 0, request = 0, item = 0, minute = 0, character = 0 } = price;
  const { requests, searchUnits, items, images, imageNanos, characters, toolNanos } = quantities;
  const spoken = minutesNanos(quantities.seconds, minute);
  const whole = searchUnits * searchUnit + requests * request + items * item + images * imageNanos + spoken + toolNanos;
  const perMillion = plainTokensNanos(price, quantities) + characters * character;
  const rounded = perMillion + tokensPerPrice / 2;
  if (factor === oneFactor && rounded <= Number.MAX_SAFE_INTEGER && whole <= Number.MAX_SAFE_INTEGER) {
    return Math.min(whole + (rounded - (rounded % tokensPerPrice)) / tokensPerPrice, mostNanos);
  }
  const million = BigInt(tokensPerPrice);
  const tokens = exactTokensNanos(price, quantities) * BigInt(factor);
  const exact =
    (tokens + product(characters, character) * million + (million * million) / 2n) / (million * million) +
    (product(searchUnits, searchUnit) +
      product(requests, request) +
      product(items, item) +
      product(images, imageNanos) +
      BigInt(spoken) +
      BigInt(toolNanos));
  return exact > BigInt(mostNanos) ? mostNanos : Number(exact);
}

/** The cost of all tokens by kind: cached, sound and image tokens have prices of their own. Most requests have no sound or images. */
function plainTokensNanos(price: Price, quantities: Quantities): number {
  if (hasParts(quantities)) {
    let sum = 0;
    for (const [count, each] of partsOf(price, quantities)) sum += count * each;
    return sum;
  }
  const { input = 0, output = 0, cachedInput = input } = price;
  const cached = Math.min(quantities.cachedTokens, quantities.inputTokens);
  return (quantities.inputTokens - cached) * input + cached * cachedInput + quantities.outputTokens * output;
}

function exactTokensNanos(price: Price, quantities: Quantities): bigint {
  let sum = 0n;
  for (const [count, each] of partsOf(price, quantities)) sum += product(count, each);
  return sum;
}

const hasParts = (quantities: Quantities): boolean =>
  quantities.cacheWriteTokens > 0 ||
  quantities.audioInputTokens > 0 ||
  quantities.imageInputTokens > 0 ||
  quantities.audioOutputTokens > 0 ||
  quantities.imageOutputTokens > 0;

function partsOf(price: Price, quantities: Quantities): readonly (readonly [count: number, price: number])[] {
  const { input = 0, output = 0 } = price;
  const { cachedInput = input, cacheWrite = input, audioInput = input, imageInput = input } = price;
  const { cacheWriteHour = cacheWrite, audioOutput = output, imageOutput = output } = price;
  const { inputTokens, outputTokens } = quantities;
  const cached = Math.min(quantities.cachedTokens, inputTokens);
  const written = Math.min(quantities.cacheWriteTokens, inputTokens - cached);
  const forAnHour = Math.min(quantities.cacheWriteHourTokens, written);
  const fresh = inputTokens - cached - written;
  const heard = Math.min(quantities.audioInputTokens, fresh);
  const seen = Math.min(quantities.imageInputTokens, fresh - heard);
  const spoken = Math.min(quantities.audioOutputTokens, outputTokens);
  const drawn = Math.min(quantities.imageOutputTokens, outputTokens - spoken);
  return [
    [fresh - heard - seen, input],
    [cached, cachedInput],
    [written - forAnHour, cacheWrite],
    [forAnHour, cacheWriteHour],
    [heard, audioInput],
    [seen, imageInput],
    [outputTokens - spoken - drawn, output],
    [spoken, audioOutput],
    [drawn, imageOutput],
  ];
}

const product = (count: number, price: number): bigint => BigInt(count) * BigInt(price);

/** The cost of seconds at a price per minute, rounded half up; exact for recordings longer than a day. */
const minutesNanos = (seconds: number, minute: number): number =>
  Math.min(Math.round((seconds * minute) / 60), mostNanos);
