/** Notifies the waiting page that re-authentication is done, from the window that returns from the identity provider. */

import { toAddress } from '../api/asking.ts';

export interface ProofNews {
  /** Why re-authentication failed; undefined if it succeeded. */
  readonly problem: string | undefined;
}

export const provedPage = '/proved';
export const providerPath = toAddress('GET /api/session/oidc', { query: { proof: 'fresh', page: provedPage } });

export const proofChannel = (): BroadcastChannel => new BroadcastChannel('postern-proof');
