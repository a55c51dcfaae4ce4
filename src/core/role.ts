/** Lists the roles of console members, lowest first: each has the permissions of those before it. */

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export function reaches(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest);
}

export function lowerOf(one: Role, other: Role): Role {
  return reaches(one, other) ? other : one;
}
