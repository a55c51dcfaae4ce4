/**
 * The direct path: serves a plain request, whose bytes pass unchanged, from its head to its settlement. Callbacks, and no promise where nothing
 * waits. It hands over by `exits.ts` as soon as more is needed, and writes the same row as the general path.
 */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { wholeLines } from '../answers/client-head.ts';
import { ownLines } from '../answers/own-headers.ts';
import { note, pass } from '../answers/pass.ts';
import { type Handover, observerOf, Relay } from '../answers/relay.ts';
import { isUnfit, wholeBodyIn } from '../answers/screen.ts';
import { letIn, Settling } from '../answers/settling.ts';
import { faultIn } from '../answers/short-list.ts';
import { verdictOn } from '../answers/verdict.ts';
import type { RequestEstimate } from '../core/accounting/price.ts';
import type { LedgerWaiter, Reservation } from '../core/accounting/spending.ts';
import { wholeBodyBytes } from '../core/call-body.ts';
import { isLease, type RoutePlan, type TargetLease, Tried } from '../core/dispatch.ts';
import type { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { BodyWaiter } from '../core/memory-lease.ts';
import type { Answer, Call, Outcome, OutcomeWaiter } from '../core/outcome.ts';
import { noQuery } from '../core/query.ts';
import type { Route } from '../core/route.ts';
import type { ResolvedModel } from '../core/snapshot.ts';
import { findModel } from '../plan/find-model.ts';
import { namedObjectsIn } from '../plan/named-objects.ts';
import { fitsOneCall } from '../plan/one-call.ts';
import { asksOtherWidth } from '../plan/one-width.ts';
import { ParsingMemory } from '../plan/parsing-memory.ts';
import { type Plan, translationFor, writeCall } from '../plan/planned-call.ts';
import { oneSliceBytes, type Question, type QuestionReader, questionReaderOf } from '../plan/question.ts';
import { mayHaveRole } from '../plan/roles.ts';
import { isPlainRoute, routePlanOf } from '../plan/route-plan.ts';
import { isInBackground } from '../plan/stored-work.ts';
import { estimateOf } from '../plan/usage/request-estimate.ts';
import { asksUsage } from '../plan/usage/stream-usage.ts';
import { countOfWhole } from '../plan/usage/usage.ts';
import { giveBack } from '../wire/connect.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';
import { type Asked, type DirectDeps, type FirstCall, goOn, leave } from './exits.ts';

/** Serves a request. Returns false where the pipeline must serve it; else `ended` is notified of the result. */
export type Direct = (
  exchange: Exchange,
  route: Route,
  modelFromPath: string | undefined,
  request: ServerRequest,
  response: ServerAnswer,
  ended: Handover,
) => boolean;

export function createDirect(deps: DirectDeps): Direct {
  const readers = new Map<Route, QuestionReader>();
  for (const route of deps.routes) if (isPlainRoute(route)) readers.set(route, questionReaderOf(route));
  return (exchange, route, modelFromPath, request, response, ended) => {
    const read = readers.get(route);
    if (read === undefined || exchange.clientApi !== undefined || exchange.trace !== undefined) return false;
    if (exchange.snapshot.log.level === 'debug') return false;
    if (route.operation === 'rerank' && request.fields.get('x-postern-shape') !== undefined) return false;
    new DirectExchange(deps, { exchange, route, modelFromPath, request, response, ended, read }).begin();
    return true;
  };
}

class DirectExchange implements BodyWaiter, OutcomeWaiter, LedgerWaiter, Handover {
  readonly #deps: DirectDeps;
  readonly #asked: Asked;
  readonly #settling: Settling;
  /** The following fields are set one after the other, each before the next step. */
  #key: KeyRecord | undefined = undefined;
  #question: Question | undefined = undefined;
  #resolved: ResolvedModel | undefined = undefined;
  #routePlan: RoutePlan | undefined = undefined;
  #reservation: Reservation | undefined = undefined;
  #plan: Plan | undefined = undefined;
  #tried: Tried | undefined = undefined;
  #lease: TargetLease | undefined = undefined;
  #startedMs = 0;
  #outcome: Outcome | undefined = undefined;
  #head = '';
  #body: Buffer | undefined = undefined;
  /** Only this exchange refers to the body: once it was sent, its memory is reused for reading. */
  #isOnlyReader = false;

  constructor(deps: DirectDeps, asked: Asked) {
    this.#deps = deps;
    this.#asked = asked;
    this.#settling = new Settling(asked.exchange, deps);
  }

  begin(): void {
    const { exchange, route, request } = this.#asked;
    try {
      const admitted = this.#deps.admit(exchange, route, request);
      if (admitted instanceof Promise) admitted.then((key) => this.#admitted(key)).catch(this.#failed);
      else this.#admitted(admitted);
    } catch (error) {
      this.#fail(error);
    }
  }

  #admitted(key: KeyRecord): void {
    const { exchange, route, request, response } = this.#asked;
    this.#key = key;
    letIn(exchange, key, this.#deps);
    if (key.captureMs !== undefined || route.form !== undefined) this.#leave(undefined);
    else this.#deps.takeJsonBody(exchange, request, response, this);
  }

  onWhole(body: Buffer | Promise<Buffer>): void {
    if (body instanceof Promise) {
      body.then((whole) => this.#leave(whole)).catch(this.#failed);
      return;
    }
    if (body.length > oneSliceBytes) {
      this.#leave(body);
      return;
    }
    try {
      const question = this.#asked.read(body);
      if (question instanceof Promise) throw new TypeError('a short body is read at once');
      this.#ask(question);
    } catch (error) {
      this.#fail(error);
    }
  }

  onFailed(error: GatewayError): void {
    this.#fail(error);
  }

  /** Hands over to the pipeline what needs further checks, before anything is reserved. */
  #ask(question: Question): void {
    const { exchange, route, modelFromPath } = this.#asked;
    const key = this.#key;
    if (key === undefined) throw new TypeError('a body is read for a key');
    const resolved = findModel(exchange, key, route, question, modelFromPath, this.#deps.mayUseModel);
    const { model } = resolved;
    const { shape } = exchange;
    const isOrdinary = !question.mayNameOthers && question.standIn === undefined;
    const routePlan = isOrdinary ? routePlanOf(resolved, route) : undefined;
    if (routePlan?.isPlain !== true || (mayHaveRole(route) && asksOtherWidth(question, model))) {
      this.#leave(question.body, question);
      return;
    }
    exchange.shape = shape ?? model.shape;
    // Throws if the work in the background could not be followed later.
    isInBackground(question, undefined);
    const named = namedObjectsIn(question, route, new ParsingMemory(exchange.requestLease));
    if (named instanceof Promise || named.needed.length > 0 || named.mentioned.length > 0) {
      if (named instanceof Promise) named.catch(() => undefined);
      this.#leave(question.body, question);
      return;
    }
    const estimate = estimateOf(question, route, routePlan);
    if (estimate instanceof Promise)
      estimate.then((one) => this.#count(question, resolved, routePlan, one)).catch(this.#failed);
    else this.#count(question, resolved, routePlan, estimate);
  }

  #count(question: Question, resolved: ResolvedModel, routePlan: RoutePlan, estimate: RequestEstimate): void {
    const { exchange, route } = this.#asked;
    exchange.estimate = estimate;
    if (!fitsOneCall({ exchange, question, route, resolved, routePlan })) {
      this.#leave(question.body, question);
      return;
    }
    this.#question = question;
    this.#resolved = resolved;
    this.#routePlan = routePlan;
    this.#reserve(routePlan, estimate);
  }

  #reserve(routePlan: RoutePlan, estimate: RequestEstimate): void {
    const reserved = this.#deps.spending.reserve(this.#asked.exchange, routePlan, estimate);
    if (reserved instanceof Promise) {
      reserved.then((one) => this.#reserved(one)).catch(this.#failed);
    } else this.#reserved(reserved);
  }

  #reserved(reservation: Reservation): void {
    const { exchange } = this.#asked;
    this.#settling.reserved(reservation);
    this.#reservation = reservation;
    this.#deps.ledger.openFor(this, exchange, reservation);
  }

  /** Called twice: after the start was recorded it sends the call, after the settlement it answers the client. */
  onWritten(): void {
    try {
      if (this.#body === undefined) this.#send();
      else this.#answerWhole(this.#body);
    } catch (error) {
      this.#fail(error);
    }
  }

  onNotWritten(error: unknown): void {
    this.#fail(error);
  }

  /** A getter, as it is rarely needed and each function would be a closure. */
  get #failed(): (error: unknown) => void {
    return (error) => this.#fail(error);
  }

  #send(): void {
    const { exchange } = this.#asked;
    this.#startedMs = performance.now();
    const plan = this.#toPlan(this.#startedMs);
    this.#plan = plan;
    const tried = new Tried(plan.question.body, exchange);
    this.#tried = tried;
    if (exchange.client.gone) {
      this.#goOn({ tried });
      return;
    }
    const lease = this.#deps.dispatcher.choose(plan.routePlan, tried, plan.resolved.matched);
    if (!isLease(lease) || !lease.enterAtOnce()) {
      this.#goOn({ tried });
      return;
    }
    let call: Call;
    try {
      const { candidate } = lease;
      if (translationFor(plan, candidate) !== undefined || asksUsage(plan, candidate.target)) {
        lease.withdraw();
        this.#goOn({ tried });
        return;
      }
      call = writeCall(plan, lease, exchange.client, true);
    } catch (error) {
      lease.withdraw();
      throw error;
    }
    this.#lease = lease;
    exchange.target = lease.candidate.target;
    exchange.attempts += 1;
    tried.sent += 1;
    this.#deps.call(call, this);
  }

  #toPlan(nowMs: number): Plan {
    const { exchange, route, request } = this.#asked;
    const question = this.#question;
    const resolved = this.#resolved;
    const routePlan = this.#routePlan;
    const reservation = this.#reservation;
    if (question === undefined || resolved === undefined || routePlan === undefined || reservation === undefined)
      throw new TypeError('a call is planned for what was read and reserved');
    return {
      exchange,
      route,
      question,
      resolved,
      clientHeaders: request.fields,
      routePlan,
      credential: undefined,
      query: noQuery,
      deadlineMs: nowMs + routePlan.totalMs,
      reservation,
      records: undefined,
      inBackground: false,
    };
  }

  /** Looks at the bytes received with the answer's head first: they may be the whole answer. */
  onOutcome(outcome: Outcome): void {
    this.#outcome = outcome;
    queueMicrotask(this.#judge);
  }

  readonly #judge = (): void => {
    const plan = this.#plan;
    const tried = this.#tried;
    const lease = this.#lease;
    const outcome = this.#outcome;
    if (plan === undefined || tried === undefined || lease === undefined || outcome === undefined) return;
    try {
      if (
        outcome.kind === 'answered' &&
        isPlainlyGood(outcome.answer, lease) &&
        faultIn(plan, outcome.answer) === undefined
      )
        this.#relay(plan, lease, outcome.answer);
      else this.#goOn({ tried, made: { lease, outcome, startedMs: this.#startedMs } });
    } catch (error) {
      this.#fail(error);
    }
  };

  #relay(plan: Plan, lease: TargetLease, answer: Answer): void {
    const { exchange, response } = this.#asked;
    lease.served(answer.firstByteAtMs - answer.sentAtMs);
    if (this.#answerAtOnce(plan, lease, answer)) return;
    const passed = pass(plan, answer, lease, 'serves');
    if (passed instanceof Promise) throw new TypeError('a good answer passes at once');
    const lines = ownLines(exchange, passed, plan.resolved, plan.question, plan.reservation);
    if (plan.question.body.length > wholeBodyBytes) exchange.requestLease?.release();
    const relaying = new Relay(exchange, passed, response, this.#settling, this, true);
    try {
      relaying.start(lines);
    } catch (error) {
      relaying.fail(error);
    }
  }

  /** Answers at once. False if the answer has not arrived completely, or contains something that no client may see. */
  #answerAtOnce(plan: Plan, lease: TargetLease, answer: Answer): boolean {
    const { exchange } = this.#asked;
    const body = wholeBodyIn(answer);
    if (body === undefined) return false;
    note(exchange, answer, lease);
    if (isUnfit(answer, body, lease)) return false;
    const own = ownLines(exchange, answer, plan.resolved, plan.question, plan.reservation);
    const rules = {
      framing: 'length',
      hasOwnRates: exchange.hasOwnRates,
      listed: lease.candidate.target.upstream.responseHeaders,
    } as const;
    this.#head = wholeLines(answer, body.length, rules) + own;
    exchange.status = answer.status;
    exchange.responseBytes = body.length;
    exchange.client.work = undefined;
    this.#body = body;
    const usage = plan.routePlan.isCountAll === true ? countOfWhole(answer.headers, body) : undefined;
    if (usage !== undefined) {
      this.#isOnlyReader = true;
      this.#settling.counted(answer, usage, this);
      return true;
    }
    const observer = observerOf(exchange, answer);
    this.#isOnlyReader = observer.keepsNothing === true;
    observer.push(body);
    this.#settling.answered(answer, observer).then(
      () => this.onWritten(),
      (error) => this.onNotWritten(error),
    );
    return true;
  }

  #answerWhole(body: Buffer): void {
    const { response, ended } = this.#asked;
    const outcome = this.#outcome;
    if (outcome?.kind !== 'answered') throw new TypeError('what is settled was answered');
    const { status, statusText } = outcome.answer;
    response.writeHeadLines(status, statusText, this.#head, 'length');
    response.end(body);
    if (this.#isOnlyReader && response.hasLeft) giveBack(body);
    ended.resolve();
  }

  resolve(): void {
    this.#asked.ended.resolve();
  }

  reject(error: unknown): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    const { ended } = this.#asked;
    this.#settling.failed(error).then(
      () => ended.reject(error),
      (other: unknown) => ended.reject(other),
    );
  }

  #leave(body: Buffer | undefined, question?: Question): void {
    const key = this.#key;
    if (key === undefined) throw new TypeError('it is handed over for a key');
    leave(this.#asked, this.#deps.pipeline, { settling: this.#settling, key, body, question });
  }

  #goOn(first: FirstCall): void {
    const plan = this.#plan;
    if (plan === undefined) throw new TypeError('nothing is planned');
    goOn(this.#asked, this.#deps.pipeline, plan, this.#settling, first);
  }
}

/** Judges by the answer's head alone. */
function isPlainlyGood(answer: Answer, { candidate }: TargetLease): boolean {
  const { status, meantStatus } = answer;
  if (status >= 300 || meantStatus !== undefined) return false;
  return verdictOn(answer, candidate.target.upstream.family.errors?.statuses) === 'serves';
}
