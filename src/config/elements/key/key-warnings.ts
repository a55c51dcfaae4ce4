/** What is legal in the terms of a key, and yet most often a slip. */

import type { KeyRecord } from '../../../core/key.ts';
import type { Model, ModelIndex, Snapshot } from '../../../core/snapshot.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import { suggestion } from '../../read/faults.ts';
import { reaches } from '../model/price-warnings.ts';

export function modelWarnings(patterns: readonly string[], models: ModelIndex): string[] {
  const warnings = [];
  for (const name of patterns) {
    if (name.includes('*')) {
      if (name !== '*' && !models.all.some(({ id }) => reaches(name, id))) {
        warnings.push(`no model fits "${name}" as yet`);
      }
      continue;
    }
    const resolved = models.resolve(name);
    if (resolved === undefined) {
      const ids = models.all.map(({ id }) => id);
      warnings.push(`there is no model "${name}" as yet${suggestion(nearestName(name, ids))}`);
    } else if (resolved.id !== name) {
      warnings.push(`"${name}" is an alias, and keys are judged by the model's ID: use ${resolved.id}`);
    }
  }
  return warnings;
}

/** Of a key that has a budget, or whose project has one: models that cost nothing as far as it can be told. */
export function unpricedWarnings(
  { models: patterns, caps, project }: Pick<KeyRecord, 'models' | 'caps' | 'project'>,
  { models, projects }: Pick<Snapshot, 'models' | 'projects'>,
): string[] {
  const ofProject = project === undefined ? undefined : projects.get(project)?.caps;
  if (caps.budgets.length === 0 && (ofProject?.budgets.length ?? 0) === 0) return [];
  const unpriced = models.all.filter(
    (model) => hasUnknownPrice(model) && patterns.some((one) => reaches(one, model.id)),
  );
  if (unpriced.length === 0) return [];
  const [first, second, third, ...others] = unpriced.map(({ id }) => id);
  const named = [first, second, third].filter((id) => id !== undefined).join(', ');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return [
    `the price of ${named}${more} is not known, so the budget does not count what they cost; set it at the model`,
  ];
}

const hasUnknownPrice = ({ targets }: Model): boolean =>
  targets.some(({ price, weight }) => price === undefined && weight > 0);

/** Undefined where it is there; else what to say. A project that is not there would cap nothing. */
export function unknownProject(id: string, known: ReadonlySet<string>, whatToDo: string): string | undefined {
  if (known.has(id)) return undefined;
  return `there is no project "${id}"${suggestion(nearestName(id, known)) || `; ${whatToDo}`}`;
}
