/** A virtual key: who calls, and what the caller may do. The secret itself is nowhere; only its digest is. */

import type { BudgetPeriod, Caps } from './caps.ts';
import type { Operation } from './operation.ts';
import type { RerankShape } from './translation.ts';

/** What may be said of a key. */
export interface KeyTerms {
  /** Model IDs, each with at most one `*`. */
  readonly models: readonly string[];
  /** Undefined: every operation. */
  readonly operations: readonly Operation[] | undefined;
  /** Addresses and CIDR ranges the key may be used from. Undefined: from anywhere. */
  readonly addresses: readonly string[] | undefined;
  /** The ID of the project whose caps hold as well, and under which it is counted. */
  readonly project: string | undefined;
  readonly caps: Caps;
  /** What operators note about it, by names of their own. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether the ledger keeps what was asked and answered, for so long; undefined: never. */
  readonly captureMs: number | undefined;
  /** Which service its clients were written for; undefined: OpenAI's, as far as anyone knows. */
  readonly shape?: RerankShape | undefined;
  readonly expiresAtMs: number | undefined;
}

export interface KeyRecord extends KeyTerms {
  readonly id: string;
  readonly managedBy: 'file' | 'store';
  readonly revokedAtMs: number | undefined;
}

/** Limits and budgets in the words of the file. */
export interface CapsDocument {
  readonly limits: Record<string, number>;
  readonly budgets: { every: BudgetPeriod; amount: string; alerts: string[] }[];
}

/** In the words of the file, save when it ends; null where nothing is said. */
export interface KeyTermsDocument extends CapsDocument {
  readonly project: string | null;
  readonly models: readonly string[];
  readonly operations: readonly Operation[] | null;
  readonly addresses: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly capture: string | null;
  readonly shape: RerankShape | null;
}

/** What several keys have in common. */
export interface Project {
  readonly id: string;
  readonly managedBy: 'file' | 'store';
  readonly name: string | undefined;
  readonly caps: Caps;
}
