/** Translated calls: sends an upstream's own wire format in as many calls as needed, and merges their responses. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { AnswerMemory } from '../../answers/answer-memory.ts';
import { retryAfterIn } from '../../answers/foreign-error.ts';
import { heldBytes } from '../../answers/held-answer.ts';
import { jsonTypeLike, WholeMadeAnswer, withoutBodyHeaders } from '../../answers/made-answer.ts';
import { searchFor } from '../../answers/secret-search.ts';
import { StreamedAnswer } from '../../answers/streamed-answer.ts';
import { inside, toFailure } from '../../answers/translation-faults.ts';
import { widthOf, wrongWidth } from '../../answers/vector-width.ts';
import { Allowance, readWhole } from '../../answers/whole-answer.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import type { TargetLease } from '../../core/dispatch.ts';
import type { Exchange } from '../../core/exchange.ts';
import { type SigningGround, withOptions } from '../../core/family.ts';
import type { Answer, Call, CallEnd, ClientWork, Failure, Outcome, Transport } from '../../core/outcome.ts';
import {
  type Asked,
  type Conversation,
  type Reply,
  type StreamReader,
  type Translated,
  Unfit,
  type WireAnswer,
} from '../../core/translation.ts';
import { type Json, writeJsonSliced } from '../../lib/json/json-text.ts';
import { codingsOf, headersWithout, headerValue } from '../../lib/raw-headers.ts';
import { toPath } from '../../plan/planned-call.ts';
import { bodyHeaders } from '../../plan/upstream-head.ts';
import { renumberedBody } from '../lists/renumbered.ts';
import { shareOf } from '../lists/shares.ts';
import type { DrainPool } from './drain-pool.ts';
import { signatureOf } from './sign.ts';
import { SubCall } from './sub-call.ts';
import { toDocument } from './wire-document.ts';

interface Made {
  readonly translated?: Translated;
  readonly contentType?: string;
  /** Further headers, names and values in turn. */
  readonly more?: readonly string[];
}

interface TranslatedDeps {
  readonly signing: SigningGround;
  readonly memory: AnswerMemory;
  readonly drains: DrainPool;
  /** The length that the operator declared for vectors, if it has to be checked. */
  readonly declaredWidth: number | undefined;
}

const mostCallsAtOnce = 8;

export class TranslatedCalls implements ClientWork {
  readonly #call: Call;
  readonly #asked: Asked;
  readonly #conversation: Conversation;
  readonly #lease: TargetLease;
  readonly #deps: TranslatedDeps;
  readonly #headers: readonly string[];
  readonly #paths: readonly string[];
  readonly #allowance: Allowance;
  readonly #subCalls = new Set<SubCall>();
  readonly #answers: WireAnswer[];
  readonly #answerBytes: number[] = [];
  /** Numbers of calls that were sent, and whose answers were not waited for. */
  readonly #unheard = new Set<number>();
  #nextIndex = 0;
  #underWay = 0;
  readonly #helpers: Promise<void>[] = [];
  /** The first answer, whose head is used for all. */
  #head: Answer | undefined = undefined;
  /** Bytes of the last answer, and when its last byte came. */
  #bytes: Buffer = Buffer.alloc(0);
  #lastByteAtMs = 0;
  /** Number of calls of which a byte may have been sent. */
  #sent = 0;
  #endDrain: (() => void) | undefined = undefined;
  /** The outcome of all calls; undefined while each has a good answer. */
  #outcome: Outcome | undefined = undefined;

  /** Throws a `GatewayError` if the model's name cannot be in a path. */
  constructor(call: Call, asked: Asked, conversation: Conversation, lease: TargetLease, deps: TranslatedDeps) {
    const { requests, stream } = conversation;
    this.#call = call;
    this.#asked = asked;
    this.#conversation = conversation;
    this.#lease = lease;
    this.#deps = deps;
    this.#headers = toHeaders(call.headers, stream !== undefined, requests.length > 1);
    this.#paths = requests.map(({ path }) => (path === undefined ? call.path : this.#pathOf(path)));
    this.#allowance = new Allowance(call.upstream.answerLimitBytes, deps.memory);
    this.#answers = new Array(requests.length);
  }

  #pathOf(path: string): string {
    const { pathPrefix, options } = this.#call.upstream;
    return pathPrefix + withOptions(toPath({ path }, this.#asked.model), options);
  }

  /** Sends all requests and resolves with their common outcome. Never rejects. */
  async run(transport: Transport): Promise<Outcome> {
    const { client, end } = this.#call;
    client.work = this;
    let outcome: Outcome;
    try {
      outcome = await this.#outcomeOf(transport);
    } catch (error) {
      outcome = { kind: 'unknown', failure: inside(error) };
    }
    if (client.work === this) client.work = undefined;
    // An answer that is still being read ends its call later.
    const isHandedOn = outcome.kind === 'answered' && !(outcome.answer instanceof WholeMadeAnswer);
    if (!isHandedOn) end.over(undefined);
    if (outcome.kind !== 'answered' || isHandedOn) this.#deps.memory.giveBack();
    return outcome;
  }

  clientLeft(): void {
    this.#endWith({ kind: 'client-gone' });
  }

  async #outcomeOf(transport: Transport): Promise<Outcome> {
    const { stream } = this.#conversation;
    if (stream !== undefined) return this.#stream(stream, transport);
    await this.#askAll(transport);
    this.#endDrain?.();
    const outcome: Outcome | undefined = this.#outcome;
    if (outcome === undefined) return this.#read();
    // One call was not sent, but others were and may have been served: so the common outcome is unknown.
    if (outcome.kind === 'not-sent' && this.#sent > 0) return { kind: 'unknown', failure: outcome.failure };
    return outcome.kind === 'answered' && this.#sent > 1 ? { ...outcome, isPartial: true } : outcome;
  }

  /** Sends the requests one after the other, with as many workers as there are free slots. */
  async #askAll(transport: Transport): Promise<void> {
    while (this.#isLeft) {
      const asking = this.#askNext(transport);
      this.#getHelp(transport);
      await asking;
    }
    await Promise.all(this.#helpers);
  }

  #getHelp(transport: Transport): void {
    while (this.#isLeft && this.#underWay < mostCallsAtOnce) {
      const slot = this.#lease.enterAgain();
      if (slot === undefined) return;
      this.#helpers.push(this.#help(slot, transport));
    }
  }

  /** Sends one request with a further slot, and gives the slot back, as others may be waiting for it. */
  async #help(slot: CallEnd, transport: Transport): Promise<void> {
    await this.#askNext(transport);
    slot.over(undefined);
    this.#getHelp(transport);
  }

  async #askNext(transport: Transport): Promise<void> {
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    this.#underWay += 1;
    const answer = await this.#ask(index, transport);
    this.#underWay -= 1;
    if (answer !== undefined) this.#answers[index] = answer;
  }

  get #isLeft(): boolean {
    return this.#outcome === undefined && this.#nextIndex < this.#conversation.requests.length;
  }

  /** Sends one request and reads its whole answer; undefined if this ends all. Never rejects. */
  async #ask(index: number, transport: Transport): Promise<WireAnswer | undefined> {
    const subCall = new SubCall();
    this.#subCalls.add(subCall);
    try {
      const outcome = await this.#send(index, subCall, transport);
      if (outcome.kind === 'answered' && isGood(outcome.answer))
        return await this.#readOne(index, outcome.answer, subCall);
      if (this.#outcome !== undefined) {
        if (outcome.kind === 'answered') outcome.answer.cancel();
        if (outcome.kind === 'client-gone' && outcome.unsent !== true) this.#unheard.add(index);
        return undefined;
      }
      if (outcome.kind === 'answered') subCall.handOn(this.#call.end);
      const hinted = outcome.kind === 'answered' ? await this.#withHint(index, outcome.answer, subCall) : outcome;
      this.#subCalls.delete(subCall);
      this.#endWith(hinted);
    } catch (error) {
      this.#endWith({ kind: 'unknown', failure: inside(error) });
    } finally {
      this.#subCalls.delete(subCall);
    }
    return undefined;
  }

  async #readOne(index: number, answer: Answer, subCall: SubCall): Promise<WireAnswer | undefined> {
    this.#head ??= answer;
    for (const name of answer.ignored ?? []) this.#asked.ignored.add(name);
    const body = await this.#bodyOf(answer, subCall);
    if (!Buffer.isBuffer(body)) {
      if (this.#outcome !== undefined) this.#unheard.add(index);
      this.#endWith(body);
      return undefined;
    }
    const read = await toDocument(body);
    if (read instanceof Unfit) {
      this.#endWith({ kind: 'unknown', failure: toFailure(read) });
      return undefined;
    }
    const meant = this.#statusMeantBy(body, read);
    this.#bytes = body;
    this.#answerBytes[index] = body.length;
    if (meant === undefined) return { body: read, headers: answer.headers };
    this.#endWith({ kind: 'answered', answer: this.#made(meant, answer, body) });
    return undefined;
  }

  async #bodyOf(answer: Answer, subCall: SubCall): Promise<Buffer | Outcome> {
    const whole = await Promise.race([readWhole(answer, this.#allowance), subCall.left]);
    if (whole === undefined) return this.#outcome ?? { kind: 'client-gone' };
    if ('failure' in whole) return { kind: 'unknown', failure: whole.failure };
    this.#lastByteAtMs = performance.now();
    return whole.body;
  }

  /** The status meant by an error sent with status 200. */
  #statusMeantBy(bytes: Buffer, read: Json): number | undefined {
    const { errors, failureIn } = this.#call.upstream.family;
    const failed = failureIn?.(bytes, true);
    return errors?.hiddenIn?.(read) ?? (failed === 'unclear' ? undefined : failed);
  }

  /** Reads the body of an error, which may say when to retry: this is put into a header, as only headers are read for that. */
  async #withHint(index: number, answer: Answer, subCall: SubCall): Promise<Outcome> {
    const { errors } = this.#call.upstream.family;
    const isBusy = answer.status === 429 || answer.status === 503;
    const mayHint =
      errors?.retryAfterS !== undefined && isBusy && headerValue(answer.headers, 'retry-after') === undefined;
    const isOneOfSeveral = this.#paths.length > 1;
    if (!mayHint && !isOneOfSeveral) return { kind: 'answered', answer };
    const whole = await Promise.race([readWhole(answer, new Allowance(heldBytes)), subCall.left]);
    if (whole === undefined) return { kind: 'client-gone' };
    this.#lastByteAtMs = performance.now();
    // An unreadable body is still an error of that status.
    const body = 'body' in whole ? whole.body : Buffer.alloc(0);
    const read = mayHint ? await toDocument(body) : undefined;
    const hint = errors === undefined || read === undefined || read instanceof Unfit ? [] : retryAfterIn(read, errors);
    const type = headerValue(answer.headers, 'content-type');
    // The only prompt of a call has an index among the client's prompts.
    const said = isOneOfSeveral ? renumberedBody(body, (item) => (item === 0 ? index : undefined)) : body;
    const made = this.#made(answer.status, answer, said, {
      more: hint,
      ...(type !== undefined && { contentType: type }),
    });
    return { kind: 'answered', answer: made };
  }

  async #send(index: number, subCall: SubCall, transport: Transport): Promise<Outcome> {
    const { body = {} } = this.#conversation.requests[index] ?? {};
    const bytes = await writeJsonSliced(body);
    const path = this.#paths[index] ?? this.#call.path;
    const signature = await this.#sign(path, bytes, subCall);
    if (signature !== undefined && 'failure' in signature) return { kind: 'not-sent', failure: signature.failure };
    if (subCall.client.gone) return { kind: 'client-gone', unsent: true };
    const headers = [...this.#headers, ...(signature ?? [])];
    this.#sent += 1;
    const outcome = await transport({
      ...this.#call,
      path,
      headers,
      body: bytes,
      client: subCall.client,
      end: subCall,
    });
    // The time in which a later call waits for a connection is part of the upstream's time.
    if (index === 0) this.#call.client.connectMs = subCall.client.connectMs;
    if (outcome.kind === 'not-sent' || (outcome.kind === 'client-gone' && outcome.unsent)) this.#sent -= 1;
    return outcome.kind === 'answered' ? this.#asMeant(outcome.answer, subCall) : outcome;
  }

  #sign(path: string, body: Buffer, subCall: SubCall): ReturnType<typeof signatureOf> {
    const call = { upstream: this.#call.upstream, path, headers: this.#headers, body };
    return Promise.race([signatureOf(call, this.#lease.credential, this.#deps.signing), subCall.left]);
  }

  /** Gives an error that came with status 200 the status that it means, which is possible as the gateway writes the answer itself. */
  async #asMeant(answer: Answer, subCall: SubCall): Promise<Outcome> {
    const { meantStatus, status } = answer;
    if (status === 304) {
      answer.cancel();
      return { kind: 'unknown', failure: toFailure(new Unfit('status 304 came, which has nothing in it')) };
    }
    if (meantStatus === undefined) return { kind: 'answered', answer };
    const body = await this.#bodyOf(answer, subCall);
    return Buffer.isBuffer(body) ? { kind: 'answered', answer: this.#made(meantStatus, answer, body) } : body;
  }

  async #stream(stream: StreamReader, transport: Transport): Promise<Outcome> {
    const subCall = new SubCall();
    this.#subCalls.add(subCall);
    const outcome = await this.#send(0, subCall, transport);
    if (this.#outcome !== undefined) return this.#outcome;
    if (outcome.kind !== 'answered') return outcome;
    const { answer } = outcome;
    subCall.handOn(this.#call.end);
    if (!isGood(answer)) return this.#withHint(0, answer, subCall);
    const type = headerValue(answer.headers, 'content-type') ?? '';
    if (/^text\/event-stream\b/i.test(type) && codingsOf(answer.headers).length === 0) {
      const secrets = searchFor(this.#lease);
      return {
        kind: 'answered',
        answer: new StreamedAnswer(answer, stream, this.#by, [...this.#asked.ignored], secrets),
      };
    }
    return this.#readInsteadOfStream(answer, subCall);
  }

  /** Reads an answer that should be a stream and is none: perhaps an error sent with status 200. */
  async #readInsteadOfStream(answer: Answer, subCall: SubCall): Promise<Outcome> {
    const body = await this.#bodyOf(answer, subCall);
    if (!Buffer.isBuffer(body)) return body;
    const read = await toDocument(body);
    const meant = read instanceof Unfit ? undefined : this.#statusMeantBy(body, read);
    if (meant !== undefined) return { kind: 'answered', answer: this.#made(meant, answer, body) };
    return { kind: 'unknown', failure: toFailure(new Unfit('a stream was asked for, and something else came')) };
  }

  get #by(): string {
    return this.#lease.candidate.offer.translatedBy ?? this.#call.upstream.family.id;
  }

  /** Ends all calls with the first outcome that is no good answer; calls in progress are cancelled after a moment. */
  #endWith(outcome: Outcome): void {
    if (outcome.kind === 'client-gone') this.#leaveAll();
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    if (outcome.kind !== 'client-gone' && this.#subCalls.size > 0) {
      this.#endDrain = this.#deps.drains.enter(() => this.#leaveAll());
    }
  }

  #leaveAll(): void {
    for (const subCall of this.#subCalls) subCall.leave();
  }

  /** Where several calls led to no answer: those that were served, or may have been. A client that left is billed for all of them. */
  owedOf(whole: Exchange): readonly Exchange[] | undefined {
    const { requests, counted } = this.#conversation;
    const outcome = this.#outcome;
    if (requests.length === 1 || outcome === undefined || outcome.kind === 'client-gone') return undefined;
    const owed: Exchange[] = [];
    for (const index of requests.keys()) {
      const answer = this.#answers[index];
      if (answer === undefined && !this.#unheard.has(index)) continue;
      const usage = answer === undefined ? null : countedIn(answer, index, counted);
      const call = shareOf(whole, 1, usage, requests.length);
      call.outcome = answer === undefined ? 'aborted' : 'ok';
      call.responseBytes = this.#answerBytes[index] ?? 0;
      owed.push(call);
    }
    return owed.length === 0 ? undefined : owed;
  }

  async #read(): Promise<Outcome> {
    let reply: Reply;
    try {
      reply = await this.#conversation.read(this.#answers);
    } catch (error) {
      if (error instanceof Unfit) return { kind: 'unknown', failure: toFailure(error) };
      throw error;
    }
    const wrong = this.#wrongWidthOf(reply);
    if (wrong !== undefined) return { kind: 'unknown', failure: wrong };
    if (this.#head === undefined) throw new TypeError('a translation asks for something');
    const type = headerValue(this.#head.headers, 'content-type');
    const answer = reply.isAsItCame
      ? this.#made(this.#head.status, this.#head, this.#bytes, { ...(type !== undefined && { contentType: type }) })
      : await this.#written(reply, this.#head);
    const failure = this.#deps.memory.settle(answer.bytes);
    if (failure !== undefined) return { kind: 'unknown', failure };
    // The client may have left in the meantime.
    return this.#outcome ?? { kind: 'answered', answer };
  }

  #wrongWidthOf({ width, usage }: Reply): Failure | undefined {
    const wanted = width && widthOf(width.asked, this.#deps.declaredWidth);
    const came = width?.came;
    if (wanted === undefined || came === undefined || came === wanted.count) return undefined;
    return wrongWidth(wanted, came, usage);
  }

  async #written({ isEstimated = false, usage, body }: Reply, head: Answer): Promise<WholeMadeAnswer> {
    const translated: Translated = { by: this.#by, ignored: [...this.#asked.ignored], isEstimated, usage };
    const contentType = jsonTypeLike(headerValue(head.headers, 'content-type'));
    return this.#made(200, head, await writeJsonSliced(body), { translated, contentType });
  }

  #made(
    status: number,
    head: Answer,
    body: Buffer,
    { translated, contentType, more = [] }: Made = {},
  ): WholeMadeAnswer {
    return new WholeMadeAnswer(head, {
      status,
      headers: [...withoutBodyHeaders(head.headers), ...more],
      // An answer merged from several begins for the client when the last byte of the last one has come.
      firstByteAtMs: this.#lastByteAtMs,
      body,
      translated,
      contentType,
    });
  }
}

function toHeaders(raw: readonly string[], isStream: boolean, isOneOfSeveral: boolean): string[] {
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity'];
  headers.push('accept', isStream ? 'text/event-stream' : 'application/json');
  // Several calls with the same key would be taken for one call.
  const isDropped = (name: string): boolean => bodyHeaders.has(name) || (isOneOfSeveral && name === 'idempotency-key');
  return [...headers, ...headersWithout(raw, isDropped)];
}

function countedIn(answer: WireAnswer, index: number, counted: Conversation['counted']): Usage | null {
  try {
    return counted?.(answer, index) ?? null;
  } catch (error) {
    if (error instanceof Unfit) return null;
    throw error;
  }
}

function isGood({ status, meantStatus }: Answer): boolean {
  return status >= 200 && status < 300 && meantStatus === undefined;
}
