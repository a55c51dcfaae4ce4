/** Whether models are what they were, and agree with their shadows: of what all nodes say, one line for each. */

import type * as z from 'zod';
import type { CanaryState, ShadowAgreement } from '../../core/drift.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { HealthReport } from '../../core/target-state.ts';
import type { agreement } from './contract/state.ts';

type Agreement = z.input<typeof agreement>;

/** Of models that there still are, in the order of the configuration; from the reports of nodes that have not fallen silent. */
export function toAgreements(snapshot: Snapshot, reports: readonly HealthReport[]): Agreement[] {
  const said = reports.flatMap(({ drift }) => drift ?? []);
  const shadows = Map.groupBy(
    said.flatMap((drift) => drift.shadows),
    ({ model }) => model,
  );
  const canaries = Map.groupBy(
    said.flatMap((drift) => drift.canaries),
    ({ model }) => model,
  );
  return snapshot.models.all.flatMap(({ id }) => [
    ...together(shadows.get(id) ?? [], ({ shadow }) => shadow, ofShadow),
    ...together(canaries.get(id) ?? [], nameOf, ofCanary),
  ]);
}

const nameOf = ({ upstream, upstreamModel }: CanaryState): string => `${upstream}: ${upstreamModel}`;

function together<T>(
  all: readonly T[],
  nameFor: (one: T) => string,
  toLine: (name: string, said: readonly [T, ...T[]]) => Agreement,
): Agreement[] {
  return [...Map.groupBy(all, nameFor)].flatMap(([name, [first, ...others]]) =>
    first === undefined ? [] : [toLine(name, [first, ...others])],
  );
}

/** The measures that tell, the most exact first. */
const measures = ['cosine', 'ranks', 'verdicts', 'overlap'] as const;

/** The mean over nodes, by how much each has compared. */
function ofShadow(name: string, said: readonly [ShadowAgreement, ...ShadowAgreement[]]): Agreement {
  const measure = measures.find((one) => said.some((each) => each[one] !== null)) ?? null;
  let compared = 0;
  let sum = 0;
  for (const each of said) {
    const value = measure === null ? null : each[measure];
    if (value === null) continue;
    compared += each.compared;
    sum += value * each.compared;
  }
  return {
    model: said[0].model,
    with: name,
    kind: 'shadow',
    measure,
    value: compared === 0 ? null : sum / compared,
    compared: said.reduce((total, each) => total + each.compared, 0),
    hasChanged: false,
  };
}

/** The least that any node saw. */
function ofCanary(name: string, said: readonly [CanaryState, ...CanaryState[]]): Agreement {
  const values = said.flatMap(({ agreement: value }) => (value === null ? [] : [value]));
  return {
    model: said[0].model,
    with: name,
    kind: 'canary',
    measure: 'cosine',
    value: values.length === 0 ? null : Math.min(...values),
    compared: values.length,
    hasChanged: said.some(({ hasChanged }) => hasChanged),
  };
}
