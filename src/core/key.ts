/** A virtual key: who calls, and what the caller may do. The secret itself is nowhere; only its digest is. */

import type { Operation } from './operation.ts';

export interface KeyRecord {
  readonly id: string;
  readonly managedBy: 'file' | 'store';
  /** Model IDs, each with at most one `*`. */
  readonly models: readonly string[];
  /** Undefined: every operation. */
  readonly operations: readonly Operation[] | undefined;
  /** Addresses and CIDR ranges the key may be used from. Undefined: from anywhere. */
  readonly addresses: readonly string[] | undefined;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
}
