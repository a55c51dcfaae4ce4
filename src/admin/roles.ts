/** Lists the roles of members in rising order; each role includes the permissions of those before it. */

import type { Role } from '../core/role.ts';

export { type Role, reaches, roles } from '../core/role.ts';

export const roleFacts: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except secrets, captured bodies and the audit log.',
  editor: 'Also changes models, tests them and their upstreams, and uses the playground.',
  admin:
    'Also changes upstreams and their credentials, keys, projects and settings, and reads captured bodies and the audit log.',
  owner: 'Also invites and removes members, and gives roles.',
};

/** Who may use an endpoint. `anyone`: even before signing in; `member`: any signed-in member, for its own settings. */
export type Needed = 'anyone' | 'member' | Role;
