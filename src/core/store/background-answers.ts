/** Background responses and batches until their cost is known, and the store interface. */

import type { RequestEstimate } from '../accounting/price.ts';
import type { Usage, Written } from '../accounting/usage.ts';

/** With any other it goes on. */
export const backgroundStatuses = ['completed', 'incomplete', 'failed', 'cancelled'] as const;

/** How the upstream says that it came to its end. */
export interface BackgroundEnd {
  readonly status: (typeof backgroundStatuses)[number];
  readonly usage: Usage | null;
  readonly written: Written | undefined;
  readonly bytes: number;
}

export interface BackgroundAnswer {
  /** Under which the upstream keeps it. */
  readonly id: string;
  readonly upstream: string;
  /** The fingerprint of the credential by which it was asked for. */
  readonly credential: string;
  readonly key: string;
  readonly project: string | undefined;
  /** The public ID of the model. */
  readonly model: string;
  /** Of the row that it gets in the ledger, whoever writes that. */
  readonly rowId: string;
  readonly estimate: RequestEstimate;
  readonly createdAtMs: number;
  /** Where somebody else has seen it. */
  readonly end: BackgroundEnd | undefined;
}

export interface BackgroundStore {
  /** In the hands of the node, which looks at it at `dueAtMs`. */
  add(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  /** Undefined where there is none of this name whose cost is not known. */
  get(id: string, upstream: string): Promise<BackgroundAnswer | undefined>;
  /** For whoever has it in hands. */
  reportEnd(answer: BackgroundAnswer, end: BackgroundEnd): Promise<void>;
  /** Those that are due, of this node and of nodes that were not heard of in time; they are in this one's hands from now on. */
  claim(node: string, options: { readonly handsMs: number; readonly most: number }): Promise<BackgroundAnswer[]>;
  /** It is looked at again then. */
  postpone(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  remove(answer: BackgroundAnswer): Promise<void>;
  /** Those of a project, whoever has them in hands. */
  ofProject(project: string): Promise<BackgroundAnswer[]>;
  /** The node ends: the next one that looks takes them. */
  release(node: string): Promise<void>;
}
