/** Lets the window that returns from the identity provider tell the waiting page that re-authentication is done. */

import { toAddress } from '../api/asking.ts';

export interface ProofNews {
  /** Undefined after a successful proof. */
  readonly problem: string | undefined;
}

export const provedPage = '/proved';
export const providerPath = toAddress('GET /api/session/oidc', { query: { proof: 'fresh', page: provedPage } });

export const proofChannel = (): BroadcastChannel => new BroadcastChannel('postern-proof');
