/** Interface to store background responses and batches until their cost is known, so that a node polls each to its end. */

import type { RequestEstimate } from '../accounting/price.ts';
import type { Usage, Written } from '../accounting/usage.ts';

/** The final statuses of a background response; with any other status the work continues. */
export const backgroundStatuses = ['completed', 'incomplete', 'failed', 'cancelled'] as const;

export interface BackgroundEnd {
  readonly status: (typeof backgroundStatuses)[number];
  readonly usage: Usage | null;
  readonly written: Written | undefined;
  readonly bytes: number;
}

export interface BackgroundAnswer {
  /** The ID that the upstream gave the response. */
  readonly id: string;
  readonly upstream: string;
  /** The fingerprint of the credential that was used. */
  readonly credential: string;
  readonly key: string;
  readonly project: string | undefined;
  /** The public ID of the model that was requested. */
  readonly model: string;
  /** The ID of the response's row in the ledger, whichever node writes it. */
  readonly rowId: string;
  readonly estimate: RequestEstimate;
  readonly createdAtMs: number;
  /** How the response ended; set where a node other than the polling one saw the end. */
  readonly end: BackgroundEnd | undefined;
}

export interface BackgroundStore {
  /** Stores a new response, assigned to the node, which polls it at `dueAtMs`. */
  add(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  /** Finds a response; undefined where there is none, or its cost is known already. */
  get(id: string, upstream: string): Promise<BackgroundAnswer | undefined>;
  /** Records that a response has ended, so that the node that polls it stops. */
  reportEnd(answer: BackgroundAnswer, end: BackgroundEnd): Promise<void>;
  /** Assigns due responses to this node: its own, and those of nodes that stopped reporting. */
  claim(node: string, options: { readonly handsMs: number; readonly most: number }): Promise<BackgroundAnswer[]>;
  postpone(answer: BackgroundAnswer, node: string, dueAtMs: number): Promise<void>;
  remove(answer: BackgroundAnswer): Promise<void>;
  ofProject(project: string): Promise<BackgroundAnswer[]>;
  /** Called where the node stops: the next node that claims gets its responses. */
  release(node: string): Promise<void>;
}
