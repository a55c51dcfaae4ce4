/** The vector space of a model's embeddings: vectors of different spaces must never be mixed. */

import type { Operation } from '../../../core/operations/index.ts';
import { toPathText } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { Entry } from '../document.ts';
import type { ModelEntry } from './schema.ts';
import { nameOf, type PlacedTarget, type PlacedTargets, serves } from './targets.ts';

/** Without a declared space, all targets that embed have to name the same model. Undefined: there is none, or one for each name. */
export function toSpace(
  { path, value }: Entry<ModelEntry>,
  served: readonly Operation[],
  called: PlacedTargets,
  context: CompileContext,
): string | undefined {
  if (!served.includes('embeddings')) {
    if (value.space !== undefined) {
      context.warnings.push(`${toPathText([...path, 'space'])} has no effect, as the model does not serve embeddings`);
    }
    return undefined;
  }
  if (value.space !== undefined) return value.space;
  const embedding = called.filter((target) => serves(target, 'embeddings'));
  const names = new Set(embedding.map(({ target }) => target.model));
  if (names.size > 1) {
    const naming = embedding.map((placed) => `${nameOf(placed)} names ${spell(placed, { path, value }, context)}`);
    context.faults.add(
      [...path, 'targets'],
      `${naming.join(', ')}, and vectors of different models must not be mixed; make each a model of its own, or set space where all of them make the same vectors`,
    );
  }
  const [name] = names;
  return name?.includes('*') ? undefined : name; // each name that the pattern matches is a space of its own
}

/** A target that leaves its model out goes by the model's ID, which stands in another place of the file. */
function spell({ path, target }: PlacedTarget, model: Entry<ModelEntry>, { isSubstituted }: CompileContext): string {
  const place = target.model === model.value.id ? [...model.path, 'id'] : [...path, 'model'];
  return isSubstituted(place) ? 'one from the environment' : JSON.stringify(target.model);
}
