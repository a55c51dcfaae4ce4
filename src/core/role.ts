/** What a member of the console may do: roles in rising order, each with everything that those before it may. */

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function reaches(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest);
}

/** The one that may less. */
export function lowerOf(one: Role, other: Role): Role {
  return reaches(one, other) ? other : one;
}
