/** Finds and replaces values in trees of plain values, such as a parsed configuration. */

import { isMapping } from '../../lib/is-mapping.ts';
import { emptyMapping } from './columns.ts';
import type { Path } from './faults.ts';

/** The parts of a configuration: its sections, and lists element by element, so that the caller can pause between them. */
export function* partsOf(tree: unknown): Generator<readonly [path: Path, part: unknown], void, undefined> {
  if (!isMapping(tree)) {
    yield [[], tree];
    return;
  }
  for (const [key, section] of Object.entries(tree)) {
    if (!Array.isArray(section)) yield [[key], section];
    else for (const [index, element] of section.entries()) yield [[key, index], element];
  }
}

export function listAt(tree: unknown, list: string): readonly unknown[] {
  const found = isMapping(tree) ? tree[list] : undefined;
  return Array.isArray(found) ? found : [];
}

export interface FoundText {
  readonly path: Path;
  readonly text: string;
}

interface Wanted {
  fits(text: string): boolean;
  /** Whether keys are searched too; the path of a key is that of its value. */
  readonly keys?: boolean;
}

/** The matching texts inside a value. `path`: that of the value itself. */
export function textsIn(value: unknown, path: Path, wanted: Wanted): FoundText[] {
  if (typeof value === 'string') return wanted.fits(value) ? [{ path, text: value }] : [];
  // Paths are built only where a text matches.
  if (typeof value !== 'object' || value === null || !holdsText(value, wanted)) return [];
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...entries].flatMap(([step, inner]) => {
    const at = [...path, step];
    const isFound = wanted.keys === true && typeof step === 'string' && wanted.fits(step);
    return [...(isFound ? [{ path: at, text: step }] : []), ...textsIn(inner, at, wanted)];
  });
}

function holdsText(value: unknown, wanted: Wanted): boolean {
  if (typeof value === 'string') return wanted.fits(value);
  if (typeof value !== 'object' || value === null) return false;
  if (wanted.keys === true && !Array.isArray(value) && Object.keys(value).some((key) => wanted.fits(key))) return true;
  return Object.values(value).some((inner) => holdsText(inner, wanted));
}

/** A tree in which values can be replaced. Only the changed parts are copied, each once. */
export class OwnedTree {
  tree: unknown;
  readonly #copies = new Set<unknown>();

  constructor(tree: unknown) {
    this.tree = tree;
  }

  /** Sets the value at a path and creates missing mappings on the way. A scalar in the way stays; it is a fault of its own. */
  put(path: Path, value: unknown): void {
    this.tree = this.#with(this.tree, path, value);
  }

  #with(around: unknown, [step, ...rest]: Path, value: unknown): unknown {
    if (step === undefined) return value;
    const own = this.#own(around, typeof step === 'number');
    if (own === undefined) return around;
    Reflect.set(own, step, this.#with(Reflect.get(own, step), rest, value));
    return own;
  }

  #own(around: unknown, isList: boolean): object | undefined {
    if (typeof around !== 'object' && around !== undefined) return undefined;
    if (Array.isArray(around) !== isList) return undefined;
    if (around !== null && this.#copies.has(around)) return around;
    const copy = Array.isArray(around) ? [...around] : Object.assign(emptyMapping(), around);
    this.#copies.add(copy);
    return copy;
  }
}
