/** Under which the members are kept. */

export const membersKey = ['members'];
