/** Substitutes environment variables in a configuration: `${NAME}` and `${NAME:-default}` in values, never in keys. */

import { isMapping } from '../../lib/is-mapping.ts';
import { atOnce } from '../../lib/time-slices.ts';
import { type FaultList, type Path, toPathText } from './faults.ts';
import { OwnedTree, partsOf, textsIn } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Substitution {
  readonly tree: unknown;
  /** Whether the value at a path has text from the environment, which messages must not repeat. */
  isSubstituted(path: Path): boolean;
  readonly substituted: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

const references = /\$\$\{|\$\{([^}]*)(\}?)/g;
const reference = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** Parts of the configuration without a reference, which need not be searched again while the file is unchanged. */
const withoutReferences = new WeakSet<object>();

export function substitute(tree: unknown, environment: Environment, faults: FaultList): Substitution {
  return atOnce(substituting(tree, environment, faults));
}

/** Substitutes in steps: it may pause at every `yield`. Values without a reference are not copied. */
export function* substituting(
  tree: unknown,
  environment: Environment,
  faults: FaultList,
): Generator<undefined, Substitution, undefined> {
  const substituted = new Set<string>();
  const names = new Set<string>();

  function inText(text: string, path: Path): string {
    const missing: string[] = [];
    const result = text.replace(references, (whole: string, body?: string, end?: string) => {
      if (body === undefined) return '${'; // `$${` is the literal spelling
      const [, name, fallback] = (end === '}' && reference.exec(body)) || [];
      if (name === undefined) {
        missing.push(`holds a \${ that is not \${NAME} or \${NAME:-default}; write $\${ for a literal one`);
        return whole;
      }
      substituted.add(toPathText(path));
      names.add(name);
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (fallback !== undefined) return value || fallback;
      if (value === undefined) missing.push(missingVariable(name));
      return value ?? whole;
    });
    for (const message of missing) faults.add(path, message);
    if (missing.length > 0) faults.hush(path);
    return result;
  }

  const own = new OwnedTree(tree);
  for (const [at, part] of partsOf(tree)) {
    if (isMapping(part) && withoutReferences.has(part)) continue;
    yield;
    const found = textsIn(part, at, { fits: (text) => text.includes('${') });
    for (const { path, text } of found) own.put(path, inText(text, path));
    if (isMapping(part) && found.length === 0) withoutReferences.add(part);
  }
  return {
    tree: own.tree,
    isSubstituted: (path) => substituted.size > 0 && substituted.has(toPathText(path)),
    substituted,
    names,
  };
}

function missingVariable(name: string): string {
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}`;
}
