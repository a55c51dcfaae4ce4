/** A custom route: its path, its upstream path, and its settings. */

import type { Lane } from './lane.ts';
import type { QueryGrammar } from './query.ts';

export interface CustomRoute {
  /** Clients call it under the base path; `{model}` stands for the model's name. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** The upstream's path, for any family; `{model}` stands for the upstream's name for the model. */
  readonly offer: { readonly path: string };
  /** The route's name in ledger and log. */
  readonly label: string;
  /** The only upstreams it may be sent to; any where undefined. */
  readonly upstreams: ReadonlySet<string> | undefined;
  readonly model: CustomModelSource;
  readonly lane?: Lane | undefined;
  readonly takesForms: boolean;
  readonly query: QueryGrammar | undefined;
  /** Override the upstream's. */
  readonly timeouts: {
    readonly connectMs?: number;
    readonly firstByteMs?: number;
    readonly idleMs?: number;
    readonly totalMs?: number;
  };
  /** Where counts are in a whole answer, as dotted names; the usual fields of OpenAI and others where undefined. */
  readonly usage: OwnUsage | undefined;
  /** Upper bounds of one answer's counts, where known. */
  readonly most: { readonly output: number | undefined; readonly units: number | undefined };
}

export interface OwnUsage {
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly units: string | undefined;
}

export type CustomModelSource =
  /** A field of the body, or a part of a form. */
  | { readonly from: 'field'; readonly name: string }
  | { readonly from: 'header'; readonly name: string }
  | { readonly from: 'path' }
  /** Always the same model. */
  | { readonly from: 'nowhere'; readonly id: string };
