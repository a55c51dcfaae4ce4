/** Limits of the list sizes in one call. */

import type { Options } from './options.ts';

/** What one call to a target may hold at most; what is not said is for the upstream to judge. */
export interface ListLimits {
  readonly items?: number | undefined;
  /** Estimated, and rather too high: one for three bytes. */
  readonly tokens?: number | undefined;
  /** Of the items, as JSON. */
  readonly bytes?: number | undefined;
}

/** What is known of a family; perhaps by the upstream's name for the model, and by its options. */
export type KnownLimits = ListLimits | ((model: string, options: Options) => ListLimits);

export function limitsFor(known: KnownLimits | undefined, model: string, options: Options): ListLimits {
  return (typeof known === 'function' ? known(model, options) : known) ?? noLimits;
}

const noLimits: ListLimits = Object.freeze({});
