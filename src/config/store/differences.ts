/** What is different between two documents, field by field, as people may see it. */

import { isDeepStrictEqual } from 'node:util';
import { type Path, toPathText } from '../read/faults.ts';

export interface Difference {
  readonly path: string;
  /** Undefined where there was nothing. */
  readonly before: unknown;
  /** Undefined where there is nothing any more. */
  readonly after: unknown;
}

/** A document as it is, and as it is shown. */
export interface Shown {
  readonly real: unknown;
  readonly shown: unknown;
}

const anotherSecret = '(another secret)';

export function differencesOf(before: Shown, after: Shown): Difference[] {
  const [was, is, wasShown, isShown] = [before.real, after.real, before.shown, after.shown].map(leavesOf);
  if (was === undefined || is === undefined || wasShown === undefined || isShown === undefined) return [];
  const paths = new Set([...was.keys(), ...is.keys()]);
  return [...paths].flatMap((path): Difference[] => {
    if (isDeepStrictEqual(was.get(path), is.get(path))) return [];
    const one = { path, before: wasShown.get(path), after: isShown.get(path) };
    return [isDeepStrictEqual(one.before, one.after) ? { ...one, after: anotherSecret } : one];
  });
}

/** Values that hold no others, by their path. */
function leavesOf(document: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  function walk(value: unknown, path: Path): void {
    if (value === undefined) return;
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (inner.length === 0) leaves.set(toPathText(path), value);
    for (const [step, item] of inner) walk(item, [...path, Array.isArray(value) ? Number(step) : step]);
  }
  walk(document, []);
  return leaves;
}

/** `limits.requests_per_minute: 60 -> 70`. */
export function inWords({ path, before, after }: Difference): string {
  const [was, is] = [before, after].map((value) => (value === undefined ? 'nothing' : JSON.stringify(value)));
  return `${path}: ${was} -> ${is}`;
}
