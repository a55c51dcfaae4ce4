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

  /** `element` is undefined for one that is not of the store. Only what `inputs` hold and what never changes may go into the result. */
  of(element: object | undefined, inputs: readonly unknown[], { faults, warnings }: Reports, make: () => T): T {
    if (element === undefined) return make();
    const known = this.#made.get(element);
    if (known !== undefined && isSame(known.inputs, inputs)) {
      warnings.push(...known.warnings);
      return known.result;
    }
    const { reports } = faults;
    const { length } = warnings;
    const result = make();
    if (faults.reports === reports) this.#made.set(element, { inputs, result, warnings: warnings.slice(length) });
    return result;
  }
}

/** Where it is of the store: the next load has the same one. */
export const reusable = <T extends { readonly createdAtMs?: number | undefined }>(element: T): T | undefined =>
  element.createdAtMs === undefined ? undefined : element;

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((input, index) => input === other[index]);
