/** Computes the cost of a request: the worst case before it is sent, and the final bill from the upstream's usage. All in whole nano-dollars. */

import {
  type Bill,
  inputUnits,
  outputUnits,
  type Price,
  type RequestEstimate,
  termNames,
} from '../core/accounting/price.ts';
import type { Unpriced } from '../core/accounting/spending.ts';
import { readUnits, type Units } from '../core/accounting/units.ts';
import type { Pictures } from '../core/accounting/usage.ts';
import { believableIn } from '../core/believable.ts';
import type { Exchange } from '../core/exchange.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { mostNanos } from '../lib/money.ts';
import { costNanos, type Quantities } from './cost.ts';
import {
  dearestFactor,
  factorOf,
  isOffPriceList,
  toolCallsOf,
  toolNanosOf,
  unpricedTerm,
  unpricedTool,
  worstToolNanos,
} from './price-factors.ts';

/** Bytes that count as one token of a plain answer: the text, and the JSON around it. */
const bytesPerToken = 4;
/** Bytes that count as one token of a stream without visible text: mostly one event per token, with its JSON. */
const streamedBytesPerToken = 200;

/** Bytes that count as one second of an answer of transcribed speech. */
const bytesPerSpokenSecond = 15;
/** Upper limit of a request's counts, whatever an upstream reports: their sums must fit into the database's integers. */
const mostCounted = 1_000_000_000;

/** Upper bound of a request's cost, for any tokenizer, any answer, and any of the models that the request names; 0 where the price is unknown. */
export function worstCostNanos(price: Price | undefined, estimate: RequestEstimate): number {
  const own = worstCostAt(price, estimate);
  return estimate.others === undefined
    ? own
    : estimate.others.reduce((most, other) => Math.max(most, worstCostAt(other.price, estimate)), own);
}

function worstCostAt(price: Price | undefined, estimate: RequestEstimate): number {
  if (price === undefined || estimate.isRemembered === true) return 0;
  const lines = estimate.batch?.lines ?? 1;
  const dearest = atDearest(price);
  const quantities = {
    ...noParts,
    requests: lines,
    inputTokens: estimate.mostInputTokens,
    outputTokens: estimate.mostOutputTokens,
    searchUnits: estimate.mostSearchUnits,
    items: estimate.items,
    images: estimate.images,
    imageNanos: dearestPicture(price, estimate),
    characters: estimate.characters ?? 0,
    seconds: estimate.mostSeconds ?? 0,
    toolNanos: estimate.tools === undefined ? 0 : worstToolNanos(price, estimate.tools),
  };
  const nanos = costNanos(dearest, quantities, dearestFactor(price, estimate));
  // Each line of a batch is rounded when it is billed.
  return estimate.batch === undefined ? nanos : Math.min(inBatch(nanos, price) + lines, mostNanos);
}

/** A feature of the request that has no price, although it may cost more; undefined where the whole target has no price. */
export function unpricedIn(price: Price | undefined, estimate: RequestEstimate): Unpriced | undefined {
  for (const other of estimate.others ?? []) {
    if (other.price === undefined) return { param: other.param, setting: 'models[].price of what it names' };
    const found = unpricedAt(other.price, estimate);
    if (found !== undefined) return found;
  }
  return unpricedAt(price, estimate);
}

function unpricedAt(price: Price | undefined, estimate: RequestEstimate): Unpriced | undefined {
  if (price === undefined || (estimate.terms === undefined && estimate.tools === undefined)) return undefined;
  if (worstCostAt(price, estimate) === 0) return undefined;
  const tool = unpricedTool(price, estimate);
  if (tool !== undefined) {
    return { param: estimate.tools?.areSure === true ? 'web_search_options' : 'tools', setting: `price.tools.${tool}` };
  }
  const term = unpricedTerm(price, estimate.terms);
  return term === undefined ? undefined : { param: term, setting: `price.factors.${term}` };
}

/** Token counts of special kinds, all zero: every token counts as one kind. */
const noParts = {
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  audioInputTokens: 0,
  imageInputTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
};

type DearestPrice = Price & { readonly input: number; readonly output: number };
const dearestPrices = new WeakMap<Price, DearestPrice>();

/** The price with all input at its highest input price, and all output at its highest output price. */
const atDearest = (price: Price): DearestPrice => getOrMake(dearestPrices, price, toDearest);

function toDearest(price: Price): DearestPrice {
  return { ...price, input: dearestOf(price, inputUnits), output: dearestOf(price, outputUnits) };
}

function dearestOf(price: Price, units: typeof inputUnits | typeof outputUnits): number {
  let most = 0;
  for (const unit of units) most = Math.max(most, price[unit] ?? 0);
  return most;
}

/** The cost at the batch percentage of the price, rounded half up without loss of precision. */
function inBatch(nanos: number, { batchPercent = 100 }: Price): number {
  const rest = nanos % 100;
  return ((nanos - rest) / 100) * batchPercent + Math.round((rest * batchPercent) / 100);
}

/** Sets `exchange.bill` of a finished exchange; null where nothing is owed. */
export function bill(exchange: Exchange): void {
  const { route, parts, owed } = exchange;
  if (route?.isFree === true) {
    exchange.bill = null;
    return;
  }
  const own = parts === undefined ? billOfAnswer(exchange) : withSaved(sumOf(parts.flatMap(billOfPart)), exchange);
  exchange.bill = owed === undefined ? own : sumOf([...(own === null ? [] : [own]), ...owed.flatMap(billOfPart)]);
}

function billOfAnswer(exchange: Exchange): Bill | null {
  const { estimate, target } = exchange;
  return estimate === undefined || target === undefined || !isOwed(exchange)
    ? null
    : toBill(exchange, estimate, target.price);
}

/** The bill of one call for a part of a list: by the usage of a good answer; by an estimate for an answer that was not awaited. */
function billOfPart(part: Exchange): Bill[] {
  const { estimate, target } = part;
  if (estimate === undefined || target === undefined) return [];
  part.outcome ??= 'ok';
  part.bill = sumOf([toBill(part, estimate, target.price), ...(part.owed?.flatMap(billOfPart) ?? [])]);
  return [part.bill];
}

/** Adds the number of calls to the bill, and what the cached items would have cost. */
function withSaved(bill: Bill, { parts = [], saved }: Exchange): Bill {
  const units: Record<string, number> = {};
  if (parts.length !== 1) units.calls = parts.length;
  if (saved !== undefined) {
    const [spared] = billOfPart(saved);
    units.savedItems = saved.estimate?.items ?? 0;
    if (spared !== undefined && spared.inputTokens > 0) units.savedTokens = spared.inputTokens;
    if (spared?.costNanos !== null && spared !== undefined && spared.costNanos > 0) units.savedNanos = spared.costNanos;
  }
  return Object.keys(units).length === 0 ? bill : { ...bill, units: { ...bill.units, ...units } };
}

function sumOf(bills: readonly Bill[]): Bill {
  const [first] = bills;
  if (first !== undefined && bills.length === 1) return first;
  const sum = (of: (bill: Bill) => number): number => atMost(bills.reduce((total, one) => total + of(one), 0));
  const units = bills.find((one) => one.units !== undefined)?.units;
  return {
    inputTokens: sum((one) => one.inputTokens),
    cachedTokens: sum((one) => one.cachedTokens),
    outputTokens: sum((one) => one.outputTokens),
    searchUnits: sum((one) => one.searchUnits),
    items: sum((one) => one.items),
    images: sum((one) => one.images),
    ...(units !== undefined && { units }),
    isEstimated: bills.some((one) => one.isEstimated),
    costNanos: bills.some((one) => one.costNanos === null)
      ? null
      : Math.min(
          bills.reduce((total, one) => total + (one.costNanos ?? 0), 0),
          mostNanos,
        ),
  };
}

/** Whether the request must be paid: errors are free, and so are calls that were never sent. */
function isOwed({ outcome, status, attempts, tries, sentAtMs, route }: Exchange): boolean {
  switch (outcome) {
    case 'ok':
      // Without a body nothing was served, but on a custom route.
      return (status !== 204 && status !== 304) || route?.row.yields === 'anything';
    case 'aborted':
    case 'cut': {
      // A client that leaves before the answer has 499. Earlier calls have their entries, the one in progress has none.
      const ended = tries.filter((one) => one.outcome !== 'queue' && one.outcome !== 'capped').length;
      return status === 499 ? sentAtMs > 0 || ended < attempts : status < 400;
    }
    default:
      return false;
  }
}

/** The bill at the target's price, or at the highest price where the request named other models: answers do not say which model did what. */
function toBill(exchange: Exchange, estimate: RequestEstimate, price: Price | undefined): Bill {
  const own = billAt(exchange, estimate, price);
  if (estimate.others === undefined) return own;
  const bills = estimate.others.map((other) => billAt(exchange, estimate, other.price));
  const dearest = bills.reduce((most, one) => ((one.costNanos ?? -1) > (most.costNanos ?? -1) ? one : most), own);
  const isSure = bills.every(({ costNanos }) => costNanos === own.costNanos);
  return isSure ? own : { ...dearest, isEstimated: true };
}

function billAt(exchange: Exchange, estimate: RequestEstimate, price: Price | undefined): Bill {
  const { usage, outcome } = exchange;
  const row = exchange.route?.row;
  const { inputTokens: input, outputTokens: output } = believableIn(exchange);
  const units = usage?.searchUnits ?? null;
  const isMedia = row?.yields === 'images' || row?.yields === 'audio';
  const dearest = price && atDearest(price);
  const chargesOutput = dearest !== undefined && dearest.output > 0;
  const isByToken = chargesOutput || (dearest !== undefined && dearest.input > 0);
  const isAnything = row?.yields === 'anything';
  const isByMinute = row?.billedBy.includes('minute') === true;
  // No token estimate is needed where search units, pictures, minutes or characters are billed, or nothing.
  const needsTokens =
    row?.billedBy.length !== 0 && (isByToken || (units === null && !isMedia && !isByMinute && !isAnything));
  const needsOutput = isMedia || isAnything ? chargesOutput : row?.yields === 'text' && needsTokens;
  const needsUnits = row?.billedBy.includes('search_unit') === true && isCharged(price?.searchUnit);
  const inputTokens = atMost(input ?? (needsTokens ? estimate.likelyInputTokens : 0));
  const outputTokens = atMost(output ?? (needsOutput ? likelyOutputTokens(exchange, estimate, isMedia) : 0));
  const seconds = usage?.seconds ?? null;
  const needsSeconds = isByMinute && isCharged(price?.minute);
  const isGuessed =
    (seconds === null && needsSeconds) ||
    (input === null && needsTokens) ||
    (output === null && needsOutput) ||
    (units === null && needsUnits);
  const isOffPrice = isByToken && price !== undefined && unpricedTerm(price, usage?.units) !== undefined;
  const { calls, isGuessed: areCallsGuessed } = toolCallsOf(exchange);
  const isOffTools = isByToken && price !== undefined && calls !== undefined && isOffPriceList(price, calls);
  const isEstimated =
    isGuessed ||
    isOffPrice ||
    isOffTools ||
    areCallsGuessed ||
    usage?.isOfOthers === true ||
    (needsSeconds && usage?.isLikely === true) ||
    outcome !== 'ok';
  const parts = partsOf(exchange, inputTokens, outputTokens);
  const quantities: Quantities = {
    requests: 1,
    inputTokens,
    // Cached tokens are part of the input.
    cachedTokens: Math.min(usage?.cachedTokens ?? 0, inputTokens),
    cacheWriteTokens: atMost(usage?.cacheWriteTokens ?? 0),
    cacheWriteHourTokens: parts?.cacheWriteHourTokens ?? 0,
    audioInputTokens: parts?.audioInputTokens ?? 0,
    imageInputTokens: parts?.imageInputTokens ?? 0,
    outputTokens,
    audioOutputTokens: parts?.audioOutputTokens ?? 0,
    imageOutputTokens: parts?.imageOutputTokens ?? 0,
    searchUnits: atMost(units ?? (needsUnits ? estimate.mostSearchUnits : 0)),
    items: estimate.items,
    images: imagesIn(exchange, estimate.images),
    imageNanos: price === undefined ? 0 : picturePrice(price, estimate, exchange.pictures),
    characters: estimate.characters ?? 0,
    seconds: atMost(seconds ?? likelySeconds(exchange, estimate)),
    toolNanos:
      price === undefined || calls === undefined ? 0 : toolNanosOf(price, calls, estimate.tools, areCallsGuessed),
  };
  const kept = unitsOf(quantities, calls === undefined ? parts : { ...parts, toolCalls: calls }, exchange);
  if (price === undefined) return toOneBill(quantities, kept, isEstimated, null);
  const nanos = costNanos(price, quantities, factorOf(price, estimate, usage?.units));
  return toOneBill(quantities, kept, isEstimated, estimate.batch === undefined ? nanos : inBatch(nanos, price));
}

function toOneBill(
  { inputTokens, cachedTokens, outputTokens, searchUnits, items, images }: Quantities,
  units: Bill['units'],
  isEstimated: boolean,
  costNanos: number | null,
): Bill {
  const bill = { inputTokens, cachedTokens, outputTokens, searchUnits, items, images, isEstimated, costNanos };
  return units === undefined ? bill : { ...bill, units };
}

/** Estimates the seconds of a recording by its file's size and by its transcript's length, which a low bit rate does not make shorter. */
function likelySeconds({ responseBytes, decodedBytes = 0 }: Exchange, estimate: RequestEstimate): number {
  const { likelySeconds: byFile, mostSeconds = 0, unboundedBy } = estimate;
  if (byFile === undefined) return 0;
  const likely = Math.max(byFile, Math.ceil(Math.max(responseBytes, decodedBytes) / bytesPerSpokenSecond));
  return unboundedBy?.includes('minute') === true ? likely : Math.min(likely, mostSeconds);
}

/** The reported units. Where an answer with sound or pictures does not say how many tokens they took, all tokens count as theirs. */
function partsOf({ usage, route }: Exchange, inputTokens: number, outputTokens: number): Units | undefined {
  const said = usage?.units;
  switch (route?.row.counting) {
    case 'images':
      return said?.imageOutputTokens === undefined ? { ...said, imageOutputTokens: outputTokens } : said;
    case 'speech':
      return said?.audioOutputTokens === undefined ? { ...said, audioOutputTokens: outputTokens } : said;
    case 'recording':
      return said?.audioInputTokens === undefined ? { ...said, audioInputTokens: inputTokens } : said;
    default:
      return said;
  }
}

/** The price of the most expensive picture that the request may get. */
function dearestPicture({ image = 0, pictures = [] }: Price, { picture }: RequestEstimate): number {
  const fitting = pictures.filter(
    ({ size, quality }) => mayBe(size, picture?.size) && mayBe(quality, picture?.quality),
  );
  return fitting.length === 0 ? image : Math.max(...fitting.map(({ each }) => each));
}

const mayBe = (row: string | undefined, asked: string | undefined): boolean =>
  row === undefined || asked === undefined || row === asked;

/** The price of the first row that matches the reported size and quality, else the requested ones; the highest price where no row matches. */
function picturePrice(price: Price, estimate: RequestEstimate, seen: Pictures | undefined): number {
  const size = seen?.size ?? estimate.picture?.size;
  const quality = seen?.quality ?? estimate.picture?.quality;
  const found = price.pictures?.find((row) => mayBe(row.size, size) && mayBe(row.quality, quality));
  return found?.each ?? dearestPicture(price, estimate);
}

/** The number of pictures to bill: all that were requested where the answer's end is missing, because they were made nevertheless. */
function imagesIn({ pictures, outcome }: Exchange, asked: number): number {
  if (pictures === undefined) return asked;
  return outcome === 'ok' ? pictures.count : Math.max(pictures.count, asked);
}

const atMost = (count: number): number => Math.min(count, mostCounted);

const isCharged = (price: number | undefined): boolean => price !== undefined && price > 0;

/** Estimates output tokens from the received text, else from all received bytes; at most as many as requested. */
function likelyOutputTokens(
  { responseBytes, decodedBytes = 0, written }: Exchange,
  { isStream, likelyOutputTokens: likely, mostOutputTokens }: RequestEstimate,
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

/** Values of the standard service terms: a bill does not list them. */
const plainWords: ReadonlySet<unknown> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'ON_DEMAND', 'global', 'not_available'],
]);

function notableOf(units: Units): Readonly<Record<string, unknown>> {
  const notable: Record<string, unknown> = { ...units };
  for (const name of termNames) if (plainWords.has(units[name])) delete notable[name];
  return notable;
}

/** Units of a bill beside tokens. Most requests have none, and then nothing is allocated. */
function unitsOf(
  { seconds, characters, cacheWriteTokens, images }: Quantities,
  parts: Units | undefined,
  { estimate, pictures }: Exchange,
): Units | undefined {
  if (parts === undefined && estimate?.terms === undefined && images + seconds + characters + cacheWriteTokens === 0) {
    return undefined;
  }
  return readUnits({
    ...notableOf({ ...estimate?.terms, ...parts }),
    cacheWriteTokens,
    seconds,
    characters,
    ...(images > 0 && {
      images,
      imageSize: pictures?.size ?? estimate?.picture?.size,
      imageQuality: pictures?.quality ?? estimate?.picture?.quality,
    }),
  });
}
