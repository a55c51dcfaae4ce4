/** Reuse from one load of the configuration to the next: an element of the store that has not changed is not judged and compiled again. */

import type { FaultList, Warning } from '../read/faults.ts';

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
 * One step of a load, with what it made of each element. Elements are compared by identity, as the store hands out the same object
 * while nothing in it changes. What was at fault is made again each time, so that the fault is reported again.
 */
export class ReusableStep<T> {
  readonly #made = new WeakMap<object, Made<T>>();
  #isFresh = false;
  #passed = 0;

  /** `element` is undefined for one that is not of the store. Only what `inputs` hold and what never changes may go into the result. */
  of(element: object | undefined, inputs: readonly unknown[], { faults, warnings }: Reports, make: () => T): T {
    if (element === undefined) {
      this.#isFresh = true;
      return make();
    }
    const known = this.#made.get(element);
    if (known !== undefined && isSame(known.inputs, inputs)) {
      if (known.warnings.length > 0) warnings.push(...known.warnings);
      return known.result;
    }
    this.#isFresh = true;
    const { reports } = faults;
    const { length } = warnings;
    const result = make();
    if (faults.reports === reports) this.#made.set(element, { inputs, result, warnings: warnings.slice(length) });
    return result;
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

/** Where it is of the store: the next load has the same one. */
export const reusable = <T extends { readonly createdAtMs?: number | undefined }>(element: T): T | undefined =>
  element.createdAtMs === undefined ? undefined : element;

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
