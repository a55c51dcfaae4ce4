/** Runs one list request: takes each item from the cache or from an upstream call once, and puts results in order. */

import type { Buffer } from 'node:buffer';
import type { CacheUse } from '../core/cache-use.ts';
import type { Candidate } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { ListAnswered, ListAsked, ReadPart } from '../core/lists.ts';
import type { Answer } from '../core/outcome.ts';
import type { CoalesceSettings } from '../core/snapshot.ts';
import { Unfit } from '../core/translation.ts';
import { numberOf } from '../lib/json/json-text.ts';
import { isSliceOver, nextSlice, timeSliced } from '../lib/time-slices.ts';
import type { Coalescer } from './coalesce/coalescer.ts';
import { type ListEntry, Member } from './coalesce/joint-call.ts';
import { type Codec, type Items, type ListRequest, type ReadAnswer, sourceOf, type Top } from './codecs/codec.ts';
import { tops } from './codecs/ranks.ts';
import { cut } from './cut.ts';
import { type Found, foundIn } from './found.ts';
import type { InFlight } from './in-flight.ts';
import { groupOf } from './item-keys.ts';
import { declaredWidthOf, type KnownItems, type LookUpDeps, type ReadList } from './known-items.ts';
import { type ItemResult, merge } from './merge.ts';
import { type Inquiry, isOfUpstream, mayBeServedElsewhere, PartAsker } from './part-asker.ts';
import { isTooLong, weightOf } from './parts.ts';

export interface RunDeps extends LookUpDeps {
  readonly inFlight: InFlight;
  readonly coalescer: Coalescer;
}

export class ListRun implements Inquiry {
  readonly asked: ListAsked;
  readonly request: ListRequest;
  readonly items: Items;
  readonly besideBytes: number;
  readonly #deps: RunDeps;
  readonly #codec: Codec;
  readonly #top: Top | undefined;
  /** Results outside the best are dropped, so they need not be complete. */
  readonly #isForTheBest: boolean;
  readonly #floats: boolean;
  readonly #readings = new WeakMap<Buffer, ReadAnswer>();
  readonly #asker: PartAsker<ListEntry>;
  readonly #parts: ReadPart[] = [];
  readonly #cutTo: number | undefined;
  readonly #known: KnownItems | undefined;
  #width: number | undefined;

  /** `known`: what the cache holds; undefined where it is not to be used. */
  constructor(
    asked: ListAsked,
    { codec, request, items, cutTo }: ReadList,
    known: KnownItems | undefined,
    deps: RunDeps,
  ) {
    this.#cutTo = cutTo;
    this.#known = known;
    this.asked = asked;
    this.#codec = codec;
    this.#top = codec.topOf && (codec.topOf(request) ?? topSetIn(asked, request));
    this.#isForTheBest = this.#top !== undefined && !isRemembered(asked);
    this.request = request;
    this.items = items;
    this.#deps = deps;
    this.besideBytes = codec.beside === undefined ? 0 : (sourceOf(request, codec.beside)?.length ?? 0);
    this.#floats = sourceOf(request, 'encoding_format') === '"base64"';
    this.#asker = new PartAsker(this, {
      take: (entries, read, part) => {
        const weights = entries.map(({ bytes }) => weightOf(bytes) + this.besideBytes);
        this.take(entries, foundIn(read, part, weights), part);
      },
      owe: (_entries, part) => asked.owes(part),
    });
  }

  async run(): Promise<ListAnswered | Answer> {
    const { candidates, exchange, mayPass } = this.asked;
    await this.#checkLengths();
    let open = candidates;
    if (mayPass) {
      const able = candidates.filter((one) => this.#asker.canTake(this.items.bytes, one));
      open = candidates.filter((one) => !able.includes(one));
      const asOne = able.length === 0 ? undefined : await this.#askAsOne(able, open);
      if (asOne !== undefined) return asOne;
    }
    exchange.client.work = { clientLeft: () => this.#asker.endWith({ error: new GatewayError('client_closed') }) };
    if (exchange.client.gone) throw new GatewayError('client_closed');
    const entries = await this.#entries();
    const unique = entries.length === 1 ? entries : [...new Set(entries)];
    const known = this.#takeKnown(unique);
    const missing = unique.filter(({ found }) => found === undefined);
    if (missing.length > 0) await this.#askRest(missing, open);
    const isAnew = unique.length > 1 && (await this.#askForOneWidth(unique, open));
    const use = known && isAnew ? { ...known, hits: 0 } : known;
    const { end } = this.#asker;
    if (end !== undefined) {
      if ('answer' in end) return end.answer;
      throw end.error;
    }
    const all = entries.map(foundOf);
    const saved = notAskedFor(entries);
    return {
      bytes: merge(all, await this.#inWidth(this.#shown(all))),
      parts: this.#parts,
      cacheUse: use,
      saved: saved.map((entry) => foundOf(entry).counts),
      isAbout: saved.some((entry) => !entry.isAskedFor && foundOf(entry).isShare),
      origin: foundOf(entries[0]).origin,
    };
  }

  /** By the operator's limits of each target only: those of families may be lower than the truth. */
  async #checkLengths(): Promise<void> {
    const said = this.asked.candidates.map(({ target }) => target.limits);
    if (said.some((limits) => limits?.bytes === undefined && limits?.tokens === undefined)) return;
    for (const [index, item] of this.items.bytes.entries()) {
      if (isSliceOver()) await nextSlice();
      if (!said.every((limits) => limits !== undefined && isTooLong(item, limits))) continue;
      const { name } = this.request.list;
      const param = this.items.isList ? `${name}[${index}]` : name;
      throw new GatewayError('body_too_large', {
        param,
        message: `The item "${param}" is longer than any upstream of this model takes in a call (targets[].max_bytes, max_tokens): ${item.length} bytes; shorten it, or leave it out.`,
      });
    }
  }

  /** Bytes pass to a target that takes the whole list; undefined where none of them could, and others remain. */
  async #askAsOne(able: readonly Candidate[], others: readonly Candidate[]): Promise<Answer | undefined> {
    if (others.length === 0) return this.asked.asOne();
    try {
      const answer = await this.asked.asOne((one) => able.includes(one));
      if (!mayBeServedElsewhere(answer)) return answer;
      answer.cancel();
    } catch (error) {
      if (!isOfUpstream(error)) throw error;
    }
    return undefined;
  }

  /** Equal items become one entry. */
  async #entries(): Promise<ListEntry[]> {
    const keys = this.#known?.keys;
    const keyOf = keys === undefined ? this.#deps.keysFor(this.asked, this.#codec, this.request) : undefined;
    const known = new Map<string, ListEntry>();
    const entries: ListEntry[] = [];
    for (const [index, bytes] of this.items.bytes.entries()) {
      const key = keys?.[index] ?? keyOf?.(bytes) ?? '';
      const entry = known.get(key) ?? { bytes, key, found: undefined, isAskedFor: false };
      known.set(key, entry);
      entries.push(entry);
      if (isSliceOver()) await nextSlice();
    }
    return entries;
  }

  /** Undefined where the model has no cache. */
  #takeKnown(entries: readonly ListEntry[]): CacheUse | undefined {
    if (this.asked.resolved.model.cache === undefined) return undefined;
    for (const entry of entries) entry.found = this.#known?.found.get(entry.key);
    return { hits: entries.filter(({ found }) => found !== undefined).length, items: entries.length };
  }

  /** Waits for items that other requests are fetching; those without a result are requested here. */
  async #askRest(missing: readonly ListEntry[], open: readonly Candidate[]): Promise<void> {
    const { inFlight } = this.#deps;
    const { lane } = this.asked.exchange;
    if (this.asked.freshness !== undefined || this.#isForTheBest) {
      await this.#ask(missing, open);
      return;
    }
    const { own, others } = inFlight.divide(missing, lane);
    const pending = this.#ask(own, open);
    try {
      const waiting = others.map(({ entry, found }) => this.#await(entry, found));
      await Promise.race([Promise.all([pending, ...waiting]), this.#asker.ended]);
    } finally {
      inFlight.over(own, lane);
    }
    await pending;
    const left = others.map(({ entry }) => entry).filter(({ found }) => found === undefined);
    if (this.#asker.end === undefined) await this.#ask(left, open);
  }

  /** Where vectors differ in width, requests the cached ones again: the model may have changed. */
  async #askForOneWidth(entries: readonly ListEntry[], open: readonly Candidate[]): Promise<boolean> {
    const widths = new Set(entries.map(({ found }) => found?.result.width).filter((width) => width !== undefined));
    if (widths.size < 2 || this.#asker.end !== undefined) return false;
    const others = entries.filter(({ isAskedFor }) => !isAskedFor);
    for (const entry of others) entry.found = undefined;
    await this.#ask(others, open);
    return true;
  }

  async #await(entry: ListEntry, found: Promise<Found | undefined>): Promise<void> {
    entry.found = await found;
  }

  async #ask(entries: readonly ListEntry[], open: readonly Candidate[]): Promise<void> {
    const { coalesce: settings } = this.asked.resolved.model;
    const joins = settings !== undefined && entries.length > 0 && entries.length <= settings.maxItems;
    const left = joins ? await this.#askWithOthers(entries, settings) : entries;
    if (left.length > 0 && this.#asker.end === undefined) await this.#asker.askAll(left, open);
  }

  /** One call together with other clients' items; items without a result remain. */
  async #askWithOthers(entries: readonly ListEntry[], settings: CoalesceSettings): Promise<readonly ListEntry[]> {
    const { exchange } = this.asked;
    const member = new Member(exchange.key?.id ?? '', this, entries, {
      take: (...taken) => this.take(...taken),
      owe: (part) => this.asked.owes(part),
    });
    const name = groupOf(this.asked, this.#codec, this.request);
    await Promise.race([this.#deps.coalescer.join(name, member, settings), this.#asker.ended]);
    member.leave();
    // Its share of a sent call is owed, and known when the call is over.
    await member.over;
    return entries.filter(({ found }) => found === undefined);
  }

  /** For rerank the best, up to the requested number. */
  #shown(all: readonly Found[]): ItemResult[] {
    const results = all.map((found, item): ItemResult => ({ item, found }));
    if (results.some(({ found }) => found.result.score === undefined)) return results;
    results.sort((a, b) => (b.found.result.score ?? 0) - (a.found.result.score ?? 0) || a.item - b.item);
    return results.slice(0, this.#top?.count);
  }

  async #inWidth(results: readonly ItemResult[]): Promise<readonly ItemResult[]> {
    const width = this.#cutTo;
    if (width === undefined) return results;
    const shown: ItemResult[] = [];
    for (const { item, found } of results) {
      shown.push({ item, found: { ...found, result: cut(found.result, width) } });
      if (isSliceOver()) await nextSlice();
    }
    return shown;
  }

  /** The best of all are among the best of each part. */
  topFor(items: number): Top | undefined {
    return this.#top && { ...this.#top, count: this.#isForTheBest ? Math.min(this.#top.count, items) : items };
  }

  async read(bytes: Buffer, items: number): Promise<ReadAnswer> {
    const known = this.#readings.get(bytes);
    if (known !== undefined) return known;
    const best = this.topFor(items)?.count ?? items;
    const read = await timeSliced(this.#codec.read(bytes, { items, floats: this.#floats, best }));
    this.#checkWidth(read);
    this.#readings.set(bytes, read);
    return read;
  }

  /** All vectors of one request must have the same width, whichever target made them. */
  #checkWidth({ results }: ReadAnswer): void {
    const width = results[0]?.result.width;
    if (width === undefined) return;
    this.#width ??= declaredWidthOf(this.request, this.asked.resolved) ?? width;
    if (width !== this.#width) throw new Unfit(`vectors of ${width} numbers, where there are to be ${this.#width}`);
  }

  take(entries: readonly ListEntry[], found: readonly Found[], part: ReadPart): void {
    this.#parts.push(part);
    this.asked.owes(part.exchange);
    for (const [index, entry] of entries.entries()) {
      entry.found = found[index];
      entry.isAskedFor = true;
    }
    this.#deps.inFlight.found(entries);
    this.#remember(entries, part.answer);
  }

  /** Estimated counts are not cached. */
  #remember(entries: readonly ListEntry[], { translated }: Answer): void {
    const { resolved, freshness } = this.asked;
    const { cache: settings } = resolved.model;
    if (settings === undefined || freshness === 'no-store' || translated?.isEstimated === true) return;
    const found = new Map(entries.map((entry) => [entry.key, foundOf(entry)]));
    this.#deps.cache.write(resolved.model, settings, found);
  }
}

/** Whether results may be shared with later requests. */
const isRemembered = ({ resolved: { model } }: ListAsked): boolean =>
  model.cache !== undefined || model.dedupes === true || model.coalesce !== undefined;

/** The operator's default for requests without one. */
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
