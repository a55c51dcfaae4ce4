/** What `postern members` changes of a member: the role, whether there is a way in, and whether there is such a member. */

import type { MemberChange } from '../../core/store/members.ts';
import { UserFault } from '../../core/user-fault.ts';
import type { OpenConfiguration } from '../../serve/configuration.ts';
import type { CommandContext } from '../command.ts';
import { toPrintable } from '../printable.ts';
import { actor, findMember, readRole } from './member-words.ts';

type Act = (ground: OpenConfiguration) => Promise<void>;

export function changeRole(context: CommandContext): Act {
  const role = readRole(context.values);
  return change(context, { role }, `is ${role} from now on, and signs in anew`);
}

export const disable = (context: CommandContext): Act =>
  change(context, { disabled: true }, 'is signed out, and cannot sign in; tokens are refused');

export const enable = (context: CommandContext): Act => change(context, { disabled: false }, 'may sign in again');

function change({ positionals, stdout }: CommandContext, changes: MemberChange, became: string): Act {
  return async ({ store }) => {
    const { id, email } = await findMember(store, positionals[1] ?? '');
    const changed = await store.members.change(id, changes, { actor });
    if (typeof changed === 'string') throw cannot(changed, email);
    stdout(`${toPrintable(email)} ${became}.`);
  };
}

export function remove({ positionals, stdout }: CommandContext): Act {
  return async ({ store }) => {
    const { id, email } = await findMember(store, positionals[1] ?? '');
    const removed = await store.members.remove(id, actor);
    if (removed !== 'removed') throw cannot(removed, email);
    stdout(`${toPrintable(email)} is removed, with all sessions, tokens and passkeys.`);
  };
}

function cannot(why: 'absent' | 'last-owner' | 'taken', email: string): UserFault {
  if (why !== 'last-owner') return new UserFault(`${toPrintable(email)} was removed just now`);
  return new UserFault(`${toPrintable(email)} is the only owner who can sign in; make somebody else an owner first`);
}
