/** What an exchange costs: at most, before it is sent, and in truth, as the upstream counted it. Whole nano-dollars throughout. */

import type { Asking, Bill, Price } from '../core/accounting/price.ts';
import type { Pictures } from '../core/accounting/usage.ts';
import { believableIn } from '../core/believable.ts';
import type { Exchange } from '../core/exchange.ts';
import { mostNanos } from '../lib/money.ts';
import { unitsOf } from './units.ts';

/** Of a plain answer: JSON around the text, and the text. */
const bytesPerToken = 4;
/** Of a stream of which no text was seen: mostly one token an event, in its JSON. */
const streamedBytesPerToken = 200;

const tokensPerPrice = 1_000_000;
/** No request counts more, whatever an upstream says: sums of what it says must never be more than a database can hold. */
const mostCounted = 1_000_000_000;

/** Whatever its tokenizer and its answer; 0 where the price is not known. */
export function worstCostNanos(price: Price | undefined, asking: Asking): number {
  if (price === undefined) return 0;
  const { input = 0, cachedInput = 0, cacheWrite = 0, output = 0, ...others } = price;
  const dearest = { ...others, input: Math.max(input, cachedInput, cacheWrite), cachedInput: 0, cacheWrite: 0, output };
  const lines = asking.batch?.lines ?? 1;
  const nanos = costNanos(dearest, {
    requests: lines,
    inputTokens: asking.mostInputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: asking.mostOutputTokens,
    searchUnits: asking.mostSearchUnits,
    items: asking.items,
    images: asking.images,
    imageNanos: dearestPicture(price, asking),
    characters: asking.characters ?? 0,
    seconds: asking.mostSeconds ?? 0,
  });
  // Each line of a batch is rounded when it is billed.
  return asking.batch === undefined ? nanos : Math.min(inBatch(nanos, price) + lines, mostNanos);
}

/** Rounded half up, without a digit lost. */
function inBatch(nanos: number, { batchPercent = 100 }: Price): number {
  const rest = nanos % 100;
  return ((nanos - rest) / 100) * batchPercent + Math.round((rest * batchPercent) / 100);
}

/** Says what an exchange that is over is billed by, as `exchange.bill`; null where nothing is owed. */
export function bill(exchange: Exchange): void {
  const { asking, target, route } = exchange;
  const isFree = route?.isFree === true;
  exchange.bill =
    asking === undefined || target === undefined || isFree || !isOwed(exchange)
      ? null
      : toBill(exchange, asking, target.price);
}

/** Errors are free, and so is what was never sent. */
function isOwed({ outcome, status, attempts, tries, sentAtMs }: Exchange): boolean {
  switch (outcome) {
    case 'ok':
      return true;
    case 'aborted':
    case 'cut': {
      // A client that leaves before the answer has 499. What was tried before has its line, what was under way has none.
      const ended = tries.filter((one) => one.outcome !== 'queue' && one.outcome !== 'capped').length;
      return status === 499 ? sentAtMs > 0 || ended < attempts : status < 400;
    }
    default:
      return false;
  }
}

type Counted = Omit<Bill, 'isEstimated' | 'costNanos'>;
/** What the price is for beside what the row keeps. */
type Quantities = Counted & {
  readonly requests: number;
  readonly cacheWriteTokens: number;
  /** For each of them. */
  readonly imageNanos: number;
  readonly characters: number;
  readonly seconds: number;
};

function toBill(exchange: Exchange, asking: Asking, price: Price | undefined): Bill {
  const { usage, outcome } = exchange;
  const row = exchange.route?.row;
  const { inputTokens: input, outputTokens: output } = believableIn(exchange);
  const units = usage?.searchUnits ?? null;
  const isMedia = row?.yields === 'images' || row?.yields === 'audio';
  const isByToken = isCharged(price?.input) || isCharged(price?.output);
  const isByMinute = row?.billedBy.includes('minute') === true;
  // Who counts in search units counts no tokens, and nobody needs any; nor of what is billed by the picture, the minute, by what is read aloud, or not at all.
  const needsTokens = row?.billedBy.length !== 0 && (isByToken || (units === null && !isMedia && !isByMinute));
  const needsOutput = isMedia ? isCharged(price?.output) : row?.yields === 'text' && needsTokens;
  const needsUnits = row?.billedBy.includes('search_unit') === true && isCharged(price?.searchUnit);
  const inputTokens = atMost(input ?? (needsTokens ? asking.likelyInputTokens : 0));
  const counted: Counted = {
    inputTokens,
    // They are among those.
    cachedTokens: Math.min(usage?.cachedTokens ?? 0, inputTokens),
    outputTokens: atMost(output ?? (needsOutput ? likelyOutputTokens(exchange, asking, isMedia) : 0)),
    searchUnits: atMost(units ?? (needsUnits ? asking.mostSearchUnits : 0)),
    items: asking.items,
    images: imagesIn(exchange, asking.images),
  };
  const seconds = usage?.seconds ?? null;
  const needsSeconds = isByMinute && isCharged(price?.minute);
  const isGuessed =
    (seconds === null && needsSeconds) ||
    (input === null && needsTokens) ||
    (output === null && needsOutput) ||
    (units === null && needsUnits);
  const extras = {
    cacheWriteTokens: atMost(usage?.cacheWriteTokens ?? 0),
    seconds: atMost(seconds ?? asking.likelySeconds ?? 0),
    characters: asking.characters ?? 0,
  };
  const beside = unitsOf({ ...extras, images: counted.images }, usage, asking, exchange.pictures);
  const said: Omit<Bill, 'costNanos'> = {
    ...counted,
    ...(beside !== undefined && { units: beside }),
    isEstimated: isGuessed || outcome !== 'ok',
  };
  if (price === undefined) return { ...said, costNanos: null };
  const imageNanos = picturePrice(price, asking, exchange.pictures);
  const nanos = costNanos(price, { ...counted, ...extras, requests: 1, imageNanos });
  return { ...said, costNanos: asking.batch === undefined ? nanos : inBatch(nanos, price) };
}

/** What the request may come to: what it leaves open may be any. */
function dearestPicture({ image = 0, pictures = [] }: Price, { picture }: Asking): number {
  const fitting = pictures.filter(
    ({ size, quality }) => mayBe(size, picture?.size) && mayBe(quality, picture?.quality),
  );
  return fitting.length === 0 ? image : Math.max(...fitting.map(({ each }) => each));
}

const mayBe = (row: string | undefined, asked: string | undefined): boolean =>
  row === undefined || asked === undefined || row === asked;

/** By what the service says, else by what it was asked for; of several that fit, the first. One that is in no row is as dear as it can be. */
function picturePrice(price: Price, asking: Asking, seen: Pictures | undefined): number {
  const size = seen?.size ?? asking.picture?.size;
  const quality = seen?.quality ?? asking.picture?.quality;
  const found = price.pictures?.find((row) => mayBe(row.size, size) && mayBe(row.quality, quality));
  return found?.each ?? dearestPicture(price, asking);
}

/** Of an answer of which the end did not come, those that were asked for were made all the same. */
function imagesIn({ pictures, outcome }: Exchange, asked: number): number {
  if (pictures === undefined) return asked;
  return outcome === 'ok' ? pictures.count : Math.max(pictures.count, asked);
}

const atMost = (count: number): number => Math.min(count, mostCounted);

const isCharged = (price: number | undefined): boolean => price !== undefined && price > 0;

/** By the text that came, and where none was seen by all that came; never more than was asked for. */
function likelyOutputTokens(
  { responseBytes, decodedBytes = 0, written }: Exchange,
  { isStream, likelyOutputTokens: likely, mostOutputTokens }: Asking,
  isMedia: boolean,
): number {
  if (isMedia) return Math.min(likely ?? mostOutputTokens, mostOutputTokens);
  if (written !== undefined && written.texts > 0) {
    const seen = isStream === true ? written.texts : Math.ceil(written.bytes / bytesPerToken);
    return Math.min(written.tokens ?? seen, mostOutputTokens);
  }
  const bytes = isStream === true ? streamedBytesPerToken : bytesPerToken;
  return Math.min(Math.ceil(Math.max(responseBytes, decodedBytes) / bytes), mostOutputTokens);
}

/** Rounded once, half up. The sums are whole numbers; where they are too large for a double to hold, they are taken again at length. */
function costNanos(price: Price, quantities: Quantities): number {
  const cachedTokens = Math.min(quantities.cachedTokens, quantities.inputTokens);
  const writtenTokens = Math.min(quantities.cacheWriteTokens, quantities.inputTokens - cachedTokens);
  const { input = 0, cachedInput = input, cacheWrite = input, output = 0, character = 0 } = price;
  const { searchUnit = 0, request = 0, item = 0, minute = 0 } = price;
  const { requests, outputTokens, searchUnits, items, images, imageNanos, characters } = quantities;
  const freshTokens = quantities.inputTokens - cachedTokens - writtenTokens;
  const tokens = freshTokens * input + cachedTokens * cachedInput + writtenTokens * cacheWrite + outputTokens * output;
  const perMillion = tokens + characters * character;
  const spoken = minutesNanos(quantities.seconds, minute);
  const whole = searchUnits * searchUnit + requests * request + items * item + images * imageNanos + spoken;
  if (perMillion + tokensPerPrice / 2 <= Number.MAX_SAFE_INTEGER && whole <= Number.MAX_SAFE_INTEGER) {
    const rounded = perMillion + tokensPerPrice / 2;
    return Math.min(whole + (rounded - (rounded % tokensPerPrice)) / tokensPerPrice, mostNanos);
  }
  const million = BigInt(tokensPerPrice);
  const exact =
    (product(freshTokens, input) +
      product(cachedTokens, cachedInput) +
      product(writtenTokens, cacheWrite) +
      product(outputTokens, output) +
      product(characters, character) +
      million / 2n) /
      million +
    (product(searchUnits, searchUnit) +
      product(requests, request) +
      product(items, item) +
      product(images, imageNanos) +
      BigInt(spoken));
  return exact > BigInt(mostNanos) ? mostNanos : Number(exact);
}

/** Half up as well; a recording of a day is far from where a double would lose a digit of what it costs. */
const minutesNanos = (seconds: number, minute: number): number =>
  Math.min(Math.round((seconds * minute) / 60), mostNanos);

const product = (count: number, price: number): bigint => BigInt(count) * BigInt(price);
