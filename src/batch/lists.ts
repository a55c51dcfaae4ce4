/** Takes a request for a list of things apart, asks for each thing once, and puts one answer together. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Candidate } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import {
  type ListAnswered,
  type ListAsked,
  type Lists,
  limitsOf,
  type PartOutcome,
  type PartWork,
  type ReadPart,
  tightest,
} from '../core/lists.ts';
import type { Operation } from '../core/operations/index.ts';
import type { Answer } from '../core/outcome.ts';
import { Unfit } from '../core/translation.ts';
import { inTurns } from '../lib/turns.ts';
import { type Codec, type Items, itemsOf, type ListRequest, type ReadAnswer, sourceOf } from './codecs/codec.ts';
import { ranks } from './codecs/ranks.ts';
import { vectors } from './codecs/vectors.ts';
import { verdicts } from './codecs/verdicts.ts';
import { sharesOf } from './decimals.ts';
import { type Found, merge, type Placed } from './merge.ts';
import { fits, inParts, tokensAtMost, weightOf } from './parts.ts';
import { bodyFor, toListRequest } from './request.ts';

const codecs: Readonly<Partial<Record<Operation, Codec>>> = {
  embeddings: vectors,
  rerank: ranks,
  moderations: verdicts,
};

/** Calls of one request that are under way at a time. */
const atATime = 8;
/** Until a place is asked for again where there was none. */
const placeAgainMs = 20;
const mostCalls = 2_048;
/** What stands beside the list goes along with each call: so much of it in all. */
const mostRepeatedBytes = 64 * 1024 * 1024;

export function createLists(): Lists {
  return {
    async answer(asked) {
      const { route } = asked.exchange;
      const codec = route === undefined ? undefined : codecs[route.operation];
      if (codec === undefined) return asked.asOne();
      const request = toListRequest(asked.body, asked.list);
      const kind = codec.takes(request);
      if (kind === undefined) return asked.asOne();
      return new ListRun(asked, codec, request, await inTurns(itemsOf(request, kind))).run();
    },
  };
}

/** One item, wherever it stands in the list. */
interface Slot {
  readonly bytes: Buffer;
  found: Found | undefined;
}

type End = { readonly answer: Answer } | { readonly error: unknown };

class ListRun {
  readonly #asked: ListAsked;
  readonly #codec: Codec;
  readonly #request: ListRequest;
  readonly #items: Items;
  /** What is read once more with each item. */
  readonly #besideBytes: number;
  readonly #besideTokens: number;
  readonly #floats: boolean;
  readonly #readings = new WeakMap<Buffer, ReadAnswer>();
  readonly #works = new Set<PartWork>();
  readonly #parts: ReadPart[] = [];
  #width: number | undefined;
  /** What ended it all, where that is no good answer. */
  #end: End | undefined = undefined;

  constructor(asked: ListAsked, codec: Codec, request: ListRequest, items: Items) {
    this.#asked = asked;
    this.#codec = codec;
    this.#request = request;
    this.#items = items;
    const beside = codec.beside === undefined ? undefined : sourceOf(request, codec.beside);
    this.#besideBytes = beside?.length ?? 0;
    this.#besideTokens = tokensAtMost(this.#besideBytes);
    this.#floats = sourceOf(request, 'encoding_format') === '"base64"';
  }

  async run(): Promise<ListAnswered | Answer> {
    const { candidates } = this.#asked;
    const able = candidates.filter((one) => this.#fits(this.#items.bytes, one));
    const others = candidates.filter((one) => !able.includes(one));
    const asOne = able.length === 0 ? undefined : await this.#askAsOne(able, others);
    if (asOne !== undefined) return asOne;
    const { client } = this.#asked.exchange;
    client.work = { clientLeft: () => this.#endWith({ error: new GatewayError('client_closed') }) };
    if (client.gone) throw new GatewayError('client_closed');
    const slots = this.#slots();
    await this.#askAll([...new Set(slots)], others);
    const end = this.#end;
    if (end !== undefined) {
      if ('answer' in end) return end.answer;
      throw end.error;
    }
    const all = slots.map(foundOf);
    return { bytes: merge(all, this.#shown(all)), parts: this.#parts };
  }

  /** Bytes pass to whoever can take the list as it is; undefined where none of them could, and there are others. */
  async #askAsOne(able: readonly Candidate[], others: readonly Candidate[]): Promise<Answer | undefined> {
    if (others.length === 0) return this.#asked.asOne();
    try {
      const answer = await this.#asked.asOne((one) => able.includes(one));
      if (!mayBeServedElsewhere(answer)) return answer;
      answer.cancel();
    } catch (error) {
      if (!isOfUpstream(error)) throw error;
    }
    return undefined;
  }

  #fits(items: readonly Buffer[], candidate: Candidate): boolean {
    return fits(items, limitsOf(candidate), this.#besideTokens);
  }

  /** Equal items are one. */
  #slots(): Slot[] {
    const known = new Map<string, Slot>();
    return this.#items.bytes.map((bytes) => {
      const source = bytes.toString('latin1');
      const slot = known.get(source) ?? { bytes, found: undefined };
      known.set(source, slot);
      return slot;
    });
  }

  /** Of ranks the best, and of these as many as were asked for. */
  #shown(all: readonly Found[]): Placed[] {
    const placed = all.map((found, item): Placed => ({ item, found }));
    if (placed.some(({ found }) => found.result.score === undefined)) return placed;
    placed.sort((a, b) => (b.found.result.score ?? 0) - (a.found.result.score ?? 0) || a.item - b.item);
    return placed.slice(0, this.#codec.topOf?.(this.#request)?.count);
  }

  /** In as many calls as it takes, so that the first of those who are open can take them. */
  async #askAll(slots: readonly Slot[], open: readonly Candidate[]): Promise<void> {
    const priority = Math.min(...open.map(({ target }) => target.priority));
    const limits = tightest(open.filter(({ target }) => target.priority === priority).map(limitsOf));
    const parts = inParts(slots, ({ bytes }) => bytes, limits, this.#besideTokens);
    this.#checkCalls(parts.length);
    const left = parts.toReversed();
    const helpers = new Set<Promise<void>>();
    const getHelp = (): void => {
      while (left.length > 0 && this.#end === undefined && helpers.size < atATime - 1) {
        const helper = help();
        helpers.add(helper);
        void helper.then(() => helpers.delete(helper));
      }
    };
    // One part a place: others may be waiting for it.
    const help = async (): Promise<void> => {
      const part = left.pop();
      if (part === undefined) return;
      if (await this.#askPart(part, open, false)) {
        getHelp();
        return;
      }
      left.push(part);
    };
    while (this.#end === undefined) {
      const part = left.pop();
      if (part === undefined && helpers.size === 0) return;
      getHelp();
      if (part === undefined) await Promise.race(helpers);
      else await this.#askPart(part, open, true);
    }
  }

  /** Where items are calls, alone or a few at a time, one request must not become any number of them. */
  #checkCalls(calls: number): void {
    const { body } = this.#asked;
    const { place } = this.#items;
    const besideBytes = body.length - (place.end - place.start);
    if (calls <= mostCalls && besideBytes * calls <= mostRepeatedBytes) return;
    throw new GatewayError('body_too_large', {
      message:
        calls > mostCalls
          ? `The list would be asked for in ${calls} calls, as the upstreams of this model take so few items a call, and one request may become ${mostCalls}; send it in smaller requests.`
          : `The list is asked for in ${calls} calls, and what stands beside it (${besideBytes} bytes) would go along with each; ${mostRepeatedBytes} bytes may be repeated in all, so send it in smaller requests.`,
    });
  }

  /** Of whoever can take it; where none of them could, it is taken apart further for the others. False where there is no place for it. */
  async #askPart(slots: readonly Slot[], open: readonly Candidate[], waits: boolean): Promise<boolean> {
    const bytes = slots.map((slot) => slot.bytes);
    const able = new Set(open.filter((one) => this.#fits(bytes, one)));
    const others = open.filter((one) => !able.has(one));
    try {
      const outcome = await this.#ask(bytes, able, waits);
      if (this.#end !== undefined) return true;
      if (outcome.kind === 'no place') return false;
      if (outcome.kind === 'read') {
        await this.#take(slots, outcome);
        return true;
      }
      const { answer } = outcome;
      if (others.length === 0 || !mayBeServedElsewhere(answer)) {
        this.#endWith({ answer });
        return true;
      }
      answer.cancel();
    } catch (error) {
      // What is under way, or was served, gave its places to others: there will be one again.
      if (waits && isFull(error) && this.#hasBegun && performance.now() < this.#asked.deadlineMs) {
        await wait(placeAgainMs);
        return this.#askPart(slots, open, waits);
      }
      if (others.length === 0 || !isOfUpstream(error)) {
        this.#endWith({ error });
        return true;
      }
    }
    await this.#askAll(slots, others).catch((error: unknown) => this.#endWith({ error }));
    return true;
  }

  get #hasBegun(): boolean {
    return this.#end === undefined && (this.#parts.length > 0 || this.#works.size > 0);
  }

  async #ask(items: readonly Buffer[], able: ReadonlySet<Candidate>, waits: boolean): Promise<PartOutcome> {
    const work = this.#asked.ask({
      body: bodyFor(this.#request, this.#codec, this.#items, items),
      items: items.length,
      waits,
      fits: (candidate) => able.has(candidate),
      judge: async (bytes) => {
        await this.#read(bytes, items.length);
      },
    });
    this.#works.add(work);
    try {
      return await work.outcome;
    } finally {
      this.#works.delete(work);
    }
  }

  async #read(bytes: Buffer, items: number): Promise<ReadAnswer> {
    const known = this.#readings.get(bytes);
    if (known !== undefined) return known;
    const read = await inTurns(this.#codec.read(bytes, { items, floats: this.#floats }));
    if (this.#codec.topOf !== undefined && read.results.length < items) {
      throw new Unfit(`${read.results.length} results for ${items} documents`);
    }
    this.#checkWidth(read);
    this.#readings.set(bytes, read);
    return read;
  }

  /** Vectors of one request are of one width, whoever made them. */
  #checkWidth({ results }: ReadAnswer): void {
    const width = results[0]?.result.width;
    if (width === undefined) return;
    this.#width ??= this.#declaredWidth() ?? width;
    if (width !== this.#width) throw new Unfit(`vectors of ${width} numbers, where there are to be ${this.#width}`);
  }

  /** Where the client asks for none of its own. */
  #declaredWidth(): number | undefined {
    const isAskedFor = this.#request.members.some(({ name }) => /dimension|output_dtype|embedding_type/.test(name));
    const isOther = sourceOf(this.#request, 'encoding_format') === '"base64"' && !this.#floats;
    return isAskedFor || isOther ? undefined : this.#asked.resolved.model.dimensions;
  }

  async #take(slots: readonly Slot[], outcome: ReadPart): Promise<void> {
    const read = await this.#read(outcome.bytes, slots.length);
    this.#parts.push(outcome);
    const { envelope } = read;
    const weights = slots.map(({ bytes }) => weightOf(bytes) + this.#besideBytes);
    const shares = envelope.counts.map(({ path, source }) => ({ path, each: sharesOf(source, weights) }));
    for (const { item, result } of read.results) {
      const slot = slots[item];
      if (slot === undefined) continue;
      const counts = new Map(shares.map(({ path, each }) => [path, each[item] ?? '0']));
      slot.found = { result, envelope, counts };
    }
  }

  /** The first end counts for all; the other calls are given up. */
  #endWith(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const work of this.#works) work.clientLeft();
  }
}

function foundOf({ found }: Slot): Found {
  if (found === undefined) throw new TypeError('every item has a result when all parts have one');
  return found;
}

const isFull = (error: unknown): boolean => error instanceof GatewayError && error.code === 'overloaded';

const isOfUpstream = (error: unknown): boolean => error instanceof GatewayError && error.status >= 500;

/** The fault is not the request's. */
const mayBeServedElsewhere = ({ status, meantStatus = status }: Answer): boolean =>
  meantStatus >= 500 || meantStatus === 429 || meantStatus === 413;
