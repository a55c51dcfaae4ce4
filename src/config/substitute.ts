/** Puts the environment into a configuration: `${NAME}` and `${NAME:-default}` in values, never in keys. */

import { type FaultList, type Path, toPathText } from './faults.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Substitution {
  readonly tree: unknown;
  /** Whether something was put into the value there, which a message must not repeat. */
  isSubstituted(path: Path): boolean;
}

const references = /\$\$\{|\$\{([^}]*)(\}?)/g;
const reference = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

export function substitute(tree: unknown, environment: Environment, faults: FaultList): Substitution {
  const substituted = new Set<string>();

  function inValue(value: unknown, path: Path): unknown {
    if (typeof value === 'string') return value.includes('${') ? inText(value, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => inValue(item, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    const mapping: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(value)) mapping[key] = inValue(item, [...path, key]);
    return mapping;
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
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (fallback !== undefined) return value || fallback;
      if (value === undefined) missing.push(missingVariable(name));
      return value ?? whole;
    });
    for (const message of missing) faults.add(path, message);
    if (missing.length > 0) faults.hush(path);
    return result;
  }

  return { tree: inValue(tree, []), isSubstituted: (path) => substituted.has(toPathText(path)) };
}

function missingVariable(name: string): string {
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}`;
}
