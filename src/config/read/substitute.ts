/** Substitutes environment variables in a configuration: `${NAME}` and `${NAME:-default}` in values, never in keys. */

import { isMapping } from '../../lib/is-mapping.ts';
import { atOnce } from '../../lib/time-slices.ts';
import { emptyMapping } from './columns.ts';
import { type FaultList, type Path, toPathText } from './faults.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Substitution {
  readonly tree: unknown;
  /** Whether something was put into the value there, which a message must not repeat. */
  isSubstituted(path: Path): boolean;
  /** The variables that the values refer to, whether they are set or not. */
  readonly names: ReadonlySet<string>;
}

const references = /\$\$\{|\$\{([^}]*)(\}?)/g;
const reference = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

export function substitute(tree: unknown, environment: Environment, faults: FaultList): Substitution {
  return atOnce(substituting(tree, environment, faults));
}

/** The same in steps: every `yield` is a place to stop at. What refers to nothing is handed on as it is. */
export function* substituting(
  tree: unknown,
  environment: Environment,
  faults: FaultList,
): Generator<undefined, Substitution, undefined> {
  const substituted = new Set<string>();
  const names = new Set<string>();

  function inValue(value: unknown, path: Path): unknown {
    if (typeof value === 'string') return value.includes('${') ? inText(value, path) : value;
    if (!refers(value)) return value;
    if (Array.isArray(value)) return value.map((item, index) => inValue(item, [...path, index]));
    if (!isMapping(value)) return value;
    const mapping = emptyMapping();
    for (const [key, item] of Object.entries(value)) mapping[key] = inValue(item, [...path, key]);
    return mapping;
  }

  function* inSections(sections: unknown): Generator<undefined, unknown, undefined> {
    if (!isMapping(sections)) return inValue(sections, []);
    const mapping = emptyMapping();
    for (const [key, section] of Object.entries(sections)) {
      mapping[key] = Array.isArray(section) ? yield* inList(section, [key]) : inValue(section, [key]);
    }
    return mapping;
  }

  function* inList(list: readonly unknown[], path: Path): Generator<undefined, unknown[], undefined> {
    const result: unknown[] = [];
    for (const [index, item] of list.entries()) {
      yield;
      result.push(inValue(item, [...path, index]));
    }
    return result;
  }

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

  const result = yield* inSections(tree);
  return {
    tree: result,
    isSubstituted: (path) => substituted.size > 0 && substituted.has(toPathText(path)),
    names,
  };
}

/** Whether a reference stands anywhere in it. */
function refers(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(refers);
}

function missingVariable(name: string): string {
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}`;
}
