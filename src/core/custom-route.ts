/** Defines a custom route: a path that the operator configured, its path at the upstream, and its settings. */

import type { Lane } from './lane.ts';
import type { QueryGrammar } from './query.ts';

export interface CustomRoute {
  /** The path that clients call, under the base path; `{model}` stands for the model's name. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** The path at the upstream, for any family; `{model}` stands for the upstream's name for the model. */
  readonly offer: { readonly path: string };
  readonly label: string;
  /** IDs of the only upstreams that the route may call; undefined: any upstream. */
  readonly upstreams: ReadonlySet<string> | undefined;
  readonly model: CustomModelSource;
  readonly lane?: Lane | undefined;
  readonly takesForms: boolean;
  readonly query: QueryGrammar | undefined;
  readonly timeouts: {
    readonly connectMs?: number;
    readonly firstByteMs?: number;
    readonly idleMs?: number;
    readonly totalMs?: number;
  };
  /** The positions of usage counts in an answer, as dotted names; the usual fields of OpenAI and others where undefined. */
  readonly usage: OwnUsage | undefined;
  /** Upper bounds of the counts of one answer, where known. */
  readonly most: { readonly output: number | undefined; readonly units: number | undefined };
}

export interface OwnUsage {
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly units: string | undefined;
}

export type CustomModelSource =
  /** The model is named in a field of the body, or in a part of a form. */
  | { readonly from: 'field'; readonly name: string }
  | { readonly from: 'header'; readonly name: string }
  | { readonly from: 'path' }
  /** The route always uses the same model. */
  | { readonly from: 'nowhere'; readonly id: string };
