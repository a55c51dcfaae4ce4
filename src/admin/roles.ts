/** Who may do what: roles in rising order, each with everything that those before it may. */

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** What each role adds, for people. */
export const roleFacts: Readonly<Record<Role, string>> = {
  viewer: 'Sees everything but secrets and captured bodies.',
  editor: 'Also changes models and projects, tests them, and uses the playground.',
  admin: 'Also changes upstreams and their credentials, keys and settings, and reads captured bodies.',
  owner: 'Also invites and removes members, and gives roles.',
};

/** `anyone`: before signing in; `member`: signed in with whichever role, and about oneself. */
export type Needed = 'anyone' | 'member' | Role;

export function reaches(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest);
}
