/** Limits and slots of a worker without Redis: the parent process counts them for all workers of the machine. */

import type { Holder } from '../core/caps.ts';
import type { Log } from '../core/log.ts';
import type { SlotArbiter, SlotClaim, SlotGrant } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { Counters, type Plan } from './counters.ts';
import type { ParentAnswer, WorkerQuestion } from './limit-server.ts';
import type { Amounts, Begun, Limiter, Refused, Taken } from './limiter.ts';
import { begin, localRateHeaders, obstacleTo, refusalOf } from './local-judgement.ts';
import { TickBatches } from './reading-time.ts';

/** The parent runs on the same machine: without an answer for so long it hangs. */
const deadlineMs = 1_000;
/** Numbered holder lists; a new configuration brings new ones. */
const mostLists = 10_000;
const nothing: Amounts = Object.freeze({ requests: 0, tokens: 0, items: 0 });

export interface ParentChannel {
  ask(questions: readonly WorkerQuestion[]): void;
  /** Called once, by the limiter. */
  onAnswers(hear: (answers: readonly ParentAnswer[]) => void): void;
}

export interface ParentLimiterDeps {
  readonly channel: ParentChannel;
  readonly workers: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Log, 'warn'>;
}

interface Waiting {
  readonly no: number;
  answered(answer: ParentAnswer): void;
  overdue(): void;
}

export class ParentLimiter implements Limiter, SlotArbiter {
  readonly isThere = true;
  readonly nodes: number;
  readonly #channel: ParentChannel;
  readonly #log: ParentLimiterDeps['log'];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** This worker's reservations: for checks before the parent is asked, and for its share when the parent does not answer. */
  readonly #counters = new Counters();
  readonly #lists = new WeakMap<readonly Holder[], { readonly list: number; readonly generation: number }>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #batches = new TickBatches<number>(deadlineMs, (numbers) => this.#overdue(numbers));
  #outbox: WorkerQuestion[] = [];
  #generation = 0;
  #listed = 0;
  #no = 0;
  #isReported = false;

  constructor({ channel, workers, clock, log }: ParentLimiterDeps) {
    this.nodes = workers;
    this.#channel = channel;
    this.#log = log;
    this.#clock = clock;
    channel.onAnswers((answers) => {
      for (const answer of answers) this.#hear(answer);
    });
  }

  /** Without the parent, which is asked once the body is there: a limit exceeded here is exceeded for all. */
  begin(holders: readonly Holder[]): Begun | Refused {
    const nowMs = this.#nowMs();
    return begin(this.#counters.plan(holders, nowMs), nowMs, 1);
  }

  reserve(holders: readonly Holder[], amounts: Amounts): Promise<Taken | Refused> {
    const list = this.#listOf(holders);
    const plan = this.#counters.plan(holders, this.#nowMs());
    plan.hold();
    return new Promise((resolve) => {
      let isDecided = false;
      const decide = (decision: Taken | Refused): void => {
        isDecided = true;
        plan.letGo();
        resolve(decision);
      };
      const no = this.#expect({
        answered: (answer) => {
          if (isDecided) {
            // The parent's reservation is returned.
            if (answer.kind === 'taken') this.#send({ kind: 'settle', no: answer.no, used: nothing });
          } else if (answer.kind === 'taken') decide(this.#taken(plan, amounts, answer.headers, answer.no));
          else if (answer.kind === 'refused') decide({ ...answer.refused, headers: () => [...answer.headers] });
        },
        overdue: () => decide(this.#decideHere(plan, amounts)),
      });
      this.#send({ kind: 'reserve', no, list, amounts });
    });
  }

  claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]> {
    return new Promise((resolve, reject) => {
      const no = this.#expect({
        answered: (answer) => {
          if (answer.kind === 'slots') resolve(answer.grants);
        },
        overdue: () => reject(new Error(`no answer within ${deadlineMs} ms`)),
      });
      this.#send({ kind: 'slots', no, claims });
    });
  }

  #nowMs(): number {
    return Math.floor(this.#clock.monotonicMs());
  }

  /** This worker's share, by its recent use. */
  #decideHere(plan: Plan, amounts: Amounts): Taken | Refused {
    const nowMs = this.#nowMs();
    const obstacle = obstacleTo(plan, amounts, nowMs, this.nodes);
    const headers = localRateHeaders(plan, nowMs, this.nodes);
    return obstacle === undefined ? this.#taken(plan, amounts, headers) : refusalOf(obstacle, () => headers);
  }

  /** `no`: the question's number, where it must be settled at the parent as well. */
  #taken(plan: Plan, amounts: Amounts, headers: readonly string[], no?: number): Taken {
    const atMs = this.#nowMs();
    let isSettled = false;
    plan.take(atMs, amounts);
    return {
      kind: 'taken',
      headers: () => [...headers],
      settle: (used) => {
        if (isSettled) return;
        isSettled = true;
        plan.settle(atMs, amounts, used);
        if (no !== undefined) this.#send({ kind: 'settle', no, used });
      },
    };
  }

  #expect(waiting: Omit<Waiting, 'no'>): number {
    this.#no += 1;
    this.#waiting.set(this.#no, { no: this.#no, ...waiting });
    this.#batches.add(this.#no);
    return this.#no;
  }

  #hear(answer: ParentAnswer): void {
    const waiting = this.#waiting.get(answer.no);
    this.#waiting.delete(answer.no);
    waiting?.answered(answer);
    this.#isReported = false;
  }

  #overdue(numbers: readonly number[]): void {
    const late = numbers.map((no) => this.#waiting.get(no)).filter((waiting) => waiting !== undefined);
    if (late.length === 0) return;
    if (!this.#isReported) {
      this.#isReported = true;
      this.#log.warn('the process that counts for all workers does not answer: this one lets through its share', {
        deadline_ms: deadlineMs,
      });
    }
    // They are kept, as a late answer may have reserved something.
    for (const waiting of late) waiting.overdue();
  }

  /** Questions of one turn are sent in one message. */
  #send(question: WorkerQuestion): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.#post());
    this.#outbox.push(question);
  }

  #post(): void {
    const questions = this.#outbox;
    this.#outbox = [];
    this.#channel.ask(questions);
  }

  /** Sent once, then referred to by number. */
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
