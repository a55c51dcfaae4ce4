/** Counts for all the workers of one machine, in the process that watches over them: limits, and slots at upstreams. */

import type { Holder } from '../core/caps.ts';
import type { SlotClaim, SlotGrant } from '../core/slots.ts';
import type { Clock } from '../lib/clock.ts';
import { createMemoryLimiter } from './memory-limiter.ts';
import type { Amounts, Refused, Taken } from './port.ts';
import { SlotPools } from './slot-pools.ts';

/** What a worker asks, with a number of its own for what is answered or settled. */
export type HouseQuestion =
  /** Who is meant by a number from here on. */
  | { readonly kind: 'holders'; readonly list: number; readonly holders: readonly Holder[] }
  /** All those numbers are forgotten. */
  | { readonly kind: 'forget' }
  | { readonly kind: 'reserve'; readonly no: number; readonly list: number; readonly amounts: Amounts }
  | { readonly kind: 'settle'; readonly no: number; readonly used: Amounts }
  | { readonly kind: 'places'; readonly no: number; readonly claims: readonly SlotClaim[] };

export type HouseAnswer =
  | { readonly kind: 'taken'; readonly no: number; readonly headers: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly no: number;
      readonly refused: ToldRefusal;
      readonly headers: readonly string[];
    }
  | { readonly kind: 'places'; readonly no: number; readonly grants: readonly SlotGrant[] };

/** What can be told between processes. */
type ToldRefusal = Omit<Refused, 'headers'>;

export interface HouseDesk {
  /** In the order of the questions. */
  answer(worker: number, questions: readonly HouseQuestion[]): HouseAnswer[];
  /**
   * The worker is gone for good: what it had under way is over, and its places are free. What it took of rates stays taken. What is
   * heard of it later has no answer: it would take something that nobody gives back.
   */
  leave(worker: number): void;
}

interface Desk {
  readonly lists: Map<number, readonly Holder[]>;
  readonly taken: Map<number, { readonly taken: Taken; readonly amounts: Amounts }>;
}

export interface HouseDeskDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly workers: number;
}

export function createHouseDesk({ clock, workers }: HouseDeskDeps): HouseDesk {
  const limiter = createMemoryLimiter({ clock });
  const pools = new SlotPools();
  const desks = new Map<number, Desk>();
  const gone = new Set<number>();

  function deskOf(worker: number): Desk {
    const found = desks.get(worker) ?? { lists: new Map(), taken: new Map() };
    desks.set(worker, found);
    return found;
  }

  function reserve(desk: Desk, no: number, list: number, amounts: Amounts): HouseAnswer {
    const holders = desk.lists.get(list);
    if (holders === undefined) throw new RangeError(`nobody was said to be meant by ${list}`);
    const answer = limiter.reserve(holders, amounts);
    if (answer.kind === 'taken') {
      desk.taken.set(no, { taken: answer, amounts });
      return { kind: 'taken', no, headers: answer.headers() };
    }
    const { headers, ...refused } = answer;
    return { kind: 'refused', no, refused, headers: headers() };
  }

  function answerOne(worker: number, desk: Desk, question: HouseQuestion): HouseAnswer | undefined {
    switch (question.kind) {
      case 'holders':
        desk.lists.set(question.list, question.holders);
        return undefined;
      case 'forget':
        desk.lists.clear();
        return undefined;
      case 'reserve':
        return reserve(desk, question.no, question.list, question.amounts);
      case 'settle':
        desk.taken.get(question.no)?.taken.settle(question.used);
        desk.taken.delete(question.no);
        return undefined;
      case 'places': {
        const nowMs = clock.monotonicMs();
        const grants = question.claims.map((claim) => pools.claim(worker, workers, claim, nowMs));
        return { kind: 'places', no: question.no, grants };
      }
    }
  }

  return {
    answer(worker, questions) {
      if (gone.has(worker)) return [];
      const desk = deskOf(worker);
      return questions.map((question) => answerOne(worker, desk, question)).filter((answer) => answer !== undefined);
    },
    leave(worker) {
      gone.add(worker);
      for (const { taken, amounts } of desks.get(worker)?.taken.values() ?? []) taken.settle(amounts);
      desks.delete(worker);
      pools.leave(worker);
    },
  };
}
