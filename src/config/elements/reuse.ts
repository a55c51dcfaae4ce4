/** Reuse from one load of the configuration to the next: an element that has not changed is not judged and compiled again. */

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
  /** All that it was made of, beside the element. */
  readonly inputs: readonly unknown[];
  readonly result: T;
  readonly warnings: readonly Warning[];
}

/**
 * One step of a load, with what it made of each element. Elements are compared by identity: the store hands out the same object while
 * nothing in it changes, and `keepingElements` does for the file. What was at fault is made again each time, so that the fault is reported again.
 */
export class ReusableStep<T> {
  readonly #made = new WeakMap<object, Made<T>>();
  #isFresh = false;
  #passed = 0;

  /** `element` is undefined for one that is made anew each time. Only what `inputs` hold and what never changes may go into the result. */
  of(element: object | undefined, inputs: readonly unknown[], reports: Reports, make: () => T): T {
    const known = element && this.#known(element, inputs, reports);
    if (known !== undefined) return known.result;
    const keep = this.#making(element, inputs, reports);
    return keep(make());
  }

  /** The same for work that may pause at every `yield`. */
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

  /** For a loop over elements: whether to pause, which is after each one that was made anew, and now and then after others. */
  isPauseDue(): boolean {
    this.#passed += 1;
    if (!this.#isFresh && this.#passed % lightAtOnce !== 0) return false;
    this.#isFresh = false;
    return true;
  }
}

/** Elements between two pauses where each takes less than a microsecond or two. */
export const lightAtOnce = 64;

/** A part of the file, where it has an identity. */
export const toElement = (part: unknown): object | undefined => (isMapping(part) ? part : undefined);

/** For a step that reports nothing. */
export const silent: Reports = { faults: { reports: 0 }, warnings: [] };

/** Inputs of a step that needs the element alone. */
export const none: readonly unknown[] = [];

/** The list of before where it has the same elements, so that it can be compared by identity. */
export function sameList<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return isSame(before, now) ? before : now;
}

/** Keys are not among them: their secrets would stay in memory. */
const keptLists = ['upstreams', 'models', 'projects'];
const keptElements = new Map<string, readonly KeptElement[]>();

interface KeptElement {
  readonly element: unknown;
  /** The paths of its values that are from the environment or a file of their own. */
  readonly substituted: string;
}

/** The file's content, where elements equal to those of the last load, in the same place of the list, are the same objects. It may pause at every `yield`. */
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
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
