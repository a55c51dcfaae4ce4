/** What a model serves: what its file says, held against what its targets offer. */

import { companionsOf, type Operation, operationRows, operations } from '../../../core/operations/index.ts';
import { toPathText } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { Entry } from '../document.ts';
import type { ModelEntry } from './schema.ts';
import { nameOf, type PlacedTarget, type PlacedTargets, servedBy, serves } from './targets.ts';

/** `called` are the targets with a weight; while one of the targets is at fault, what is missing may be its. */
export function toOperations(
  { path, value }: Entry<ModelEntry>,
  called: PlacedTargets,
  isComplete: boolean,
  context: CompileContext,
): Operation[] {
  if (value.operations === undefined) return toOffered(called, [...path, 'operations'], context);
  const served = [...new Set(value.operations)];
  for (const operation of served) {
    const lacking = called.filter((target) => !serves(target, operation));
    if (lacking.length < called.length) {
      for (const target of lacking) context.warnings.push(passedOver(target, operation));
    } else if (isComplete) {
      context.faults.add(
        [...path, 'operations', value.operations.indexOf(operation)],
        `${operation} is not offered by ${lacking.map(offer).join(', nor by ')}`,
      );
    }
  }
  const companions = companionsOf(served, (operation) => called.some((target) => serves(target, operation)));
  return [...served, ...companions.filter((operation) => operationRows[operation].isImplied === true)];
}

/** What any of them offers. */
function toOffered(
  called: PlacedTargets,
  path: readonly (string | number)[],
  { warnings }: CompileContext,
): Operation[] {
  const all = new Set(called.flatMap(servedBy));
  const offered = operations.filter((operation) => all.has(operation));
  if (offered.length > 1) {
    const families = [...new Set(called.map(({ target }) => target.upstream.family.id))];
    const who =
      families.length === 1 ? `family ${families[0]}, which offers` : `families ${families.join(' and ')}, which offer`;
    warnings.push(`${toPathText(path)} is left to ${who} ${offered.join(', ')}; name those that the model serves`);
  }
  return offered;
}

function passedOver({ path, target }: PlacedTarget, operation: Operation): string {
  return `${toPathText(path)}: family ${target.upstream.family.id} does not offer ${operation}, so this target is passed over for it`;
}

function offer(placed: PlacedTarget): string {
  const offered = servedBy(placed).join(', ') || 'nothing';
  return `${nameOf(placed)} (family ${placed.target.upstream.family.id}), which offers ${offered}`;
}
