/** Lets one load of the configuration reuse results of the load before: an unchanged element is not validated and compiled again. */

import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../lib/is-mapping.ts';
import { emptyMapping } from '../read/columns.ts';
import type { FaultList, Warning } from '../read/faults.ts';
import type { Substitution } from '../read/substitute.ts';

interface Reports {
  readonly faults: Pick<FaultList, 'reports'>;
  readonly warnings: Warning[];
}

interface Made<T> {
  /** Everything that the result was made of, besides the element. */
  readonly inputs: readonly unknown[];
  readonly result: T;
  readonly warnings: readonly Warning[];
}

/**
 * One step of a load, which remembers its result for each element. Elements are compared by identity: store and `keepingElements`
 * return the same object while nothing in it changes. The step is run again for an element with a fault, to report that again.
 */
export class ReusableStep<T> {
  readonly #made = new WeakMap<object, Made<T>>();
  #isFresh = false;
  #passed = 0;

  /** The remembered result, or else that of `make`, which may only use `inputs` and what never changes. `element` undefined: always made. */
  of(element: object | undefined, inputs: readonly unknown[], reports: Reports, make: () => T): T {
    const known = element && this.#known(element, inputs, reports);
    if (known !== undefined) return known.result;
    const keep = this.#making(element, inputs, reports);
    return keep(make());
  }

  /** The remembered result, or else that of work that may pause at every `yield`. */
  *steps(
    element: object,
    inputs: readonly unknown[],
    reports: Reports,
    make: () => Generator<undefined, T, undefined>,
  ): Generator<undefined, T, undefined> {
    const known = this.#known(element, inputs, reports);
    if (known !== undefined) return known.result;
    const keep = this.#making(element, inputs, reports);
    return keep(yield* make());
  }

  #known(element: object, inputs: readonly unknown[], { warnings }: Reports): Made<T> | undefined {
    const known = this.#made.get(element);
    if (known === undefined || !isSame(known.inputs, inputs)) return undefined;
    if (known.warnings.length > 0) warnings.push(...known.warnings);
    return known;
  }

  #making(element: object | undefined, inputs: readonly unknown[], { faults, warnings }: Reports): (result: T) => T {
    this.#isFresh = true;
    const { reports } = faults;
    const { length } = warnings;
    return (result) => {
      if (element !== undefined && faults.reports === reports) {
        this.#made.set(element, { inputs, result, warnings: warnings.slice(length) });
      }
      return result;
    };
  }

  /** Whether a loop over elements should pause: after each element that was not remembered, and after some of the others. */
  isPauseDue(): boolean {
    this.#passed += 1;
    if (!this.#isFresh && this.#passed % lightAtOnce !== 0) return false;
    this.#isFresh = false;
    return true;
  }
}

/** Elements between two pauses, where each takes at most a microsecond or two. */
export const lightAtOnce = 64;

/** A value of the file as an element that can be compared by identity; undefined where it is no mapping. */
export const toElement = (part: unknown): object | undefined => (isMapping(part) ? part : undefined);

export const silent: Reports = { faults: { reports: 0 }, warnings: [] };

export const none: readonly unknown[] = [];

/** Returns the earlier list where both have the same elements, so that lists can be compared by identity. */
export function sameList<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return isSame(before, now) ? before : now;
}

/** Lists whose elements are remembered. Keys are not, because their secrets would stay in memory. */
const keptLists = ['upstreams', 'models', 'projects'];
const keptElements = new Map<string, readonly KeptElement[]>();

interface KeptElement {
  readonly element: unknown;
  /** The paths of the element's values that come from the environment or a secret's file. */
  readonly substituted: string;
}

/** The file with each element that equals the last load's at the same place replaced by that object. It may pause at every `yield`. */
export function* keepingElements({ tree, substituted }: Substitution): Generator<undefined, unknown, undefined> {
  if (!isMapping(tree)) return tree;
  const content = Object.assign(emptyMapping(), tree);
  const paths = Map.groupBy(substituted, (path) => path.slice(0, path.indexOf(']') + 1));
  for (const list of keptLists) {
    const elements = tree[list];
    const before = keptElements.get(list) ?? [];
    const kept: KeptElement[] = [];
    for (const [index, element] of Array.isArray(elements) ? elements.entries() : []) {
      if (index % lightAtOnce === 0) yield;
      const now = { element, substituted: (paths.get(`${list}[${index}]`) ?? []).join(' ') };
      const known = before[index];
      kept.push(known !== undefined && isEqual(known, now) ? known : now);
    }
    keptElements.set(list, kept);
    if (Array.isArray(elements)) content[list] = kept.map(({ element }) => element);
  }
  return content;
}

function isEqual(one: KeptElement, other: KeptElement): boolean {
  if (one.substituted !== other.substituted) return false;
  return one.element === other.element || isDeepStrictEqual(one.element, other.element);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
