/** Under which API tokens are kept. */

export const tokensKey = ['tokens'];
