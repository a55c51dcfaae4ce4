/** Nodes with budgets on one account store, with controlled clock and timers. */

import type { TestContext } from 'node:test';
import { type BudgetHold, createLocalBudgets, type LocalBudgets } from '../../../src/budgets/local-budgets.ts';

import type { Budget, BudgetPeriod, Holder, HolderKind } from '../../../src/core/caps.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import type { BudgetAccountStore } from '../../../src/core/store/budgets.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { createMemoryAccountStore } from './memory-account-store.ts';

const tickMs = 10;

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export function budgetOf(nanos: number, period: BudgetPeriod = 'day', alerts: readonly number[] = []): Budget {
  return { period, nanos, alerts };
}

export function holderOf(budgets: readonly Budget[], kind: HolderKind = 'key', id = 'dev'): Holder {
  return { kind, id, caps: { rates: [], concurrency: undefined, budgets } };
}

const startOfTestMs = Date.UTC(2027, 0, 1, 12);

/** The timers of the test are its own from here on: time passes in `pass` and `answerOf` alone. */
export function createBudgetNodes(t: TestContext, startMs = startOfTestMs) {
  return createNodesOver(t, createMemoryAccountStore(), { startMs });
}

export interface NodesOptions {
  readonly startMs?: number;
  /** For an account store that needs turns of the event loop for an answer: no time passes meanwhile, up to so many turns. */
  readonly accountStoreTicks?: number;
}

/** The same over any account store. */
export function createNodesOver<AccountStore extends BudgetAccountStore>(
  t: TestContext,
  accountStore: AccountStore,
  { startMs = startOfTestMs, accountStoreTicks = 1 }: NodesOptions = {},
) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = createFakeClock(startMs);
  let underWay = 0;
  const dead = new Set<string>();
  const log: string[] = [];
  const reached: string[] = [];
  const note = (message: string) => void log.push(message);

  async function ask<T>(node: string, call: () => Promise<T>): Promise<T> {
    if (dead.has(node)) return never();
    underWay += 1;
    try {
      return await call();
    } finally {
      underWay -= 1;
    }
  }

  function start(node: string): LocalBudgets {
    return createLocalBudgets({
      accountStore: {
        ...accountStore,
        draw: (...call) => ask(node, () => accountStore.draw(...call)),
        giveBack: (...call) => ask(node, () => accountStore.giveBack(...call)),
        state: (...call) => ask(node, () => accountStore.state(...call)),
      },
      node,
      clock,
      log: { info: note, warn: note, error: note },
      alerts: {
        reached: ({ id }, _budget, percent, spentNanos) => void reached.push(`${id} ${percent}% ${spentNanos}`),
      },
    });
  }

  /** Nothing is heard of it any more. */
  const kill = (node: string): void => void dead.add(node);

  /** What runs without time passing. */
  async function calm(): Promise<void> {
    for (let turns = 0; turns === 0 || (underWay > 0 && turns < accountStoreTicks); turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += tickMs) {
      clock.advance(tickMs);
      t.mock.timers.tick(tickMs);
      await calm();
    }
  }

  /** Advances the time until it resolves, and returns by how much. */
  async function timeOf<T>(promise: T | Promise<T>): Promise<{ ms: number; result: PromiseSettledResult<Awaited<T>> }> {
    const fromMs = clock.monotonicMs();
    let isDone = false;
    const settled = Promise.allSettled([promise]).then(([result]) => {
      isDone = true;
      return result;
    });
    for (await calm(); !isDone; await pass(tickMs))
      if (clock.monotonicMs() - fromMs > 60_000) throw new Error('no end');
    return { ms: clock.monotonicMs() - fromMs, result: await settled };
  }

  /** The hold, or the error that it was refused with. */
  async function answerOf(call: () => BudgetHold | Promise<BudgetHold>): Promise<BudgetHold | GatewayError> {
    const { result } = await timeOf(new Promise<BudgetHold>((resolve) => resolve(call())));
    if (result.status === 'fulfilled') return result.value;
    if (result.reason instanceof GatewayError) return result.reason;
    throw result.reason;
  }

  return { accountStore, clock, log, reached, start, kill, calm, pass, timeOf, answerOf };
}
