/** Sends a part of a list as a request of its own, with its own retries and a response that is read completely. */

import type { Buffer } from 'node:buffer';
import { AnswerMemory } from '../../answers/answer-memory.ts';
import { heldBytes } from '../../answers/held-answer.ts';
import { WholeMadeAnswer } from '../../answers/made-answer.ts';
import { observerOf } from '../../answers/relay.ts';
import { toFailure } from '../../answers/translation-faults.ts';
import { untilGone } from '../../answers/until-gone.ts';
import { otherWidthIn, type Width, widthFor, wrongWidth } from '../../answers/vector-width.ts';
import { Allowance, readWhole } from '../../answers/whole-answer.ts';
import type { Reservation } from '../../core/accounting/spending.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import type { TargetLease } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import { Exchange } from '../../core/exchange.ts';
import type { Part, PartOutcome, PartWork } from '../../core/lists.ts';
import type { Answer, Failure } from '../../core/outcome.ts';
import { noQuery } from '../../core/query.ts';
import type { Route } from '../../core/route.ts';
import { Unfit } from '../../core/translation.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import { estimateWith, type OtherModel, otherModelsIn } from '../../plan/other-models.ts';
import { type Judged, NoFreeSlot, type Plan } from '../../plan/planned-call.ts';
import { canonicalReaderOf, type Question } from '../../plan/question.ts';
import { withOnly } from '../../plan/route-plan.ts';
import { clientHeadersWithout } from '../../plan/upstream-head.ts';
import { estimateOf } from '../../plan/usage/request-estimate.ts';
import { type AttemptDeps, attempt } from '../calls/attempt.ts';
import { renumbered, renumberedBody } from './renumbered.ts';

export interface PartDeps extends AttemptDeps {
  /** The part has items of several clients, each of which is billed for its share. */
  readonly isForSeveral?: boolean;
  bill(exchange: Exchange): void;
}

/** Finds the models named beside the list in a part, where they are at other offsets. */
async function sameIn(question: Question, route: Route, others: readonly OtherModel[]): Promise<OtherModel[]> {
  const named = await otherModelsIn(question, route, noQuery);
  return named.flatMap((one) => {
    const other = others.find(({ param, name }) => param === one.param && name === one.name);
    return other === undefined ? [] : [{ ...other, at: one.at }];
  });
}

const mostRecordedTries = 64;

export class PartCall implements PartWork {
  readonly outcome: Promise<PartOutcome>;
  readonly #plan: Plan;
  readonly #part: Part;
  readonly #deps: PartDeps;
  readonly #exchange: Exchange;
  /** The part is to finish: no further attempt begins. */
  #isEnding = false;
  #endDrain: (() => void) | undefined = undefined;
  /** The last checked answer, and its bytes. */
  #judged: { readonly answer: Answer; readonly bytes: Buffer } | undefined = undefined;

  constructor(plan: Plan, part: Part, deps: PartDeps) {
    this.#plan = plan;
    this.#part = part;
    this.#deps = deps;
    this.#exchange = exchangeFor(plan.exchange);
    this.outcome = this.#run();
  }

  finish(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#isRunning) this.#endDrain = this.#deps.drains.enter(() => this.#giveUp());
    else this.#giveUp();
  }

  /** Whether a call was sent and has no result yet, or its answer is being read. */
  get #isRunning(): boolean {
    const { attempts, tries } = this.#exchange;
    const ended = tries.filter(({ outcome }) => outcome !== 'queue' && outcome !== 'capped').length;
    return this.#judged !== undefined || ended < attempts;
  }

  #giveUp(): void {
    const { client } = this.#exchange;
    // The cancelled call was sent: it may have been served.
    if (this.#isRunning) this.#exchange.outcome = 'aborted';
    client.gone = true;
    client.work?.clientLeft();
  }

  async #run(): Promise<PartOutcome> {
    const { exchange: whole, route, question: asked, routePlan: open, others: named, resolved } = this.#plan;
    const exchange = this.#exchange;
    const question = { ...(await canonicalReaderOf(route)(this.#part.body)), words: asked.words };
    const routePlan = withOnly(open, (candidate) => this.#part.fits(candidate));
    const others = named && (await sameIn(question, route, named));
    const estimate = await estimateOf(question, route, routePlan);
    exchange.estimate = others === undefined ? estimate : estimateWith(estimate, routePlan, others);
    const width = route.operation === 'embeddings' ? widthFor({ question, resolved, isPart: true }) : undefined;
    // After the end there is no time for a further attempt.
    const deadlineMs = (): number => (this.#isEnding ? 0 : this.#plan.deadlineMs);
    try {
      const answer = await attempt(
        {
          ...this.#plan,
          exchange,
          question,
          others,
          routePlan,
          clientHeaders: clientHeadersWithout(this.#plan.clientHeaders, idempotencyKey),
          reservation: forPart(this.#plan.reservation, exchange),
          isRead: true,
          isPart: true,
          judge: (answer, lease) => this.#judge(answer, lease, width),
          isOnlyAtOnce: !this.#part.waits,
          get deadlineMs() {
            return deadlineMs();
          },
        },
        this.#deps,
      );
      if ((answer.meantStatus ?? answer.status) >= 400)
        return { kind: 'refused', answer: await this.#renumbered(answer) };
      const bytes = await this.#bytesOf(answer);
      if (this.#deps.isForSeveral === true) this.#endForSeveral();
      return { kind: 'read', bytes, answer, exchange };
    } catch (error) {
      if (error instanceof NoFreeSlot) return { kind: 'no slot' };
      const { indexInWhole } = this.#part;
      if (exchange.outcome !== 'aborted') {
        this.#leaveOwed();
        throw indexInWhole === undefined ? error : renumbered(error, indexInWhole);
      }
      if (this.#deps.isForSeveral === true) this.#endForSeveral();
      return { kind: 'unheard', exchange };
    } finally {
      this.#endDrain?.();
      // After the client's departure, and for several clients, nothing else releases it.
      if (whole.client.gone || this.#deps.isForSeveral === true) exchange.answerLease?.release();
      whole.attempts += exchange.attempts;
      // Parts wait at the same time, so that the longest wait counts.
      whole.queuedMs = Math.max(whole.queuedMs, exchange.queuedMs);
      whole.tries.push(...exchange.tries.slice(0, Math.max(0, mostRecordedTries - whole.tries.length)));
      whole.target ??= exchange.target;
      if (exchange.repeatedCredential) whole.repeatedCredential = true;
    }
  }

  /** Adds calls that were served, but whose answers are not used, to the bill of the whole request. */
  #leaveOwed(): void {
    const { owed } = this.#exchange;
    const whole = this.#plan.exchange;
    if (owed !== undefined && this.#deps.isForSeveral !== true) whole.owed = [...(whole.owed ?? []), ...owed];
  }

  async #renumbered(answer: Answer): Promise<Answer> {
    const { indexInWhole } = this.#part;
    if (indexInWhole === undefined) return answer;
    const whole = await untilGone(this.#exchange, answer, readWhole(answer, new Allowance(heldBytes)));
    if ('failure' in whole) throw new GatewayError(whole.failure.code, whole.failure);
    return asWhole(answer, renumberedBody(whole.body, indexInWhole));
  }

  /** Bills a part for several clients, whose cost is then shared; for the upstream's limits, all of it counts. */
  #endForSeveral(): void {
    this.#exchange.parts = [this.#exchange];
    this.#deps.bill(this.#exchange);
  }

  /** The bytes of an answer: those read for the check, or read again where a search for secrets came after. */
  async #bytesOf(answer: Answer): Promise<Buffer> {
    const judged = this.#judged;
    if (judged?.answer === answer) return judged.bytes;
    const whole = await untilGone(this.#exchange, answer, readWhole(answer, new Allowance(Number.POSITIVE_INFINITY)));
    if ('failure' in whole) throw new GatewayError(whole.failure.code, whole.failure);
    await this.#part.judge(whole.body);
    return whole.body;
  }

  async #judge(answer: Answer, { candidate }: TargetLease, width: Width | undefined): Promise<Judged> {
    const { upstream } = candidate.target;
    const memory = new AnswerMemory(this.#exchange, this.#deps.answerPool, this.#exchange.client);
    const whole = await untilGone(
      this.#exchange,
      answer,
      readWhole(answer, new Allowance(upstream.answerLimitBytes, memory)),
    );
    if ('failure' in whole) return { failure: whole.failure };
    const failure = (await this.#wrongWidthIn(answer, whole.body, width)) ?? (await this.#failureIn(whole.body));
    if (failure !== undefined) {
      memory.giveBack();
      return { failure };
    }
    const made = asWhole(answer, whole.body);
    this.#exchange.usage =
      answer.translated === undefined ? await countIn(this.#exchange, made, whole.body) : answer.translated.usage;
    this.#judged = { answer: made, bytes: whole.body };
    return { answer: made };
  }

  /** Checks the vectors' length; translated answers were checked as they were read. */
  async #wrongWidthIn(answer: Answer, bytes: Buffer, width: Width | undefined): Promise<Failure | undefined> {
    if (width === undefined || answer.translated !== undefined) return undefined;
    const other = otherWidthIn(bytes, width);
    return other && wrongWidth(width, other.came, await countIn(this.#exchange, asWhole(answer, bytes), bytes));
  }

  async #failureIn(bytes: Buffer): Promise<Failure | undefined> {
    try {
      await this.#part.judge(bytes);
      return undefined;
    } catch (error) {
      if (error instanceof Unfit) return toFailure(error);
      throw error;
    }
  }
}

/** Makes the exchange of one part, with its own share of the estimate and of the bill. */
function exchangeFor(whole: Exchange): Exchange {
  const part = new Exchange(whole.id, whole.clientRequestId, whole.snapshot, whole.startedAtMs, whole.startedMs);
  const { lane, path, route, key, shape, errorShape, clientApi, clientAddress, loopMark, trace, modelId } = whole;
  const common = { lane, path, route, key, shape, errorShape, clientApi, clientAddress, loopMark, trace, modelId };
  return Object.assign(part, common);
}

/** The reservation as a part uses it: the upstream's limits count each part's call. */
const forPart = (reservation: Reservation, part: Exchange): Reservation => ({
  rateLines: reservation.rateLines,
  nanos: reservation.nanos,
  accounts: reservation.accounts,
  enter: (upstream) => reservation.enter(upstream, part),
  endLimits: () => reservation.endLimits(),
  settle: (exchange) => reservation.settle(exchange),
});

/** A client header that parts do not send: an upstream would take several calls with one idempotency key for one. */
const idempotencyKey: ReadonlySet<string> = new Set(['idempotency-key']);

async function countIn(exchange: Exchange, answer: Answer, bytes: Buffer): Promise<Usage | null> {
  const observer = observerOf(exchange, answer);
  observer.push(bytes);
  return observer.finish();
}

function asWhole(answer: Answer, body: Buffer): Answer {
  const { translated, ignored, meantStatus } = answer;
  const contentType = headerValue(answer.headers, 'content-type');
  return new WholeMadeAnswer(answer, { body, contentType, translated, ignored, meantStatus });
}
