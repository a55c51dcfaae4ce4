/** Reuse from one load of the configuration to the next: an element of the store that has not changed is not judged and compiled again. */

import type { FaultList } from '../read/faults.ts';

interface Reports {
  readonly faults: FaultList;
  readonly warnings: string[];
}

interface Made<T> {
  /** All that it was made of, beside the element. */
  readonly inputs: readonly unknown[];
  readonly result: T;
  readonly warnings: readonly string[];
}

/**
 * One step of a load, with what it made of each element. Elements are compared by identity, as the store hands out the same object
 * while nothing in it changes. What was at fault is made again each time, so that the fault is reported again.
 */
export class ReusableStep<T> {
  readonly #made = new WeakMap<object, Made<T>>();

  /** `element` is undefined for one that is not of the store. Only what `inputs` hold and what never changes may go into the result. */
  of<C extends Reports>(
    element: object | undefined,
    inputs: readonly unknown[],
    context: C,
    make: (context: C) => T,
  ): T {
    if (element === undefined) return make(context);
    const known = this.#made.get(element);
    if (known !== undefined && isSame(known.inputs, inputs)) {
      context.warnings.push(...known.warnings);
      return known.result;
    }
    const faults = new NotedFaults(context.faults);
    const warnings: string[] = [];
    const result = make({ ...context, faults, warnings });
    context.warnings.push(...warnings);
    if (!faults.isAny) this.#made.set(element, { inputs, result, warnings });
    return result;
  }
}

/** Where it is of the store: the next load has the same one. */
export const reusable = <T extends { readonly createdAtMs?: number | undefined }>(element: T): T | undefined =>
  element.createdAtMs === undefined ? undefined : element;

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((input, index) => input === other[index]);

/** Reports to another list, and knows whether anything was reported. */
class NotedFaults implements FaultList {
  isAny = false;
  readonly #list: FaultList;

  constructor(list: FaultList) {
    this.#list = list;
  }

  add(...fault: Parameters<FaultList['add']>): void {
    this.isAny = true;
    this.#list.add(...fault);
  }

  hush(path: Parameters<FaultList['hush']>[0]): void {
    this.isAny = true;
    this.#list.hush(path);
  }

  all: FaultList['all'] = () => this.#list.all();
}
