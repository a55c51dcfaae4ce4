/** How the window that comes back from the identity provider tells the page which asked for proof. */

export interface ProofNews {
  /** Undefined where it was proved. */
  readonly problem: string | undefined;
}

export const provedPage = '/proved';
export const providerPath = `/api/session/oidc?proof=fresh&page=${provedPage}`;

export const proofChannel = (): BroadcastChannel => new BroadcastChannel('postern-proof');
