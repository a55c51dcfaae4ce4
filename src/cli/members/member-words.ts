/** What the actions of `postern members` have in common: whom they are about, and who the audit log says did it. */

import { type Role, roles } from '../../core/role.ts';
import { foldEmail, type StoredMember } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import { UserFault } from '../../core/user-fault.ts';
import type { CommandContext } from '../command.ts';
import { toPrintable } from '../printable.ts';

/** Who stands in the audit log. */
export const actor = 'command line';

export async function findMember(store: Store, written: string): Promise<StoredMember> {
  const email = foldEmail(written);
  const member = await store.members.findByEmail(email);
  if (member !== undefined) return member;
  throw new UserFault(
    `there is no member ${toPrintable(email)}; "postern members list" shows them, "postern members invite" makes another`,
  );
}

export function readRole({ role }: CommandContext['values']): Role {
  const found = roles.find((one) => one === role);
  if (found === undefined) throw new UserFault(`say what they may do: --role ${roles.join('|')}`);
  return found;
}
