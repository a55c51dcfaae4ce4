/** Warns of key settings that are valid but usually a mistake, and reports an unknown project. */

import type { KeyRecord } from '../../../core/key.ts';
import type { Model, ModelIndex, Snapshot } from '../../../core/snapshot.ts';
import { inShort } from '../../../lib/in-short.ts';
import { nearestName, toHint } from '../../../lib/nearest-name.ts';
import { withMasks } from '../../../lib/secrets/secret-shapes.ts';
import { misplacedWarnings } from '../misplaced-secrets.ts';
import { hasBudgets, reaches } from '../model/price-warnings.ts';

type NamedKey = Pick<KeyRecord, 'models' | 'caps' | 'project' | 'metadata'> & {
  readonly name?: string | undefined;
};

export function keyWarnings(key: NamedKey, snapshot: Pick<Snapshot, 'models' | 'projects'>): string[] {
  const { name, models, metadata } = key;
  return [
    ...misplacedWarnings({ name, models, metadata }),
    ...modelWarnings(models, snapshot.models),
    ...unpricedWarnings(key, snapshot),
  ].map(withMasks);
}

export function modelWarnings(patterns: readonly string[], models: ModelIndex): string[] {
  const ids = models.all.map(({ id }) => id);
  return patterns.flatMap((name) => {
    const shown = JSON.stringify(name);
    if (!name.includes('*')) return modelWarning(name, shown, models, (near) => nearestName(near, ids)) ?? [];
    return name === '*' || ids.some((id) => reaches(name, id)) ? [] : `no model fits ${shown} as yet`;
  });
}

/** People recognise keys by their name: two unrevoked keys should not have the same. */
export function nameWarnings(
  { id, name }: { readonly id: string; readonly name: string },
  others: readonly { readonly id: string; readonly name: string; readonly revokedAtMs: number | undefined }[],
): string[] {
  const same = others.find((other) => other.name === name && other.id !== id && other.revokedAtMs === undefined);
  if (name === '' || same === undefined) return [];
  return [`the key ${same.id} has this name too; give one of them another name`];
}

/** Warns where no model has this name. It stays valid, as models come and go. `shown`: the name as the message has it. */
export function modelWarning(
  name: string,
  shown: string,
  models: ModelIndex,
  nearest: (name: string) => string | undefined,
): string | undefined {
  const resolved = models.resolve(name);
  if (resolved === undefined) return `there is no model ${shown} as yet${toHint(nearest(name))}`;
  if (resolved.id === name) return undefined;
  return `${shown} is an alias, and keys are judged by the model's ID: write ${resolved.id}`;
}

/** Warns of models whose cost is unknown, where the key or its project has a budget. */
function unpricedWarnings(
  { models: patterns, caps, project }: Pick<KeyRecord, 'models' | 'caps' | 'project'>,
  { models, projects }: Pick<Snapshot, 'models' | 'projects'>,
): string[] {
  const ofProject = project === undefined ? undefined : projects.get(project)?.caps;
  if (!hasBudgets(caps) && !hasBudgets(ofProject)) return [];
  const unpriced = models.all.filter(hasUnknownPrice).map(({ id }) => id);
  const reached = unpriced.filter((id) => patterns.some((one) => reaches(one, id)));
  if (reached.length === 0) return [];
  return [
    `the price of ${inShort(reached, 3)} is not known, so the budget does not count what they cost; set it at the model`,
  ];
}

const hasUnknownPrice = ({ targets }: Model): boolean =>
  targets.some(({ price, weight }) => price === undefined && weight > 0);

/** The fault for an unknown project, which would give its keys no limits and budgets; undefined where it exists. */
export function unknownProject(id: string, known: ReadonlySet<string>): string | undefined {
  return known.has(id) ? undefined : unknownProjectFault(JSON.stringify(id), nearestName(id, known));
}

export function unknownProjectFault(shown: string, near: string | undefined): string {
  return `unknown project ${shown}${toHint(near, '; declare it under projects, in the file or in the store')}`;
}
