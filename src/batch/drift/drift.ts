/** Starts drift checks, which repeat requests at shadow models and at the same targets, and compare the results. */

import type { Buffer } from 'node:buffer';
import type { Drift, ShadowAgreement } from '../../core/drift.ts';
import { listOperations } from '../../core/lists.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { cosine } from '../../lib/unit-length.ts';
import { CanaryWatch } from './canary-watch.ts';
import {
  type DriftDeps,
  neighbourOverlap,
  type Pair,
  rankCorrelation,
  scoresIn,
  vectorsIn,
  verdictsIn,
} from './readings.ts';

/** How many of the latest items nearest neighbours are searched among. */
const mostRemembered = 64;
const neighbours = 5;

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number | undefined): void {
    if (value === undefined) return;
    this.#sum += value;
    this.#count += 1;
  }

  get value(): number | null {
    return this.#count === 0 ? null : this.#sum / this.#count;
  }
}

type ShadowRecord = ReturnType<typeof createShadowRecord>;

/** Compares a model with its shadow over time: keeps means, and the latest items, among which nearest neighbours are searched. */
function createShadowRecord(model: string, shadow: string) {
  const means = { cosine: new Mean(), overlap: new Mean(), ranks: new Mean(), verdicts: new Mean() };
  let compared = 0;
  let failed = 0;
  let recent: Pair[] = [];

  function compareVectors(before: readonly number[][] | undefined, after: readonly number[][] | undefined): boolean {
    if (before === undefined || after === undefined || before.length !== after.length) return false;
    for (const [index, vector] of before.entries()) {
      const pair = { before: vector, after: after[index] ?? [] };
      if (pair.before.length === pair.after.length) means.cosine.add(cosine(pair.before, pair.after));
      means.overlap.add(neighbourOverlap(pair, recent, neighbours));
      recent = [...recent.slice(1 - mostRemembered), pair];
    }
    return true;
  }

  function compareScores(before: readonly number[] | undefined, after: readonly number[] | undefined): boolean {
    if (before === undefined || after === undefined) return false;
    // With a limit of best results, the other items have no score.
    const both = [...before.keys()].filter((item) => before[item] !== undefined && after[item] !== undefined);
    const scoresOf = (scores: readonly number[]): number[] => both.map((item) => scores[item] ?? 0);
    means.ranks.add(rankCorrelation(scoresOf(before), scoresOf(after)));
    return both.length > 0;
  }

  function compareVerdicts(before: readonly boolean[] | undefined, after: readonly boolean[] | undefined): boolean {
    if (before === undefined || after === undefined || before.length !== after.length) return false;
    for (const [item, verdict] of before.entries()) means.verdicts.add(verdict === after[item] ? 1 : 0);
    return true;
  }

  return {
    agreement: (): ShadowAgreement => ({
      model,
      shadow,
      compared,
      failed,
      cosine: means.cosine.value,
      overlap: means.overlap.value,
      ranks: means.ranks.value,
      verdicts: means.verdicts.value,
    }),
    failed(): void {
      failed += 1;
    },
    compare(operation: Operation, before: Buffer, after: Buffer): void {
      const isCompared =
        operation === 'embeddings'
          ? compareVectors(vectorsIn(before), vectorsIn(after))
          : operation === 'rerank'
            ? compareScores(scoresIn(before), scoresIn(after))
            : compareVerdicts(verdictsIn(before), verdictsIn(after));
      if (isCompared) compared += 1;
      else failed += 1;
    },
  };
}

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
