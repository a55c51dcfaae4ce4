/** Background responses and batches until their cost is known, and the store interface. */

import type { RequestEstimate } from '../accounting/price.ts';
import type { Usage, Written } from '../accounting/usage.ts';

/** With any other status the work continues. */
export const backgroundStatuses = ['completed', 'incomplete', 'failed', 'cancelled'] as const;

export interface BackgroundEnd {
  readonly status: (typeof backgroundStatuses)[number];
  readonly usage: Usage | null;
  readonly written: Written | undefined;
  readonly bytes: number;
}

export interface BackgroundAnswer {
  /** The upstream's ID. */
  readonly id: string;
  readonly upstream: string;
  /** The fingerprint of the credential used. */
  readonly credential: string;
  readonly key: string;
  readonly project: string | undefined;
  /** The public ID of the model. */
  readonly model: string;
  /** The ID of its row in the ledger, whichever node writes it. */
  readonly rowId: string;
  readonly estimate: RequestEstimate;
  readonly createdAtMs: number;
  /** Set where another node saw the end. */
  readonly end: BackgroundEnd | undefined;
}

export interface BackgroundStore {
  /** Assigned to the node, and polled at `dueAtMs`. */
  add(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  /** Undefined where there is none, or its cost is known. */
  get(id: string, upstream: string): Promise<BackgroundAnswer | undefined>;
  /** For the node that polls it. */
  reportEnd(answer: BackgroundAnswer, end: BackgroundEnd): Promise<void>;
  /** Assigns to this node those that are due: its own, and those of nodes that stopped reporting. */
  claim(node: string, options: { readonly handsMs: number; readonly most: number }): Promise<BackgroundAnswer[]>;
  postpone(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  remove(answer: BackgroundAnswer): Promise<void>;
  /** Those of a project, on any node. */
  ofProject(project: string): Promise<BackgroundAnswer[]>;
  /** The node stops: the next node that claims gets them. */
  release(node: string): Promise<void>;
}
