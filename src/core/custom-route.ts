/** A custom route: its path, its upstream path, and its settings. */

import type { Lane } from './lane.ts';
import type { QueryGrammar } from './query.ts';

export interface CustomRoute {
  /** That clients call, under the base path; `{model}` stands for the model's name. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** The path at the upstream, whichever family that is of; `{model}` stands for the model's name there. */
  readonly offer: { readonly path: string };
  /** What ledger and log call it. */
  readonly label: string;
  /** The only ones that it may be sent to; any where undefined. */
  readonly upstreams: ReadonlySet<string> | undefined;
  readonly model: CustomModelSource;
  readonly lane?: Lane | undefined;
  readonly takesForms: boolean;
  readonly query: QueryGrammar | undefined;
  /** In place of the upstream's. */
  readonly timeouts: {
    readonly connectMs?: number;
    readonly firstByteMs?: number;
    readonly idleMs?: number;
    readonly totalMs?: number;
  };
  /** Where counts stand in a whole answer: names with dots between. Where OpenAI and others have them, where there is none. */
  readonly usage: OwnUsage | undefined;
  /** What one answer can count, as far as that is known. */
  readonly most: { readonly output: number | undefined; readonly units: number | undefined };
}

export interface OwnUsage {
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly units: string | undefined;
}

export type CustomModelSource =
  /** Of the body, or a part of a form. */
  | { readonly from: 'field'; readonly name: string }
  | { readonly from: 'header'; readonly name: string }
  | { readonly from: 'path' }
  /** It is always the same. */
  | { readonly from: 'nowhere'; readonly id: string };
