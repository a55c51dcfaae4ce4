/** How far a new gateway has come: a key, a first request, a first try in the Playground. */

import type * as z from 'zod';
import { bodyOf, canBeShown, operationRows, operationsAsOffered, pathOf } from '../../core/operations/index.ts';
import type { AdminContext } from '../context.ts';
import { isConsoleKey } from '../playground/console-key.ts';
import type { firstSteps } from './contract/state.ts';

const spanMs = 30 * 86_400_000;

export async function readFirstSteps(context: AdminContext): Promise<z.input<typeof firstSteps>> {
  const { store, clock, configuration } = context;
  const snapshot = configuration.snapshot();
  const [keys, lines] = await Promise.all([
    store.keys.list(),
    store.ledger.usage({ fromMs: clock.nowMs() - spanMs }, ['key']),
  ]);
  const own = new Set(keys.filter(isConsoleKey).map(({ id }) => id));
  const works = keys.filter(({ id, revokedAtMs }) => !own.has(id) && revokedAtMs === undefined);
  const count = (isOwn: boolean): number =>
    lines.reduce((sum, { by, sums }) => (own.has(by.key ?? '') === isOwn ? sum + sums.requests : sum), 0);
  return {
    hasKey: works.length > 0 || snapshot.keys.size > 0,
    requests: count(false),
    tries: count(true),
    sample: toSample(context),
  };
}

function toSample({ configuration }: AdminContext): z.input<typeof firstSteps>['sample'] {
  const models = configuration.snapshot().models.all.filter(({ id, visible }) => visible && !id.includes('*'));
  for (const operation of operationsAsOffered) {
    const model = models.find(({ operations }) => operations.includes(operation));
    if (model === undefined || !canBeShown(operation)) continue;
    const { sample } = operationRows[operation];
    return { path: pathOf(operation, model.id), body: JSON.stringify(bodyOf(operation, model.id, sample.body)) };
  }
  return null;
}
