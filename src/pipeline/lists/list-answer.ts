/** Answers a request with a list: passes it unchanged to an upstream, or lets the list engine split it and merge the responses. */

import { Buffer } from 'node:buffer';
import { decodeAll } from '../../answers/decoding.ts';
import { WholeMadeAnswer } from '../../answers/made-answer.ts';
import { PassingAnswer } from '../../answers/passing-answer.ts';
import type { RequestEstimate } from '../../core/accounting/price.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import type { Drift } from '../../core/drift.ts';
import { GatewayError } from '../../core/errors.ts';
import { Exchange, type RequestHeaders } from '../../core/exchange.ts';
import { type ListAnswered, type Lists, listOperations, type ReadPart, type Remembered } from '../../core/lists.ts';
import type { LeaseRequest, MemoryLease, MemoryPool } from '../../core/memory-lease.ts';
import type { Answer, Failure } from '../../core/outcome.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { type RerankShape, rerankShapeOf, type Translated, withData } from '../../core/translation.ts';
import { isJsonObject, parseJsonSliced, writeJsonSliced } from '../../lib/json/json-text.ts';
import { codingsOf } from '../../lib/raw-headers.ts';
import { recordOf } from '../../lib/record-of.ts';
import { fitsOneCall, none, quickLimitsOf, toQuick } from '../../plan/one-call.ts';
import { ParsingMemory } from '../../plan/parsing-memory.ts';
import { nameAt, type Plan } from '../../plan/planned-call.ts';
import { fieldIn } from '../../plan/question.ts';
import { withOnly } from '../../plan/route-plan.ts';
import { listIn } from '../../plan/usage/request-estimate.ts';
import { type AttemptDeps, attempt } from '../calls/attempt.ts';
import { PartCall } from './part-call.ts';
import { sharesOf } from './shares.ts';

const mostComparedBytes = 8 * 1024 * 1024;

/** Returns the answer, which is copied while it is read; or the answer itself where nothing is compared. */
function shadowed(plan: Plan, answer: Answer, drift: Drift): Answer {
  const isGood = (answer.meantStatus ?? answer.status) < 300;
  return isGood && drift.isShadowed(plan.exchange) ? new CopiedAnswer(answer, plan, drift) : answer;
}

class CopiedAnswer extends PassingAnswer {
  readonly ignored: readonly string[] | undefined;
  readonly #plan: Plan;
  readonly #drift: Drift;
  readonly #body: Buffer;
  #chunks: Buffer[] | undefined = [];
  #bytes = 0;

  constructor(answer: Answer, plan: Plan, drift: Drift) {
    super(answer);
    this.ignored = answer.ignored;
    this.#plan = plan;
    this.#drift = drift;
    this.#body = plan.question.body;
  }

  get countedApart(): Answer['countedApart'] {
    return this.answer.countedApart;
  }

  override onChunk(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > mostComparedBytes) this.#chunks = undefined;
    this.#chunks?.push(chunk);
    return this.handOn(chunk);
  }

  override onEnd(trailers: readonly string[]): void {
    this.sink?.onEnd(trailers);
    if (this.#chunks !== undefined) void this.#compare(Buffer.concat(this.#chunks));
  }

  override onBroken(failure: Failure): void {
    this.sink?.onBroken(failure);
  }

  async #compare(bytes: Buffer): Promise<void> {
    const decoded = await decodeAll(bytes, codingsOf(this.headers), mostComparedBytes);
    if (decoded !== undefined) this.#drift.compare(this.#plan.exchange, this.#body, decoded);
  }
}

/** Shares one memory lease among the calls for the parts of a request, so that none waits for memory that another one holds. */
class SharedMemory implements MemoryPool {
  readonly #exchange: Exchange;
  readonly #pool: MemoryPool;
  #entering: Promise<MemoryLease> | undefined = undefined;

  constructor(exchange: Exchange, pool: MemoryPool) {
    this.#exchange = exchange;
    this.#pool = pool;
  }

  async enter(leaseRequest: LeaseRequest, bytes: number): Promise<MemoryLease> {
    // The memory of an exchange ends with its client: calls that are read on after that get a lease of their own.
    if (this.#exchange.client.gone) return this.#pool.enter(leaseRequest, bytes);
    const isFirst = this.#exchange.answerLease === undefined && this.#entering === undefined;
    if (isFirst) this.#entering = this.#enterFirst(leaseRequest, bytes);
    const memory = this.#exchange.answerLease ?? (await this.#entering);
    const share = memory && new Share(memory, isFirst ? bytes : 0);
    if (share?.growTo(bytes) === true) return share;
    throw new GatewayError('overloaded', { cause: 'memory for translated answers: none left for one of several' });
  }

  async #enterFirst(leaseRequest: LeaseRequest, bytes: number): Promise<MemoryLease> {
    const { client } = this.#exchange;
    const memory = await this.#pool.enter({ ...leaseRequest, client }, bytes);
    if (client.gone) memory.release();
    this.#exchange.answerLease = memory;
    return memory;
  }
}

class Share implements MemoryLease {
  bytes: number;
  readonly #whole: MemoryLease;

  constructor(whole: MemoryLease, bytes: number) {
    this.#whole = whole;
    this.bytes = bytes;
  }

  growTo(bytes: number): boolean {
    const others = this.#whole.bytes - this.bytes;
    if (!this.#whole.growTo(others + bytes)) return false;
    this.bytes = Math.max(this.bytes, bytes);
    return true;
  }

  shrinkTo(bytes: number): void {
    if (bytes >= this.bytes) return;
    this.#whole.shrinkTo(this.#whole.bytes - this.bytes + bytes);
    this.bytes = bytes;
  }

  release(): void {
    this.shrinkTo(0);
  }
}

export interface ListDeps extends AttemptDeps {
  readonly lists: Lists;
  readonly drift: Drift;
  bill(exchange: Exchange): void;
}

type Seeking = Pick<Plan, 'exchange' | 'question' | 'route' | 'resolved' | 'routePlan' | 'clientHeaders'>;

/** Looks a list's items up in the cache, before anything is reserved; undefined where the request cannot use the cache. */
export async function findRemembered(seeking: Seeking, lists: Lists): Promise<Remembered | undefined> {
  const { exchange, question, route, resolved, clientHeaders } = seeking;
  if (!listOperations.has(route.operation)) return undefined;
  const list = listIn(question, route);
  const items = exchange.estimate?.items ?? 1;
  if (list === undefined || items > mostItems || freshnessIn(clientHeaders) !== undefined) return undefined;
  new ParsingMemory(exchange.requestLease).take(items);
  return lists.lookUp({ exchange, resolved, body: question.body, list, identity: identityOf(seeking) });
}

/** The estimate for the items that are not cached, which is what is reserved. */
export function missingOf(
  estimate: RequestEstimate,
  { missing, knownBytes, missingShare }: Remembered,
): RequestEstimate {
  if (missing === 0) return { ...estimate, items: 0, images: 0, likelyInputTokens: 0, isRemembered: true };
  return {
    ...estimate,
    items: missing,
    likelyInputTokens: estimate.likelyInputTokens * missingShare,
    mostInputTokens: Math.max(estimate.mostInputTokens - knownBytes, 0),
  };
}

/** Answers a list: unchanged where possible, else in parts. Copies it to the model's shadow, if there is one. */
export function answerTo(plan: Plan, deps: ListDeps): Promise<Answer> {
  const answering = answerFrom(plan, deps);
  // A request that names other models is not copied: these were authorised for this model only.
  return plan.resolved.model.shadow === undefined || plan.others !== undefined
    ? answering
    : answering.then((answer) => shadowed(plan, answer, deps.drift));
}

export function answerFrom(plan: Plan, deps: Omit<ListDeps, 'drift'>): Promise<Answer> {
  return fitsOneCall(plan) ? attempt(plan, deps) : answerInParts(plan, deps);
}

async function answerInParts(plan: Plan, deps: Omit<ListDeps, 'drift'>): Promise<Answer> {
  const { exchange, question, route, resolved, routePlan } = plan;
  const list = listIn(question, route);
  if (list === undefined) return attempt(plan, deps);
  const items = exchange.estimate?.items ?? 1;
  if (items > mostItems) return attempt({ ...plan, routePlan: unbounded(plan, items) }, deps);
  const { remembered } = plan;
  if (remembered === undefined) new ParsingMemory(exchange.requestLease).take(items);
  const partDeps = { ...deps, answerPool: new SharedMemory(exchange, deps.answerPool) };
  const owed: Exchange[] = [];
  try {
    const answered = await deps.lists.answer({
      exchange,
      resolved,
      body: question.body,
      list,
      candidates: routePlan.tiers.flat(),
      remembered,
      identity: identityOf(plan),
      mayPass: !quickLimitsOf(plan).isNone,
      freshness: freshnessIn(plan.clientHeaders),
      deadlineMs: plan.deadlineMs,
      asOne: (fits) => attempt(fits === undefined ? plan : { ...plan, routePlan: withOnly(routePlan, fits) }, deps),
      ask: (part) => new PartCall(plan, part, partDeps),
      askForSeveral: (part) => new PartCall(plan, part, { ...deps, isForSeveral: true }),
      share: sharesOf,
      owes: (part) => void owed.push(part),
    });
    if ('parts' in answered) return toAnswer(plan, await asAsked(plan, answered));
    oweFor(owed, exchange);
    return answered;
  } catch (error) {
    oweFor(owed, exchange);
    throw error;
  }
}

function oweFor(parts: readonly Exchange[], exchange: Exchange): void {
  if (parts.length === 0) return;
  exchange.parts = parts;
  exchange.usage = sumOf(parts.map(({ usage }) => usage));
}
/** Longest list that is split: more than any real request has, as each item is examined. */
const mostItems = 50_000;

/** The targets that take a list of any length; throws where there are none. */
function unbounded({ routePlan, resolved: { matched } }: Plan, items: number): RoutePlan {
  const open = withOnly(routePlan, (one) => {
    const { items: most, bodyBytes } = toQuick([one], matched);
    return bodyBytes === none.bodyBytes && most >= items;
  });
  if (open.tiers.length > 0) return open;
  throw new GatewayError('body_too_large', {
    message: `The list has ${items} items, more than the upstreams of this model take in one call, and a list of more than ${mostItems} is not split; send it in smaller requests.`,
  });
}

/** What decides a list's answer besides its items: settings of the request, and the targets. */
function identityOf(seeking: Seeking): string {
  const { question, clientHeaders, routePlan, resolved } = seeking;
  const shape = shapeOf(seeking);
  const isPlain = shape === undefined && question.words === undefined && !isForwarded(routePlan, clientHeaders);
  const known = isPlain ? plainIdentities.get(routePlan) : undefined;
  if (known?.id === resolved.id) return known.identity;
  const targets = routePlan.tiers.flat().map(({ target, offer }) => {
    const { upstream, defaults, tokenIds, scores } = target;
    const { id, origin, pathPrefix, options } = upstream;
    const forwarded = headersOf(upstream).map((name) => clientHeaders.get(name) ?? null);
    const called = [id, origin, pathPrefix, options, offer.path, nameAt(target, resolved)];
    return [...called, defaults, tokenIds, scores, forwarded];
  });
  const identity = JSON.stringify([shape, question.words, targets]);
  if (isPlain) plainIdentities.set(routePlan, { id: resolved.id, identity });
  return identity;
}

/** The shape that the client wants; fields of the body may say it too. */
const shapeOf = ({ exchange, question }: Seeking): RerankShape | undefined =>
  rerankShapeOf(exchange.shape, (name) => fieldIn(question.scan, name) !== undefined);

/** Cached identities of requests without settings of their own; for a pattern, that of the last requested name. */
const plainIdentities = new WeakMap<RoutePlan, { readonly id: string; readonly identity: string }>();

const headersOf = ({ forwardHeaders }: Upstream): readonly string[] => ['openai-beta', ...forwardHeaders];

const isForwarded = ({ tiers }: RoutePlan, headers: RequestHeaders): boolean =>
  tiers.some((tier) => tier.some(({ target }) => headersOf(target.upstream).some((name) => headers.has(name))));

function freshnessIn(headers: RequestHeaders): 'no-cache' | 'no-store' | undefined {
  const said = headers.get('cache-control')?.toLowerCase() ?? '';
  if (/\bno-store\b/.test(said)) return 'no-store';
  return /\bno-cache\b|\bmax-age=0\b/.test(said) ? 'no-cache' : undefined;
}

/** Adds `data`, which Voyage's clients read, where translated parts have `results` alone. */
async function asAsked(plan: Plan, answered: ListAnswered): Promise<ListAnswered> {
  const isTranslated = plan.route.operation === 'rerank' && answered.origin.translatedBy !== undefined;
  if (!isTranslated || shapeOf(plan) !== 'voyage') return answered;
  const body = await parseJsonSliced(answered.bytes);
  const isWithout = isJsonObject(body) && body.data === undefined;
  return isWithout ? { ...answered, bytes: await writeJsonSliced(withData(body)) } : answered;
}

function toAnswer(
  { exchange, routePlan }: Plan,
  { bytes, parts, cacheUse, saved, isAbout, origin }: ListAnswered,
): Answer {
  const [first] = parts;
  const answer = first?.answer;
  exchange.parts = parts.map((part) => part.exchange);
  // For the vector space of the answer, even if no target was called.
  exchange.target = first?.exchange.target ?? routePlan.tiers[0]?.[0]?.target;
  exchange.credential = first?.exchange.credential;
  exchange.cacheUse = cacheUse;
  exchange.isUsageAbout = isAbout;
  if (answer !== undefined) {
    const soonest = parts.reduce((one, other) => (other.answer.sentAtMs < one.answer.sentAtMs ? other : one));
    exchange.sentAtMs = soonest.answer.sentAtMs;
    exchange.client.connectMs = soonest.exchange.client.connectMs;
    exchange.firstByteAtMs = Math.max(...parts.map((part) => part.answer.firstByteAtMs));
  }
  const usage = answer === undefined ? nothing : sumOf(parts.map((part) => part.exchange.usage));
  exchange.saved = savedIn(exchange, saved, usage?.searchUnits ?? 0);
  return new WholeMadeAnswer(answer, {
    sentAtMs: exchange.sentAtMs,
    firstByteAtMs: exchange.firstByteAtMs,
    body: bytes,
    contentType: origin.contentType,
    translated: translatedOf(parts, origin, usage),
    ignored: namesIn([origin.ignored, ...parts.map((part) => part.answer.ignored)]),
    countedApart: usage ?? undefined,
  });
}

const nothing: Usage = Object.freeze({ promptTokens: 0, completionTokens: null, totalTokens: 0, searchUnits: null });

function translatedOf(
  parts: readonly ReadPart[],
  { translatedBy: by, ignored }: ListAnswered['origin'],
  usage: Usage | null,
): Translated | undefined {
  if (by === undefined) return undefined;
  const all = parts.flatMap(({ answer: { translated } }) => (translated === undefined ? [] : [translated]));
  const isEstimated = all.some((one) => one.isEstimated);
  return { by, ignored: namesIn([ignored, ...all.map((one) => one.ignored)]) ?? [], isEstimated, usage };
}

function namesIn(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const names = new Set(lists.flatMap((names) => names ?? []));
  return names.size === 0 ? undefined : [...names];
}

function sumOf(usages: readonly (Usage | null)[]): Usage | null {
  const said = usages.filter((usage) => usage !== null);
  const [first] = said;
  if (first === undefined || said.length < usages.length) return null;
  if (said.length === 1) return first;
  return recordOf(summed, (name) => said.reduce<number | null>((sum, usage) => plus(sum, usage[name] ?? null), 0));
}

const summed = ['promptTokens', 'completionTokens', 'totalTokens', 'searchUnits', 'cachedTokens'] as const;

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

const tokenPaths = [
  'usage.prompt_tokens',
  'usage.total_tokens',
  'meta.billed_units.input_tokens',
  'meta.tokens.input_tokens',
];
const unitPaths = ['meta.billed_units.search_units', 'usage.search_units'];

/** The exchange that stands for cached items; undefined where there are none. `counts`: what each item counted when it was computed. */
function savedIn(
  whole: Exchange,
  counts: readonly ReadonlyMap<string, string>[],
  calledUnits: number,
): Exchange | undefined {
  const { estimate } = whole;
  if (counts.length === 0 || estimate === undefined) return undefined;
  const saved = new Exchange(whole.id, undefined, whole.snapshot, whole.startedAtMs, whole.startedMs);
  const { route, key, target } = whole;
  Object.assign(saved, { route, key, target });
  const tokens = sumAt(tokenPaths, counts);
  // Documents share a search unit: at most the units that the whole request would have needed are saved.
  const counted = sumAt(unitPaths, counts);
  const units = counted && Math.min(counted, Math.max(estimate.mostSearchUnits - calledUnits, 0));
  saved.estimate = {
    ...estimate,
    items: counts.length,
    images: 0,
    likelyInputTokens: tokens ?? 0,
    mostSearchUnits: units ?? 0,
  };
  saved.usage = { ...nothing, promptTokens: tokens ?? null, totalTokens: tokens ?? null, searchUnits: units ?? null };
  return saved;
}

function sumAt(paths: readonly string[], counts: readonly ReadonlyMap<string, string>[]): number | undefined {
  const path = paths.find((one) => counts.some((each) => each.has(one)));
  if (path === undefined) return undefined;
  return Math.round(counts.reduce((sum, each) => sum + Number(each.get(path) ?? 0), 0));
}
