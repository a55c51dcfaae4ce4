/** A family's own settings: checked against what it declares, completed by its defaults. */

import { type Family, type Options, standardOptions } from '../../../core/family.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import { type Path, suggestion } from '../../read/faults.ts';
import { type CompileContext, quoted } from '../context.ts';
import type { UpstreamEntry } from './schema.ts';

/** Stands in a URL as it is. */
const plain = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;

export function toFamilyOptions(
  { options: written, base64 }: UpstreamEntry,
  family: Family,
  path: Path,
  context: CompileContext,
): Options {
  const { options: known = {} } = family;
  for (const [name, value] of Object.entries(written)) {
    const at = [...path, name];
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (option === undefined) {
      const hint = suggestion(nearestName(name, Object.keys(known))) || wordsFor(family, Object.keys(known));
      context.faults.add(at, `unknown option ${quoted(context, at, name)} of family ${family.id}${hint}`);
    } else if (option.values !== undefined && !option.values.includes(value)) {
      context.faults.add(at, `wanted: one of ${option.values.join(', ')}`);
    } else if (option.values === undefined && !(option.pattern ?? plain).test(value)) {
      context.faults.add(at, `wanted: ${option.form ?? option.description.replace(/\.$/, '')}`);
    }
  }
  for (const [name, { required, description }] of Object.entries(known)) {
    if (required && written[name] === undefined) {
      context.faults.add([...path, name], `is missing; family ${family.id} needs it: ${description}`);
    }
  }
  return Object.freeze({ ...standardOptions(family), ...written, base64 });
}

function wordsFor({ id }: Family, known: readonly string[]): string {
  return known.length === 0 ? `; family ${id} has none` : `; known are ${known.join(', ')}`;
}
