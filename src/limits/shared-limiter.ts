/** Asks the process that counts for all whether a request fits its limits; decides by its own counts where no answer comes in time. */

import type { Holder } from '../core/caps.ts';
import type { Clock } from '../lib/clock.ts';
import type { Plan } from './counters.ts';
import type { Amounts, Refused, Taken } from './limiter.ts';
import { LocalLimits } from './local-limiter.ts';
import { TickBatches } from './reading-time.ts';

interface Question {
  readonly plan: Plan;
  readonly amounts: Amounts;
  /** Resolves the waiting request; undefined once the question is decided. */
  resolve: ((decision: Taken | Refused) => void) | undefined;
  /** When this process decided the question itself, because the answer was late. */
  lateAtMs: number | undefined;
}

export abstract class SharedLimiter<Reply> extends LocalLimits<Reply> {
  readonly #batches: TickBatches<Question>;

  constructor(clock: Pick<Clock, 'monotonicMs'>, deadlineMs: number) {
    super(clock);
    this.#batches = new TickBatches(deadlineMs, (asked, leftAtMs) => this.#overdue(asked, leftAtMs));
  }

  protected abstract ask(plan: Plan, amounts: Amounts, holders: readonly Holder[]): Promise<Reply>;
  /** The refusal in an answer; undefined where the amounts were reserved. */
  protected abstract refusalIn(reply: Reply, plan: Plan, amounts: Amounts): Refused | undefined;
  protected abstract answered(): void;
  protected failed(_error: unknown): void {}
  /** Called when `count` answers, to questions sent at that time, are late. */
  protected abstract late(count: number, leftAtMs: number): void;
  /** Called when a late answer has come, or never will. This process decided meanwhile: what the answer took was taken or refused here, too. */
  protected abstract lateEnded(reply: Reply | undefined, plan: Plan, amounts: Amounts, lateAtMs: number): void;

  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused> {
    const plan = this.counters.plan(holders, this.nowMs());
    return new Promise((resolve) => {
      const question: Question = { plan, amounts, resolve, lateAtMs: undefined };
      void this.#ask(question, holders);
      this.#batches.add(question);
    });
  }

  async #ask(question: Question, holders: readonly Holder[]): Promise<void> {
    const { plan, amounts } = question;
    let taken: Reply | undefined;
    plan.hold();
    try {
      const reply = await this.ask(plan, amounts, holders);
      const refused = this.refusalIn(reply, plan, amounts);
      if (refused === undefined) taken = reply;
      if (question.resolve !== undefined) {
        this.answered();
        decide(question, refused ?? this.taken(plan, amounts, this.nowMs(), reply));
      }
    } catch (error) {
      this.failed(error);
      if (question.resolve !== undefined) decide(question, this.decideHere(plan, amounts));
    }
    if (question.lateAtMs !== undefined) this.lateEnded(taken, plan, amounts, question.lateAtMs);
    plan.letGo();
  }

  #overdue(asked: readonly Question[], leftAtMs: number): void {
    const late = asked.filter(({ resolve }) => resolve !== undefined);
    if (late.length === 0) return;
    this.late(late.length, leftAtMs);
    for (const question of late) {
      question.lateAtMs = this.nowMs();
      decide(question, this.decideHere(question.plan, question.amounts));
    }
  }
}

function decide(question: Question, decision: Taken | Refused): void {
  question.resolve?.(decision);
  question.resolve = undefined;
}
