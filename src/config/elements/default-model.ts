/** Compiles the `default_model` section: which model serves a request that names none. */

import type * as z from 'zod';
import { byOperation, type Operation, operations } from '../../core/operations/index.ts';
import type { ModelIndex } from '../../core/snapshot.ts';
import type { Location } from './context.ts';
import { mapping, modelName } from './fields.ts';

const defaultFor = () => modelName().optional().describe('Model for requests without one.').meta({ kind: 'model' });

export const defaultModelSchema = mapping(byOperation(defaultFor));

/** Compiles the section. `modelNames`: the names of all configured models, valid or not. */
export function toDefaultModels(
  written: z.output<typeof defaultModelSchema>,
  modelNames: ReadonlySet<string>,
  models: ModelIndex,
  location: Location,
): Readonly<Partial<Record<Operation, string>>> {
  const result: Partial<Record<Operation, string>> = {};
  for (const operation of operations) {
    const name = written[operation];
    if (name === undefined) continue;
    const at = location.at(operation);
    const model = name.includes('*') ? undefined : models.resolve(name)?.model;
    if (model === undefined) {
      if (modelNames.has(name) && !name.includes('*')) continue; // it is in the file, with a fault of its own
      const ids = models.all.map(({ id }) => id);
      at.unknown('unknown model', name, ids);
    } else if (!model.operations.includes(operation)) {
      at.fault(`${at.quoted(name)} does not serve ${operation}; it serves ${model.operations.join(', ')}`);
    }
    result[operation] = name;
  }
  return Object.freeze(result);
}
