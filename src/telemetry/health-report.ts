/** Writes the targets' health to the store regularly, and soon after a change. */

import type { DriftState } from '../core/drift.ts';
import type { Log } from '../core/log.ts';
import type { HealthStore } from '../core/store/health.ts';
import type { TargetState } from '../core/target-state.ts';

const intervalMs = 5_000;
/** Changes come in bursts. */
const settleMs = 500;

export type HealthReporter = ReturnType<typeof startHealthReports>;

interface HealthReporterDeps {
  readonly store: HealthStore;
  readonly node: string;
  readonly log: Log;
  states(): Promise<readonly TargetState[]>;
  drift(): DriftState;
  /** The IDs of the keys that decrypt secrets in the store; undefined where unknown. */
  secretKeys(): Promise<readonly string[] | undefined>;
}

export function startHealthReports({ store, node, log, states, drift, secretKeys }: HealthReporterDeps) {
  let soon: NodeJS.Timeout | undefined;
  let failing = false;
  let isClosed = false;
  let running = Promise.resolve();

  function report(): void {
    clearTimeout(soon);
    soon = undefined;
    if (!isClosed) running = running.then(write);
  }

  async function write(): Promise<void> {
    try {
      await store.report(node, await states(), drift(), await secretKeys());
      failing = false;
    } catch (error) {
      // Only `postern models` depends on it; one warning is enough.
      if (!failing) log.warn('the state of the targets could not be stored', { cause: String(error) });
      failing = true;
    }
  }

  report();
  const regular = setInterval(report, intervalMs).unref();

  return {
    /** After a change the next report comes soon. */
    changed(): void {
      if (!isClosed) soon ??= setTimeout(report, settleMs).unref();
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(soon);
      clearInterval(regular);
      await running;
      await store.withdraw(node).catch(() => undefined); // it ages
    },
  };
}
