/** Applies limits and slots in a worker without Redis: asks the parent process, which counts for all workers of the machine. */

import type { Holder } from '../core/caps.ts';
import type { Log } from '../core/log.ts';
import type { SlotArbiter, SlotClaim, SlotGrant } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import type { Plan } from './counters.ts';
import type { ParentAnswer, WorkerQuestion } from './limit-server.ts';
import type { Amounts, Refused } from './limiter.ts';
import { within } from './reading-time.ts';
import { SharedLimiter } from './shared-limiter.ts';

/** Deadline for the parent's answers: it runs on the same machine, so without an answer for so long it hangs. */
const deadlineMs = 1_000;
/** Limit of the numbered lists of holders: each new configuration brings new lists. */
const mostLists = 10_000;
const nothing: Amounts = Object.freeze({ requests: 0, tokens: 0, items: 0 });

export interface ParentChannel {
  ask(questions: readonly WorkerQuestion[]): void;
  /** Registers the receiver of answers. Called once, by the limiter. */
  onAnswers(hear: (answers: readonly ParentAnswer[]) => void): void;
}

export interface ParentLimiterDeps {
  readonly channel: ParentChannel;
  readonly workers: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
}

type Decision = Exclude<ParentAnswer, { kind: 'slots' }>;

export class ParentLimiter extends SharedLimiter<Decision> implements SlotArbiter {
  readonly isThere = true;
  readonly #workers: number;
  readonly #channel: ParentChannel;
  readonly #log: ParentLimiterDeps['log'];
  readonly #lists = new WeakMap<readonly Holder[], { readonly list: number; readonly generation: number }>();
  readonly #waiting = new Map<number, (answer: ParentAnswer) => void>();
  #outbox: WorkerQuestion[] = [];
  #generation = 0;
  #listed = 0;
  #no = 0;
  #isReported = false;

  constructor({ channel, workers, clock, log }: ParentLimiterDeps) {
    super(clock, deadlineMs);
    this.#workers = workers;
    this.#channel = channel;
    this.#log = log;
    channel.onAnswers((answers) => {
      for (const answer of answers) this.#hear(answer);
    });
  }

  override get nodes(): number {
    return this.#workers;
  }

  async claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]> {
    try {
      const answer = this.#expect((no) => ({ kind: 'slots', no, claims }));
      const grants = grantsIn(await within(answer, deadlineMs));
      this.answered();
      return grants;
    } catch (error) {
      this.late();
      throw error;
    }
  }

  protected async ask(_plan: Plan, amounts: Amounts, holders: readonly Holder[]): Promise<Decision> {
    const list = this.#listOf(holders);
    const answer = await this.#expect((no) => ({ kind: 'reserve', no, list, amounts }));
    if (answer.kind === 'slots') throw unasked();
    return answer;
  }

  protected refusalIn(answer: Decision): Refused | undefined {
    return answer.kind === 'refused' ? { ...answer.refused, lines: () => answer.lines } : undefined;
  }

  override linesOf(plan: Plan, atMs: number, answer: Decision | undefined): string {
    return answer === undefined ? super.linesOf(plan, atMs, answer) : answer.lines;
  }

  override settle(plan: Plan, amounts: Amounts, used: Amounts, atMs: number, answer: Decision | undefined): void {
    super.settle(plan, amounts, used, atMs, answer);
    if (answer !== undefined) this.#send({ kind: 'settle', no: answer.no, used });
  }

  protected late(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#log.warn('parent process late: limits decided locally', { deadline_ms: deadlineMs });
  }

  /** Returns a reservation that the parent made after this process had decided. */
  protected lateEnded(answer: Decision | undefined): void {
    if (answer !== undefined) this.#send({ kind: 'settle', no: answer.no, used: nothing });
  }

  protected answered(): void {
    this.#isReported = false;
  }

  #expect(toQuestion: (no: number) => WorkerQuestion): Promise<ParentAnswer> {
    const no = ++this.#no;
    return new Promise((resolve) => {
      this.#waiting.set(no, resolve);
      this.#send(toQuestion(no));
    });
  }

  #hear(answer: ParentAnswer): void {
    this.#waiting.get(answer.no)?.(answer);
    this.#waiting.delete(answer.no);
  }

  /** Sends a question; the questions of one event-loop turn share one message. */
  #send(question: WorkerQuestion): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.#post());
    this.#outbox.push(question);
  }

  #post(): void {
    const questions = this.#outbox;
    this.#outbox = [];
    this.#channel.ask(questions);
  }

  /** The number of a list of holders: the list itself is sent once. */
  #listOf(holders: readonly Holder[]): number {
    const known = this.#lists.get(holders);
    if (known?.generation === this.#generation) return known.list;
    if (this.#listed >= mostLists) {
      this.#listed = 0;
      this.#generation += 1;
      this.#send({ kind: 'forget' });
    }
    this.#listed += 1;
    const list = this.#listed;
    this.#lists.set(holders, { list, generation: this.#generation });
    this.#send({ kind: 'holders', list, holders });
    return list;
  }
}

function grantsIn(answer: ParentAnswer): readonly SlotGrant[] {
  if (answer.kind !== 'slots') throw unasked();
  return answer.grants;
}

const unasked = (): TypeError => new TypeError('the parent process answered something else than was asked');
