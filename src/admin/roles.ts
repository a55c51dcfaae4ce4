/** Roles of members in rising order; each includes those before it. */

import type { Role } from '../core/role.ts';

export { type Role, reaches, roles } from '../core/role.ts';

export const roleFacts: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except secrets, captured bodies and the audit log.',
  editor: 'Also changes models, tests them and their upstreams, and uses the playground.',
  admin:
    'Also changes upstreams and their credentials, keys, projects and settings, and reads captured bodies and the audit log.',
  owner: 'Also invites and removes members, and gives roles.',
};

/** `anyone`: before signing in; `member`: signed in with any role, and about oneself. */
export type Needed = 'anyone' | 'member' | Role;
