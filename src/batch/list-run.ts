/** Runs one list request: takes each item from the cache or requests it once from an upstream, and puts the results in order. */

import { Buffer } from 'node:buffer';
import type { CacheUse } from '../core/cache-use.ts';
import type { Candidate } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { ListAnswered, ListAsked, ReadPart } from '../core/lists.ts';
import type { Answer } from '../core/outcome.ts';
import type { CoalesceSettings } from '../core/snapshot.ts';
import { Unfit } from '../core/translation.ts';
import { numberOf } from '../lib/json/json-text.ts';
import { inSlices, isSliceOver, nextSlice, timeSliced } from '../lib/time-slices.ts';
import type { Coalescer } from './coalesce/coalescer.ts';
import { createMember, type ListEntry } from './coalesce/joint-call.ts';
import {
  type Envelope,
  type Items,
  type ListRequest,
  type ReadAnswer,
  type Result,
  sourceOf,
  type Top,
} from './codecs/codec.ts';
import { tops } from './codecs/ranks.ts';
import { cut } from './cut.ts';
import { sumOf } from './decimals.ts';
import { type Found, foundIn } from './found.ts';
import type { InFlight } from './in-flight.ts';
import { groupOf } from './item-keys.ts';
import { declaredWidthOf, type KnownItems, type LookUpDeps, type ReadList } from './known-items.ts';
import { createPartAsker, type Inquiry, isOfUpstream, mayBeServedElsewhere } from './part-asker.ts';
import { isTooLong, weightOf } from './parts.ts';

interface ItemResult {
  readonly item: number;
  readonly found: Found;
}

const COMMA = ',';
const SPACE = 0x20;

/** Writes the response. `all`: one result per item, in order; `shown`: those that the client gets, in the client's order. */
export function merge(all: readonly Found[], shown: readonly ItemResult[]): Buffer {
  const [first] = all;
  if (first === undefined) throw new TypeError('an answer is put together from results');
  const { envelope } = all.find((one) => countsLess(one, first)) ?? first;
  const { gaps } = envelope;
  const between = Buffer.from(betweenOf(all) ?? likelyBetween(first), 'latin1');
  const counts = countsOf(envelope, all);
  const pieces: Buffer[] = [];
  withCounts(envelope.head, 0, counts, pieces);
  pieces.push(Buffer.from(gaps.first, 'latin1'));
  for (const [index, { item, found }] of shown.entries()) {
    if (index > 0) pieces.push(between);
    withIndex(found.result, item, pieces);
  }
  pieces.push(Buffer.from(gaps.last, 'latin1'));
  withCounts(envelope.tail, envelope.head.length, counts, pieces);
  return Buffer.concat(pieces);
}

/** Whether an answer lacks a count that the other has: a count that only some answers have cannot be summed. */
function countsLess({ counts }: Found, { envelope }: Found): boolean {
  return envelope.counts.some(({ path }) => !counts.has(path));
}

/** The text between two elements, as in any answer that has several. */
function betweenOf(all: readonly Found[]): string | undefined {
  return all.find(({ envelope }) => envelope.gaps.between !== undefined)?.envelope.gaps.between;
}

/** The text between two elements where no answer has two: a line break if elements are on lines of their own, else a comma. */
function likelyBetween({ result: { bytes }, envelope: { gaps } }: Found): string {
  if (gaps.first !== '') return `${COMMA}${gaps.first}`;
  const comma = bytes.indexOf(COMMA);
  return comma !== -1 && bytes[comma + 1] === SPACE ? `${COMMA} ` : COMMA;
}

interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function countsOf({ counts }: Envelope, all: readonly Found[]): Patch[] {
  return counts.map(({ path, source, start, end }) => {
    // Documents share a search unit: a repeated document needs no further one.
    const counted = path.endsWith('search_units') ? [...new Set(all)] : all;
    const shares = counted.map((one) => one.counts.get(path) ?? '0');
    return { start, end, text: all.length === 1 ? (shares[0] ?? source) : sumOf(shares) };
  });
}

function withCounts(bytes: Buffer, offset: number, counts: readonly Patch[], pieces: Buffer[]): void {
  let at = 0;
  for (const { start, end, text } of counts) {
    if (start < offset || start >= offset + bytes.length) continue;
    pieces.push(bytes.subarray(at, start - offset), Buffer.from(text, 'latin1'));
    at = end - offset;
  }
  pieces.push(bytes.subarray(at));
}

function withIndex({ bytes, index }: Result, item: number, pieces: Buffer[]): void {
  if (index === undefined) {
    pieces.push(bytes);
    return;
  }
  pieces.push(bytes.subarray(0, index.start), Buffer.from(String(item), 'latin1'), bytes.subarray(index.end));
}

export interface RunDeps extends LookUpDeps {
  readonly inFlight: InFlight;
  readonly coalescer: Coalescer;
}

/** `known`: the items that the cache has; undefined where the cache is not to be used. */
export async function runList(
  asked: ListAsked,
  { codec, request, items, cutTo }: ReadList,
  known: KnownItems | undefined,
  { cache, coalescer, inFlight, keysFor }: RunDeps,
): Promise<ListAnswered | Answer> {
  const { candidates, exchange, mayPass, resolved, freshness } = asked;
  const { model } = resolved;
  const besideBytes = codec.beside === undefined ? 0 : (sourceOf(request, codec.beside)?.length ?? 0);
  const top = codec.topOf && (codec.topOf(request) ?? topSetIn(asked, request));
  /** True where only the best results are needed: nothing is cached, so that the others need not be complete. */
  const isForTheBest = top !== undefined && !isRemembered(asked);
  const floats = sourceOf(request, 'encoding_format') === '"base64"';
  const readings = new WeakMap<Buffer, ReadAnswer>();
  const parts: ReadPart[] = [];
  let width: number | undefined;
  const inquiry: Inquiry = { asked, request, items, besideBytes, topFor, read };
  const asker = createPartAsker<ListEntry>(inquiry, {
    take: (entries, read, part) => {
      const weights = entries.map(({ bytes }) => weightOf(bytes) + besideBytes);
      take(entries, foundIn(read, part, weights), part);
    },
    owe: (_entries, part) => asked.owes(part),
  });

  await checkLengths(asked, request, items);
  let open = candidates;
  if (mayPass) {
    const able = candidates.filter((one) => asker.canTake(items.bytes, one));
    open = candidates.filter((one) => !able.includes(one));
    const asOne = able.length === 0 ? undefined : await askAsOne(able);
    if (asOne !== undefined) return asOne;
  }
  exchange.client.work = { clientLeft: () => asker.endWith({ error: new GatewayError('client_closed') }) };
  if (exchange.client.gone) throw new GatewayError('client_closed');
  const entries = await toEntries();
  const unique = entries.length === 1 ? entries : [...new Set(entries)];
  const use = takeKnown(unique);
  const missing = unique.filter(({ found }) => found === undefined);
  if (missing.length > 0) await askRest(missing);
  const isAnew = unique.length > 1 && (await askForOneWidth(unique));
  const { end } = asker;
  if (end !== undefined) {
    if ('answer' in end) return end.answer;
    throw end.error;
  }
  const all = entries.map(foundOf);
  const saved = notAskedFor(entries).map(foundOf);
  return {
    bytes: merge(all, await inWidth(shown(all, top), cutTo)),
    parts,
    cacheUse: use && isAnew ? { ...use, hits: 0 } : use,
    saved: saved.map(({ counts }) => counts),
    isAbout: (parts.some(({ isJoint }) => isJoint) ? all : saved).some(({ isShare }) => isShare),
    origin: foundOf(entries[0]).origin,
  };

  /** Passes the request as a whole to targets that take it; undefined where all of those failed and other targets remain. */
  async function askAsOne(able: readonly Candidate[]): Promise<Answer | undefined> {
    if (open.length === 0) return asked.asOne();
    try {
      const answer = await asked.asOne((one) => able.includes(one));
      if (!mayBeServedElsewhere(answer)) return answer;
      answer.cancel();
    } catch (error) {
      if (!isOfUpstream(error)) throw error;
    }
    return undefined;
  }

  /** The entry of each item, in order; equal items share one entry. */
  async function toEntries(): Promise<ListEntry[]> {
    const keyOf = known === undefined ? keysFor(asked, codec, request) : undefined;
    const byKey = new Map<string, ListEntry>();
    const entries: ListEntry[] = [];
    for (const [index, bytes] of items.bytes.entries()) {
      const key = known?.keys[index] ?? keyOf?.(bytes) ?? '';
      const entry = byKey.get(key) ?? { bytes, key, found: undefined, isAskedFor: false };
      byKey.set(key, entry);
      entries.push(entry);
      if (isSliceOver()) await nextSlice();
    }
    return entries;
  }

  function takeKnown(entries: readonly ListEntry[]): CacheUse | undefined {
    if (model.cache === undefined) return undefined;
    for (const entry of entries) entry.found = known?.found.get(entry.key);
    return { hits: entries.filter(({ found }) => found !== undefined).length, items: entries.length };
  }

  /** Requests the missing items, or waits where other requests fetch them; those that remain without a result are requested again. */
  async function askRest(missing: readonly ListEntry[]): Promise<void> {
    const { lane } = exchange;
    if (freshness !== undefined || isForTheBest) {
      await ask(missing);
      return;
    }
    const { own, others } = inFlight.divide(missing, lane);
    const pending = ask(own);
    try {
      const waiting = others.map(async ({ entry, found }) => {
        entry.found = await found;
      });
      await Promise.race([Promise.all([pending, ...waiting]), asker.ended]);
    } finally {
      inFlight.over(own, lane);
    }
    await pending;
    if (asker.end === undefined) await ask(others.map(({ entry }) => entry).filter(({ found }) => found === undefined));
  }

  /** Where cached and new vectors differ in width, requests the cached ones again: the model may have changed. */
  async function askForOneWidth(entries: readonly ListEntry[]): Promise<boolean> {
    const widths = new Set(entries.map(({ found }) => found?.result.width).filter((one) => one !== undefined));
    if (widths.size < 2 || asker.end !== undefined) return false;
    const others = entries.filter(({ isAskedFor }) => !isAskedFor);
    for (const entry of others) entry.found = undefined;
    await ask(others);
    return true;
  }

  async function ask(entries: readonly ListEntry[]): Promise<void> {
    const { coalesce: settings } = model;
    const joins = settings !== undefined && entries.length > 0 && entries.length <= settings.maxItems;
    const left = joins ? await askWithOthers(entries, settings) : entries;
    if (left.length > 0 && asker.end === undefined) await asker.askAll(left, open);
  }

  /** Requests items in one call together with other clients' items; returns the items that have no result yet. */
  async function askWithOthers(
    entries: readonly ListEntry[],
    settings: CoalesceSettings,
  ): Promise<readonly ListEntry[]> {
    const member = createMember(exchange.key?.id ?? '', inquiry, entries, { take, owe: (part) => asked.owes(part) });
    await Promise.race([coalescer.join(groupOf(asked, codec, request), member, settings), asker.ended]);
    member.leave();
    // If the joint call was sent, this member owes its share, which is known when that call is over.
    await member.over;
    return entries.filter(({ found }) => found === undefined);
  }

  /** The limit of best results for a call with `count` items: the best of all items are among the best of each call. */
  function topFor(count: number): Top | undefined {
    return top && { ...top, count: isForTheBest ? Math.min(top.count, count) : count };
  }

  async function read(bytes: Buffer, count: number): Promise<ReadAnswer> {
    const before = readings.get(bytes);
    if (before !== undefined) return before;
    const best = topFor(count)?.count ?? count;
    const answer = await timeSliced(codec.read(bytes, { items: count, floats, best }));
    checkWidth(answer);
    readings.set(bytes, answer);
    return answer;
  }

  /** Throws where vectors differ in width from the request's others, whichever target made them. */
  function checkWidth({ results }: ReadAnswer): void {
    const came = results[0]?.result.width;
    if (came === undefined) return;
    width ??= declaredWidthOf(request, resolved) ?? came;
    if (came !== width) throw new Unfit(`vectors of ${came} numbers, where there are to be ${width}`);
  }

  function take(entries: readonly ListEntry[], found: readonly Found[], part: ReadPart): void {
    parts.push(part);
    asked.owes(part.exchange);
    for (const [index, entry] of entries.entries()) {
      entry.found = found[index];
      entry.isAskedFor = true;
    }
    inFlight.found(entries);
    remember(entries, part.answer);
  }

  function remember(entries: readonly ListEntry[], { translated }: Answer): void {
    if (model.cache === undefined || freshness === 'no-store' || translated?.isEstimated === true) return;
    cache.write(model, model.cache, new Map(entries.map((entry) => [entry.key, foundOf(entry)])));
  }
}

/** Throws where an item is too long for every target, by the operator's limits only: those of families may be too low. */
async function checkLengths({ candidates }: ListAsked, { list }: ListRequest, items: Items): Promise<void> {
  const said = candidates.map(({ target }) => target.limits);
  if (said.some((limits) => limits?.bytes === undefined && limits?.tokens === undefined)) return;
  for (const [index, item] of items.bytes.entries()) {
    if (isSliceOver()) await nextSlice();
    if (!said.every((limits) => limits !== undefined && isTooLong(item, limits))) continue;
    const param = items.isList ? `${list.name}[${index}]` : list.name;
    throw new GatewayError('body_too_large', {
      param,
      message: `The item "${param}" is longer than any upstream of this model takes in a call (targets[].max_bytes, max_tokens): ${item.length} bytes; shorten it, or leave it out.`,
    });
  }
}

/** The results that the client gets: for rerank the best ones, up to the requested number. */
function shown(all: readonly Found[], top: Top | undefined): ItemResult[] {
  const results = all.map((found, item): ItemResult => ({ item, found }));
  if (results.some(({ found }) => found.result.score === undefined)) return results;
  results.sort((a, b) => (b.found.result.score ?? 0) - (a.found.result.score ?? 0) || a.item - b.item);
  return results.slice(0, top?.count);
}

async function inWidth(results: readonly ItemResult[], width: number | undefined): Promise<readonly ItemResult[]> {
  if (width === undefined) return results;
  return inSlices(results, ({ item, found }) => ({ item, found: { ...found, result: cut(found.result, width) } }));
}

/** Whether the results may be shared with other requests. */
const isRemembered = ({ resolved: { model } }: ListAsked): boolean =>
  model.cache !== undefined || model.dedupes === true || model.coalesce !== undefined;

/** The number of best results that the operator set as default, for requests that have none. */
function topSetIn({ candidates }: ListAsked, { body }: ListRequest): Top | undefined {
  const start = body.indexOf('{') + 1;
  for (const { target } of candidates) {
    for (const name of tops) {
      const count = numberOf(target.defaults[name]);
      if (count !== undefined && Number.isInteger(count) && count > 0)
        return { span: { start, end: start }, count, around: [`"${name}":`, ','] };
    }
  }
  return undefined;
}

function notAskedFor(entries: readonly ListEntry[]): ListEntry[] {
  const seen = new Set<ListEntry>();
  return entries.filter((entry) => {
    const isSaved = !entry.isAskedFor || seen.has(entry);
    seen.add(entry);
    return isSaved;
  });
}

function foundOf(entry: ListEntry | undefined): Found {
  if (entry?.found === undefined) throw new TypeError('every item has a result when all parts have one');
  return entry.found;
}
