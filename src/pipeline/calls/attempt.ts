/** Calls one target after another until a response may pass to the client. Nothing has been sent to the client yet. */

import { performance } from 'node:perf_hooks';
import { withoutUsageEvent } from '../../answers/counted-answer.ts';
import { discard } from '../../answers/discard.ts';
import { FallbackResponse } from '../../answers/fallback-response.ts';
import { pass } from '../../answers/pass.ts';
import { type Fault, failureOf, faultIn } from '../../answers/short-list.ts';
import { cooldownAskedForMs, redirected, type Verdict, verdictOn } from '../../answers/verdict.ts';
import type { Denial } from '../../core/accounting/spending.ts';
import { noCaps } from '../../core/caps.ts';
import { type Dispatcher, isLease, type NoTarget, type TargetLease, Tried } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { SigningGround } from '../../core/family.ts';
import type { DebugLog } from '../../core/log.ts';
import type { MemoryPool } from '../../core/memory-lease.ts';
import type { Answer, CallEnd, Failure, Listening, Outcome, Transport } from '../../core/outcome.ts';
import type { Credential, Target } from '../../core/snapshot.ts';
import type { Translation } from '../../core/translation.ts';

import type { Clock } from '../../lib/clock.ts';
import { NoFreeSlot, type Plan, translationFor, writeCall } from '../../plan/planned-call.ts';
import { asksUsage, mayBeRefusal, rememberRefusal, withUsageAsked } from '../../plan/usage/stream-usage.ts';
import { halfCharacterIn } from '../half-characters.ts';
import { shareOf } from '../lists/shares.ts';
import type { DrainPool } from './drain-pool.ts';
import { isExhausted } from './exhausted.ts';
import { FaultAttribution, unavailable } from './fault-attribution.ts';
import { Race, type Won } from './hedge.ts';
import { fullJitterMs, pause } from './pause.ts';
import { mayPace, paceMsOf, RateWait, usedUpForMsIn } from './rate-wait.ts';
import { type Again, SameTarget } from './same-target.ts';
import { sendSigned } from './sign.ts';
import { SubCall } from './sub-call.ts';
import { writeTranslated } from './translate.ts';
import type { TranslatedCalls } from './translated-calls.ts';

interface Transports {
  readonly http: Transport;
  /** Makes answers in this process, for families that need no network. */
  readonly inProcess: Transport;
}

export interface AttemptDeps {
  readonly transports: Transports;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signing: SigningGround;
  readonly answerPool: MemoryPool;
  readonly drains: DrainPool;
  readonly log: DebugLog;
}

/** What was tried already, and the result of a first call. */
export interface FirstCall {
  readonly tried: Tried;
  readonly made?: { readonly lease: TargetLease; readonly outcome: Outcome; readonly startedMs: number };
}

export function attempt(plan: Plan, deps: AttemptDeps, first?: FirstCall): Promise<Answer> {
  return new Attempts(plan, deps, first?.tried).run(first?.made);
}

type Answered = Extract<Outcome, { kind: 'answered' }>;

/** Sends a call; `asks`: also requests usage in its stream. */
type Send = (asks: boolean, end: CallEnd) => Promise<Outcome | undefined>;

class Attempts {
  readonly #plan: Plan;
  readonly #deps: AttemptDeps;
  readonly #exchange: Exchange;
  readonly #client: Listening;
  readonly #tried: Tried;
  readonly #fallback = new FallbackResponse();
  /** No further call is allowed, though targets may remain: a byte was sent, and the route is not replayable. */
  #isFinal = false;
  /** An idle connection was closed when a call was sent on it; if that happens again, it counts as a failure. */
  #staleOnce = false;
  /** More than one call is or was running at a time: each is recorded, the successful one included. */
  #isHedged = false;
  /** Targets whose error the request may have caused. */
  #faults: FaultAttribution | undefined = undefined;
  /** Upstreams reached by calls: the next call to one of them is delayed. */
  #reached: string[] | undefined = undefined;
  /** Decides about repeating calls; set once a repeatable call has failed. */
  #sameTarget: SameTarget | undefined = undefined;
  /** The target of a repeated call, whose pause is over already. */
  #waited: TargetLease | undefined = undefined;
  #rateWait: RateWait | undefined = undefined;
  /** How long the call of each lease waited for its connection, where none was free. */
  #connects: Map<TargetLease, number> | undefined = undefined;
  /** Log of the steps; set at `log.level: debug` only. */
  readonly #log: DebugLog | undefined;

  constructor(plan: Plan, deps: AttemptDeps, tried: Tried = new Tried(plan.question.body, plan.exchange)) {
    this.#plan = plan;
    this.#deps = deps;
    this.#exchange = plan.exchange;
    this.#tried = tried;
    this.#client = plan.client ?? plan.exchange.client;
    this.#log = plan.exchange.snapshot.log.level === 'debug' ? deps.log : undefined;
    if (plan.credential !== undefined) this.#useOnly(plan.credential);
  }

  #useOnly(credential: Credential): void {
    for (const { target } of this.#plan.routePlan.tiers.flat()) {
      for (const other of target.upstream.credentials) if (other !== credential) this.#tried.credential(other);
    }
  }

  async run(made?: FirstCall['made']): Promise<Answer> {
    try {
      if (made !== undefined) {
        const { lease, outcome, startedMs } = made;
        this.#noteConnect(lease, this.#exchange.client);
        const answer = await this.#judgeOutcome(lease, outcome, startedMs);
        if (answer !== undefined) return await this.#pass(answer, lease, 'serves');
      }
      for (;;) {
        // Only work in progress is notified when the client leaves, and there may have been none at the time.
        if (this.#client.gone) throw new GatewayError('client_closed');
        const lease =
          this.#sameTarget === undefined ? this.#chooseUnlessOver() : await this.#chooseNext(this.#sameTarget);
        if (lease === undefined || !isLease(lease)) {
          if (lease !== undefined && (await this.#waitForRate(lease))) continue;
          this.#log?.debug('no target left to try', { id: this.#exchange.id, reason: lease?.kind ?? 'over' });
          if (lease?.kind === 'full' && this.#isOnlyAtOnce) throw new NoFreeSlot();
          if (this.#faults !== undefined) this.#excuse(this.#faults);
          const { answer, lease: answered, verdict } = this.#fallback.best(lease, this.#exchange);
          return await this.#pass(answer, answered, verdict);
        }
        if (this.#reached !== undefined && lease !== this.#waited && !(await this.#backOff(lease, this.#reached)))
          continue;
        const hedgeAfterMs = this.#hedgeAfterMs(lease);
        if (hedgeAfterMs === undefined) {
          const answer = await this.#ask(lease, this.#client);
          if (answer !== undefined) {
            const passing = this.#pass(answer, lease, 'serves');
            return passing instanceof Promise ? await passing : passing;
          }
        } else {
          const won = await this.#race(lease, hedgeAfterMs);
          if (won !== undefined) return await this.#pass(won.answer, won.lease, 'serves');
        }
      }
    } finally {
      this.#rateWait?.passed();
      this.#fallback.clear();
    }
  }

  #pass(answer: Answer, lease: TargetLease, verdict: Verdict): Answer | Promise<Answer> {
    this.#exchange.client.connectMs = this.#connects?.get(lease);
    return pass(this.#plan, answer, lease, verdict);
  }

  /** Waits for an upstream's rate limit. True where the request waited, and may try again. */
  async #waitForRate(none: NoTarget): Promise<boolean> {
    if (this.#isOver() || !mayPace(this.#plan)) return false;
    const startedMs = performance.now();
    const ended = await this.#pacing.next(none);
    if (ended === 'client-gone') throw new GatewayError('client_closed');
    this.#exchange.queuedMs += performance.now() - startedMs;
    if (ended === 'too-late') return false;
    this.#tried.paused();
    return true;
  }

  get #pacing(): RateWait {
    this.#rateWait ??= new RateWait(this.#plan, this.#deps, this.#client);
    return this.#rateWait;
  }

  #chooseUnlessOver(): TargetLease | NoTarget | undefined {
    return this.#isOver() ? undefined : this.#choose();
  }

  #choose(): TargetLease | NoTarget {
    return this.#deps.dispatcher.choose(this.#plan.routePlan, this.#tried, this.#plan.resolved.matched);
  }

  /** Chooses a target after a failed call: some calls are repeated at the same target, before or after all others. */
  async #chooseNext(sameTarget: SameTarget): Promise<TargetLease | NoTarget | undefined> {
    const again = sameTarget.take();
    const chosen = again !== undefined && sameTarget.isFirst ? await this.#chooseAgain(again, sameTarget) : undefined;
    if (chosen !== undefined) return chosen;
    const other = this.#chooseUnlessOver();
    if (other === undefined || isLease(other) || again === undefined || sameTarget.isFirst) return other;
    return (await this.#chooseAgain(again, sameTarget)) ?? other;
  }

  async #chooseAgain(again: Again, sameTarget: SameTarget): Promise<TargetLease | undefined> {
    const { routePlan, deadlineMs } = this.#plan;
    const waitMs = sameTarget.pauseMs(again, deadlineMs - performance.now(), this.#deps.random);
    if (waitMs === undefined) return undefined;
    if (!(await pause(waitMs, this.#client))) throw new GatewayError('client_closed');
    // Without an alternative, cooldowns are ignored.
    if (!sameTarget.isFirst || routePlan.alone) this.#tried.resorted = true;
    this.#tried.only = again.target;
    const lease = this.#chooseUnlessOver();
    this.#tried.only = undefined;
    if (lease === undefined || !isLease(lease)) return undefined;
    sameTarget.isAsked(again);
    this.#waited = lease;
    return lease;
  }

  /** Makes one call; undefined where its result is not for the client. */
  async #ask(lease: TargetLease, client: Listening): Promise<Answer | undefined> {
    this.#log?.debug('target chosen', this.#namesOf(lease));
    const { upstream } = lease.candidate.target;
    const paces = mayPace(this.#plan);
    if (paces) this.#rateWait?.tries(upstream);
    if (this.#isOnlyAtOnce) {
      if (!lease.enterAtOnce()) throw new NoFreeSlot();
    } else {
      const entry = lease.enter(client, this.#plan.deadlineMs);
      if (entry !== 'entered') {
        // Other calls need not wait for the slot of this one.
        this.#rateWait?.letOthersTry();
        if (!this.#hasEntered(lease, await this.#queued(entry), client)) return undefined;
      }
    }
    if ((paces || upstream.caps !== noCaps) && !(await this.#mayUse(lease, paces))) return undefined;
    const startedMs = performance.now();
    client.connectMs = undefined;
    const outcome = await this.#send(lease, client);
    this.#noteConnect(lease, client);
    return outcome && this.#judgeOutcome(lease, outcome, startedMs);
  }

  #noteConnect(lease: TargetLease, { connectMs }: Listening): void {
    if (connectMs === undefined) return;
    this.#connects ??= new Map();
    this.#connects.set(lease, connectMs);
  }

  async #judgeOutcome(lease: TargetLease, outcome: Outcome, startedMs: number): Promise<Answer | undefined> {
    if (outcome.kind === 'answered') {
      const found = isExhausted(this.#plan, lease, outcome.answer);
      if (found instanceof Promise ? await found : found) {
        return this.#judgeAnswer(lease, outcome.answer, startedMs, outcome.isPartial === true, 'rejected');
      }
    }
    if (this.#plan.judge !== undefined && outcome.kind === 'answered') {
      return this.#judge(lease, await this.#readWhole(lease, outcome, this.#plan.judge), startedMs);
    }
    const found = outcome.kind === 'answered' ? faultIn(this.#plan, outcome.answer) : undefined;
    const fault = found instanceof Promise ? await found : found;
    if (fault === undefined || outcome.kind !== 'answered') return this.#judge(lease, outcome, startedMs);
    const failure = await this.#failureOf(fault, lease, outcome.answer);
    return this.#judge(lease, { kind: 'unknown', failure }, startedMs);
  }

  async #failureOf(fault: Fault, lease: TargetLease, answer: Answer): Promise<Failure> {
    try {
      return await failureOf(fault, this.#plan, answer);
    } catch (error) {
      // The client has left while the rest was read.
      lease.dropped();
      throw error;
    }
  }

  /** Reads and checks the whole answer: one that is good by its head may have a faulty body. */
  async #readWhole(lease: TargetLease, outcome: Answered, judge: NonNullable<Plan['judge']>): Promise<Outcome> {
    const { answer } = outcome;
    const { errors } = lease.candidate.target.upstream.family;
    if ((answer.meantStatus ?? answer.status) >= 300 || verdictOn(answer, errors?.statuses) !== 'serves')
      return outcome;
    const judged = await judge(answer, lease).catch((error: unknown) => {
      lease.dropped();
      throw error;
    });
    return 'failure' in judged
      ? { kind: 'unknown', failure: judged.failure }
      : { kind: 'answered', answer: judged.answer };
  }

  async #queued<T>(entry: Promise<T>): Promise<T> {
    const sinceMs = performance.now();
    try {
      return await entry;
    } finally {
      this.#exchange.queuedMs += performance.now() - sinceMs;
    }
  }

  /** The first call may only be made at once, without waiting for a slot. */
  get #isOnlyAtOnce(): boolean {
    return this.#plan.isOnlyAtOnce === true && this.#tried.sent === 0 && this.#exchange.tries.length === 0;
  }

  #hasEntered(lease: TargetLease, entry: 'entered' | 'too-late' | 'client-gone', client: Listening): boolean {
    if (entry === 'too-late') {
      this.#tried.upstream(lease.candidate.target.upstream.id);
      this.#note(lease, 'queue', undefined, performance.now());
      return false;
    }
    if (entry === 'entered' && !client.gone) return true;
    lease.withdraw();
    throw new GatewayError('client_closed');
  }

  /** Reserves from the upstream's own limits; false where they are reached. */
  async #mayUse(lease: TargetLease, paces: boolean): Promise<boolean> {
    const { upstream } = lease.candidate.target;
    let denial: Denial | undefined;
    try {
      denial = (paces ? this.#pacing.behind(upstream) : undefined) ?? (await this.#plan.reservation.enter(upstream));
    } catch (error) {
      lease.withdraw();
      throw error;
    }
    if (denial === undefined) {
      this.#rateWait?.passed();
      return true;
    }
    lease.withdraw();
    this.#tried.upstream(upstream.id);
    if (paces) this.#pacing.denied(upstream, denial);
    if (this.#rateWait?.isRetrying(upstream) !== true) this.#note(lease, 'capped', denial.limit, performance.now());
    this.#fallback.denied(denial);
    return false;
  }

  /** Sends the call; undefined where this target cannot serve the request, and another may. */
  #send(lease: TargetLease, client: Listening): Promise<Outcome | undefined> {
    const { family } = lease.candidate.target.upstream;
    const refusal = family.refusesHalfCharacters ? halfCharacterIn(this.#plan.question) : undefined;
    return refusal instanceof Promise
      ? refusal.then((found) => this.#sendUnless(found, lease, client))
      : this.#sendUnless(refusal, lease, client);
  }

  #sendUnless(refusal: GatewayError | undefined, lease: TargetLease, client: Listening): Promise<Outcome | undefined> {
    if (refusal !== undefined) {
      lease.withdraw();
      this.#refuse(lease, refusal);
      return Promise.resolve(undefined);
    }
    const { candidate } = lease;
    const { http, inProcess } = this.#deps.transports;
    const transport = candidate.offer.make === undefined ? http : inProcess;
    const translation = translationFor(this.#plan, candidate);
    if (translation !== undefined) {
      const send: Send = (asks, end) => this.#sendTranslated(lease, client, translation, transport, asks, end);
      return asksUsage(this.#plan, candidate.target)
        ? this.#sendAskingForUsage(lease, client, send)
        : send(false, lease);
    }
    let call: ReturnType<typeof writeCall>;
    try {
      call = writeCall(this.#plan, lease, client);
    } catch (error) {
      lease.withdraw();
      throw error;
    }
    const asking = asksUsage(this.#plan, candidate.target) ? withUsageAsked(this.#plan, call) : undefined;
    const send: Send = (asks, end) => {
      this.#count(candidate.target);
      const sent = asks && asking !== undefined ? { ...asking, end } : call;
      return sendSigned(sent, lease.credential, this.#deps.signing, transport);
    };
    return asking === undefined ? send(false, lease) : this.#sendAskingForUsage(lease, client, send);
  }

  /** Sends a call that requests usage in its stream; an upstream that refuses the field gets the unchanged call. */
  async #sendAskingForUsage(lease: TargetLease, client: Listening, send: Send): Promise<Outcome | undefined> {
    const startedMs = performance.now();
    const subCall = new SubCall();
    const first = await send(true, subCall);
    if (first?.kind !== 'answered' || !mayBeRefusal(first.answer.status)) {
      subCall.handOn(lease);
      const isCounted = first?.kind === 'answered' && this.#plan.isCountRead !== true;
      return isCounted ? { ...first, answer: withoutUsageEvent(first.answer) } : first;
    }
    this.#noteConnect(lease, client);
    this.#note(lease, 'answered', first.answer.status, startedMs);
    this.#connects?.delete(lease);
    client.connectMs = undefined;
    discard(first.answer);
    const second = await send(false, lease);
    const isServed = second?.kind === 'answered' && second.answer.status < 400;
    if (isServed) rememberRefusal(this.#plan, lease.candidate.target);
    return second;
  }

  async #sendTranslated(
    lease: TargetLease,
    client: Listening,
    translation: Translation,
    transport: Transport,
    asks: boolean,
    end: CallEnd,
  ): Promise<Outcome | undefined> {
    let calls: TranslatedCalls;
    try {
      calls = await writeTranslated(this.#plan, lease, client, translation, this.#deps, asks, end);
    } catch (error) {
      lease.withdraw();
      if (!(error instanceof GatewayError)) throw error;
      this.#refuse(lease, error);
      return undefined;
    }
    if (client.gone) {
      lease.withdraw();
      throw new GatewayError('client_closed');
    }
    this.#count(lease.candidate.target);
    const outcome = await calls.run(transport);
    const owed = calls.owedOf(this.#exchange);
    if (owed !== undefined) this.#exchange.owed = [...(this.#exchange.owed ?? []), ...owed];
    return outcome;
  }

  #refuse(lease: TargetLease, refusal: GatewayError): void {
    this.#tried.target(lease.candidate.target);
    this.#exchange.trace?.called(lease, 'refused', undefined);
    this.#log?.debug('upstream attempt ended', { ...this.#namesOf(lease), outcome: 'refused', detail: refusal.code });
    this.#fallback.refused(refusal);
  }

  #count(target: Target): void {
    this.#exchange.target = target;
    this.#exchange.attempts += 1;
    this.#tried.sent += 1;
  }

  /** Reports the outcome to the lease, and keeps the answer as a fallback. */
  #judge(lease: TargetLease, outcome: Outcome, startedMs: number): Answer | undefined {
    switch (outcome.kind) {
      case 'answered':
        if (outcome.isPartial && !this.#plan.routePlan.replayable) this.#isFinal = true;
        return this.#judgeAnswer(lease, outcome.answer, startedMs, outcome.isPartial === true);
      case 'not-sent':
        this.#tried.sent -= 1;
        this.#tried.upstream(lease.candidate.target.upstream.id);
        this.#fallback.failed(outcome.failure);
        if (outcome.failure.ours === undefined) {
          lease.notSent(outcome.failure.cause);
          if (outcome.failure.isLasting === undefined) this.#repeating.failed(lease, 'nothing');
        } else lease.withdraw();
        break;
      case 'unknown':
        this.#judgeSilence(lease, outcome.failure);
        break;
      case 'client-gone':
        if (outcome.unsent) lease.withdraw();
        else this.#endUnheard(lease, startedMs);
        throw new GatewayError('client_closed');
    }
    this.#note(lease, outcome.kind, outcome.failure.cause, startedMs);
    return undefined;
  }

  #endUnheard(lease: TargetLease, startedMs: number): void {
    if (this.#client.gone) {
      lease.dropped();
      this.#logEnd(lease, 'client-gone', undefined, startedMs);
      return;
    }
    lease.outrun(performance.now() - startedMs);
    this.#note(lease, 'outrun', undefined, startedMs);
  }

  #judgeSilence(lease: TargetLease, failure: Failure): void {
    if (failure.elsewhere === undefined) this.#noteReached(lease);
    if (failure.served !== undefined) {
      this.#exchange.usage = failure.served;
      const call = shareOf(this.#exchange, this.#exchange.estimate?.items ?? 1, failure.served, 1);
      // The costs of earlier calls are billed beside this one, not within it.
      call.owed = undefined;
      this.#exchange.owed = [...(this.#exchange.owed ?? []), call];
    }
    if (failure.stale !== undefined || failure.ours !== undefined || failure.elsewhere !== undefined) lease.dropped();
    else lease.failed(failure.cause, failure.unfit ? 'answer' : 'wire');
    // After a failure at one of several endpoints, the target is called again: another endpoint is as good as another target.
    if (failure.elsewhere === undefined) {
      if (failure.stale === undefined || this.#staleOnce) this.#tried.target(lease.candidate.target);
      else this.#staleOnce = true;
    }
    if (this.#plan.routePlan.replayable && failure.isFinal === undefined) {
      this.#fallback.failed(failure);
      if (failure.elsewhere !== undefined) return;
      if (failure.ours === undefined && failure.unfit === undefined) this.#repeating.failed(lease, 'unheard');
      return;
    }
    this.#isFinal = true;
    this.#fallback.failedForGood(failure);
  }

  #judgeAnswer(
    lease: TargetLease,
    answer: Answer,
    startedMs: number,
    isPartial: boolean,
    verdict = verdictOn(answer, lease.candidate.target.upstream.family.errors?.statuses),
  ): Answer | undefined {
    if (verdict === 'serves') {
      const paces = paceMsOf(this.#plan, lease.candidate.target.upstream) > 0;
      const usedUpForMs = paces ? usedUpForMsIn(answer.headers, this.#deps.clock.nowMs()) : undefined;
      lease.served(answer.firstByteAtMs - answer.sentAtMs, usedUpForMs);
      this.#exchange.trace?.called(lease, 'answered', answer.status);
      if (this.#isHedged || this.#exchange.tries.length > 0) this.#note(lease, 'answered', answer.status, startedMs);
      else this.#logEnd(lease, 'answered', answer.status, startedMs);
      return answer;
    }
    this.#note(lease, verdict, answer.broken?.cause ?? answer.status, startedMs);
    this.#noteReached(lease);
    const why = `answered ${answer.status}`;
    const cooldownMs = cooldownAskedForMs(
      answer,
      this.#deps.clock.nowMs(),
      lease.candidate.target.upstream.family.errors,
    );
    switch (verdict) {
      case 'limited':
        lease.limited(why, cooldownMs);
        this.#tried.lease(lease);
        if (mayPace(this.#plan)) this.#pacing.refused(lease.candidate.target.upstream, cooldownMs);
        this.#repeating.failed(lease, 'nothing', cooldownMs);
        break;
      case 'rejected':
        lease.rejected(why);
        this.#tried.credential(lease.credential);
        break;
      case 'loading':
        lease.loading(why);
        this.#tried.target(lease.candidate.target);
        this.#repeating.failed(lease, 'nothing', cooldownMs);
        break;
      case 'failed':
        lease.failed(why, 'answer', {
          bodyMark: this.#tried.bodyMark,
          isUnavailable: unavailable.has(answer.meantStatus ?? answer.status),
          cooldownMs,
        });
        this.#faults ??= new FaultAttribution();
        this.#faults.add(lease, answer);
        this.#endTarget(lease);
        if (!isPartial) this.#repeating.failedWith(lease, answer, cooldownMs);
        break;
      case 'broken':
        lease.failed(answer.broken?.cause ?? 'broken off', 'wire');
        this.#endTarget(lease);
        this.#repeating.failed(lease, 'unheard');
        break;
      case 'redirects':
        lease.failed(why, 'answer');
        this.#endTarget(lease);
        answer.cancel();
        this.#fallback.failed({ ...redirected, cause: `redirect (${answer.status})` });
        return undefined;
    }
    this.#fallback.hold({ answer, lease, verdict });
    return undefined;
  }

  get #repeating(): SameTarget {
    this.#sameTarget ??= new SameTarget(this.#plan);
    return this.#sameTarget;
  }

  /** Takes failures back where no target served the request, because the request may be at fault. */
  #excuse(faults: FaultAttribution): void {
    faults.excuse();
    if (faults.hasUnavailable) {
      this.#deps.dispatcher.excuseUnavailable(this.#plan.routePlan, this.#tried, this.#plan.resolved.matched);
    }
  }

  #endTarget(lease: TargetLease): void {
    this.#tried.target(lease.candidate.target);
    if (!this.#plan.routePlan.replayable) this.#isFinal = true;
  }

  #isOver(): boolean {
    // Calls that a rate limit refused do not count: they did nothing.
    const sent = this.#tried.sent - (this.#rateWait?.refusals ?? 0);
    if (this.#isFinal || (sent > 0 && sent >= this.#plan.routePlan.model.retry.attempts)) return true;
    return performance.now() >= this.#plan.deadlineMs;
  }

  /** Pauses before an upstream that failed is called again; other upstreams are called at once. False where no further call is allowed afterwards. */
  async #backOff(lease: TargetLease, reached: readonly string[]): Promise<boolean> {
    if (!reached.includes(lease.candidate.target.upstream.id)) return true;
    const waitMs = fullJitterMs(reached.length - 1, this.#deps.random);
    if ((await pause(waitMs, this.#client)) && !this.#isOver()) return true;
    lease.withdraw();
    return false;
  }

  #noteReached(lease: TargetLease): void {
    this.#reached ??= [];
    this.#reached.push(lease.candidate.target.upstream.id);
  }

  #hedgeAfterMs(lease: TargetLease): number | undefined {
    const { model, replayable } = this.#plan.routePlan;
    if (model.hedge === undefined || !replayable || this.#tried.sent > 0) return undefined;
    return model.hedge.afterMs === 'p95' ? lease.percentile95Ms() : model.hedge.afterMs;
  }

  async #race(lease: TargetLease, afterMs: number): Promise<Won | undefined> {
    const race = new Race(this.#client, (one, client) => this.#ask(one, client));
    race.start(lease);
    if (await race.outlasts(afterMs)) {
      const second = this.#chooseBeside(lease);
      if (second !== undefined) {
        this.#isHedged = true;
        race.start(second);
      }
    }
    return race.winner();
  }

  /** Chooses the target of a second, concurrent call; undefined where the first call still waits for its slot. */
  #chooseBeside(lease: TargetLease): TargetLease | undefined {
    if (this.#tried.sent === 0 || this.#isOver()) return undefined;
    this.#tried.busy = lease.candidate.target;
    const second = this.#choose();
    this.#tried.busy = undefined;
    return isLease(second) ? second : undefined;
  }

  #note(lease: TargetLease, outcome: string, detail: number | string | undefined, startedMs: number): void {
    const { target } = lease.candidate;
    this.#exchange.trace?.called(lease, outcome, detail);
    this.#logEnd(lease, outcome, detail, startedMs);
    this.#exchange.tries.push({
      upstream: target.upstream.id,
      model: target.model,
      credential: target.upstream.credentials.length === 1 ? undefined : lease.credential.id,
      outcome,
      detail,
      startMs: startedMs - this.#exchange.startedMs,
      durationMs: performance.now() - startedMs,
      connectMs: this.#connects?.get(lease),
    });
  }

  #logEnd(lease: TargetLease, outcome: string, detail: number | string | undefined, startedMs: number): void {
    if (this.#log === undefined) return;
    const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
    this.#log.debug('upstream attempt ended', { ...this.#namesOf(lease), outcome, detail, duration_ms: durationMs });
  }

  /** Names for the log: IDs only, nothing of a request or a credential. */
  #namesOf({ candidate: { target }, credential }: TargetLease): Record<string, unknown> {
    return {
      id: this.#exchange.id,
      model: this.#exchange.modelId,
      upstream: target.upstream.id,
      upstream_model: target.model,
      credential: credential.id,
    };
  }
}
