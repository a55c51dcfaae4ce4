/** Writes the targets' health to the store regularly, and soon after a change. */

import type { DriftState } from '../core/drift.ts';
import type { Log } from '../core/log.ts';
import type { HealthStore } from '../core/store/health.ts';
import type { TargetState } from '../core/target-state.ts';
import { repeat } from '../lib/repeat.ts';

const intervalMs = 5_000;
/** Delay of a report after a change, as several changes often come together. */
const settleMs = 500;

export type HealthReporter = ReturnType<typeof startHealthReports>;

interface HealthReporterDeps {
  readonly store: HealthStore;
  readonly node: string;
  readonly log: Log;
  states(): Promise<readonly TargetState[]>;
  drift(): DriftState;
  /** The IDs of the keys that can decrypt secrets in the store; undefined where they are unknown. */
  secretKeys(): Promise<readonly string[] | undefined>;
}

export function startHealthReports({ store, node, log, states, drift, secretKeys }: HealthReporterDeps) {
  let soon: NodeJS.Timeout | undefined;
  let failing = false;

  async function write(): Promise<void> {
    clearTimeout(soon);
    soon = undefined;
    try {
      await store.report(node, await states(), drift(), await secretKeys());
      failing = false;
    } catch (error) {
      // Only `postern models` depends on the stored health, so one warning is enough.
      if (!failing) log.warn('target health not stored', { cause: String(error) });
      failing = true;
    }
  }

  const reports = repeat(write, intervalMs, 0);

  return {
    /** To be called after a change: the next report then comes soon. */
    changed(): void {
      soon ??= setTimeout(reports.now, settleMs).unref();
    },
    async close(): Promise<void> {
      clearTimeout(soon);
      await reports.close();
      await store.withdraw(node).catch(() => undefined); // it ages
    },
  };
}
