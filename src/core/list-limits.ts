/** Limits of the list sizes in one call. */

import type { Options } from './options.ts';

/** Limits of one call to a target; an undefined one is for the upstream to enforce. */
export interface ListLimits {
  readonly items?: number | undefined;
  /** Estimated high: one for three bytes. */
  readonly tokens?: number | undefined;
  /** Of the items, as JSON. */
  readonly bytes?: number | undefined;
}

/** A family's limits; perhaps by the upstream's name for the model, and by its options. */
export type KnownLimits = ListLimits | ((model: string, options: Options) => ListLimits);

export function limitsFor(known: KnownLimits | undefined, model: string, options: Options): ListLimits {
  return (typeof known === 'function' ? known(model, options) : known) ?? noLimits;
}

const noLimits: ListLimits = Object.freeze({});
