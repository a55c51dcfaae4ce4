/** States of a key, and where it can be declared. */

export const keyStates = ['active', 'expired', 'revoked'] as const;

export const keyManagers = ['file', 'store'] as const;
