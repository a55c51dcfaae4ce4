/** What is true of keys wherever they are shown: the states that they pass through, and where they can be declared. */

export const keyStates = ['active', 'expired', 'revoked'] as const;

export const keyManagers = ['file', 'store'] as const;
