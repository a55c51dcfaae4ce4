/** Counts limits and upstream slots for all workers of one machine, in their parent process. */

import type { Holder } from '../core/caps.ts';
import { type SlotClaim, type SlotGrant, waitsForMs } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Amounts, Refused, Taken } from './limiter.ts';
import { MemoryLimiter } from './local-limiter.ts';

/** A worker's question to its parent process, with a number where an answer or settlement follows. */
export type WorkerQuestion =
  /** Assigns a number to a list of holders, by which later questions refer to it. */
  | { readonly kind: 'holders'; readonly list: number; readonly holders: readonly Holder[] }
  | { readonly kind: 'forget' }
  | { readonly kind: 'reserve'; readonly no: number; readonly list: number; readonly amounts: Amounts }
  | { readonly kind: 'settle'; readonly no: number; readonly used: Amounts }
  | { readonly kind: 'slots'; readonly no: number; readonly claims: readonly SlotClaim[] };

export type ParentAnswer =
  | { readonly kind: 'taken'; readonly no: number; readonly lines: string }
  | {
      readonly kind: 'refused';
      readonly no: number;
      readonly refused: PlainRefusal;
      readonly lines: string;
    }
  | { readonly kind: 'slots'; readonly no: number; readonly grants: readonly SlotGrant[] };

/** A refusal without functions, for messages between processes. */
type PlainRefusal = Omit<Refused, 'lines'>;

export type LimitServer = ReturnType<typeof createLimitServer>;

interface WorkerState {
  readonly lists: Map<number, readonly Holder[]>;
  readonly taken: Map<number, { readonly taken: Taken; readonly amounts: Amounts }>;
}

export interface LimitServerDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly workers: number;
}

export function createLimitServer({ clock, workers }: LimitServerDeps) {
  const limiter = new MemoryLimiter(clock);
  const pools = new SlotPools();
  const states = new Map<number, WorkerState>();
  const gone = new Set<number>();

  function stateOf(worker: number): WorkerState {
    return getOrMake(states, worker, () => ({ lists: new Map(), taken: new Map() }));
  }

  function reserve(state: WorkerState, no: number, list: number, amounts: Amounts): ParentAnswer {
    const holders = state.lists.get(list);
    if (holders === undefined) throw new RangeError(`nobody was said to be meant by ${list}`);
    const answer = limiter.reserve(holders, amounts);
    if (answer.kind === 'taken') {
      state.taken.set(no, { taken: answer, amounts });
      return { kind: 'taken', no, lines: answer.lines() };
    }
    const { lines, ...refused } = answer;
    return { kind: 'refused', no, refused, lines: lines() };
  }

  function answerOne(worker: number, state: WorkerState, question: WorkerQuestion): ParentAnswer | undefined {
    switch (question.kind) {
      case 'holders':
        state.lists.set(question.list, question.holders);
        return undefined;
      case 'forget':
        state.lists.clear();
        return undefined;
      case 'reserve':
        return reserve(state, question.no, question.list, question.amounts);
      case 'settle':
        state.taken.get(question.no)?.taken.settle(question.used);
        state.taken.delete(question.no);
        return undefined;
      case 'slots': {
        const nowMs = clock.monotonicMs();
        const grants = question.claims.map((claim) => pools.claim(worker, workers, claim, nowMs));
        return { kind: 'slots', no: question.no, grants };
      }
    }
  }

  return {
    answer(worker: number, questions: readonly WorkerQuestion[]): ParentAnswer[] {
      if (gone.has(worker)) return [];
      const state = stateOf(worker);
      return questions.map((question) => answerOne(worker, state, question)).filter((answer) => answer !== undefined);
    },
    /** Ends a worker that exited: its exchanges are over, its use of rates stays. Later questions get no answer, as nothing would be returned. */
    leave(worker: number): void {
      gone.add(worker);
      for (const { taken, amounts } of states.get(worker)?.taken.values() ?? []) taken.settle(amounts);
      states.delete(worker);
      pools.leave(worker);
    },
  };
}

/** What one process holds of an upstream's slots, and how many it could use. */
interface Holding {
  readonly held: number;
  readonly wants: number;
  readonly atMs: number;
}

/** Shares an upstream's slots among the workers of one machine: each reports use and demand, and gets its part. With Redis a script does so. */
export class SlotPools {
  readonly #pools = new Map<string, Map<number, Holding>>();

  claim(node: number, nodes: number, { upstream, most, held, wants }: SlotClaim, nowMs: number): SlotGrant {
    const pool = getOrMake(this.#pools, upstream, () => new Map());
    let others = 0;
    let wanting = 1;
    let isContended = false;
    for (const [other, holding] of pool) {
      if (other === node) continue;
      others += holding.held;
      if (holding.wants === 0 || nowMs - holding.atMs >= waitsForMs) continue;
      wanting += 1;
      if (holding.wants > holding.held) isContended = true;
    }
    const fair = Math.max(1, Math.floor(most / wanting));
    // Half of the slots are shared equally; the other half goes to processes that need it.
    const spare = Math.floor(most / (2 * Math.max(1, nodes)));
    const target = isContended ? Math.min(wants, fair) : wants === 0 ? 0 : Math.max(wants, spare);
    const granted = Math.max(held, Math.min(most - others, target));
    pool.set(node, { held: granted, wants, atMs: nowMs });
    return { held: granted, keep: isContended ? Math.min(wants, fair) : most };
  }

  leave(node: number): void {
    for (const [upstream, pool] of this.#pools) {
      pool.delete(node);
      if (pool.size === 0) this.#pools.delete(upstream);
    }
  }
}
