/** How the window that comes back from the identity provider tells the page which asked for proof. */

import { toAddress } from '../api/asking.ts';

export interface ProofNews {
  /** Undefined where it was proved. */
  readonly problem: string | undefined;
}

export const provedPage = '/proved';
export const providerPath = toAddress('GET /api/session/oidc', { query: { proof: 'fresh', page: provedPage } });

export const proofChannel = (): BroadcastChannel => new BroadcastChannel('postern-proof');
