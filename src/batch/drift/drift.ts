/** Starts drift checks, which repeat requests at shadow models and at the same targets, and compare the results. */

import type { Buffer } from 'node:buffer';
import type { Drift } from '../../core/drift.ts';
import { listOperations } from '../../core/lists.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { CanaryWatch } from './canary-watch.ts';
import type { DriftDeps } from './readings.ts';
import { createShadowRecord, type ShadowRecord } from './shadow-record.ts';

const mostCopiesInFlight = 8;
const longestCopiedBytes = 1024 * 1024;

export interface RunningDrift extends Drift {
  adopt(snapshot: Snapshot): void;
  close(): void;
}

export function createDrift(deps: DriftDeps): RunningDrift {
  const { ask, random } = deps;
  const records = new Map<string, ShadowRecord>();
  const canaries = new CanaryWatch(deps);
  let underWay = 0;

  async function askShadow(record: ShadowRecord, shadow: string, operation: Operation, body: Buffer, answer: Buffer) {
    underWay += 1;
    try {
      record.compare(operation, answer, await ask({ operation, model: shadow, body, on: 'shadow' }));
    } catch {
      record.failed();
    } finally {
      underWay -= 1;
    }
  }

  return {
    isShadowed({ snapshot, modelId = '', route, requestBytes }) {
      const shadow = snapshot.models.resolve(modelId)?.model.shadow;
      if (shadow === undefined || route === undefined || !listOperations.has(route.operation)) return false;
      return underWay < mostCopiesInFlight && requestBytes <= longestCopiedBytes && random() < shadow.share;
    },
    compare({ snapshot, modelId = '', route }, body, answer) {
      const model = snapshot.models.resolve(modelId)?.model;
      if (model?.shadow === undefined || route === undefined) return;
      const { model: shadow } = model.shadow;
      const name = JSON.stringify([model.id, shadow]);
      const record = getOrMake(records, name, () => createShadowRecord(model.id, shadow));
      void askShadow(record, shadow, route.operation, body, answer);
    },
    state: () => ({
      shadows: [...records.values()].map(({ agreement }) => agreement()),
      canaries: canaries.states(),
    }),
    adopt: (snapshot) => canaries.adopt(snapshot),
    close: () => canaries.close(),
  };
}
