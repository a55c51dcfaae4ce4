/** Lists the states that a key can have, and the places where it can be declared. */

export const keyStates = ['active', 'expired', 'revoked'] as const;

export const keyManagers = ['file', 'store'] as const;
