/** Members and their roles: everybody sees them, owners change them. */

import { actorOf, type Caller } from '../../caller.ts';
import { implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/members.ts';
import { toMemberView } from '../views.ts';

const listMembers = implement(contract.listMembers, async ({ context: { store } }) => {
  const [all, invitations] = await Promise.all([store.members.list(), store.invitations.list()]);
  const open = invitations.filter(({ kind }) => kind === 'invitation');
  return {
    items: all.map(toMemberView),
    invitations: open.map(({ id, email = '', role, invitedBy, createdAtMs, expiresAtMs }) => {
      return { id, email, role, invitedBy, createdAt: toInstant(createdAtMs), expiresAt: toInstant(expiresAtMs) };
    }),
  };
});

const inviteMember = implement(contract.inviteMember, async ({ context: { access }, body, caller, headers }) => {
  const made = await access.links.invite(access.consoleUrl(headers), body, actorOf(caller));
  if (made === 'taken') {
    const fields = [{ path: 'email', message: 'Somebody with this address is a member already.' }];
    throw new Problem('already_there', { detail: 'Somebody with this address is a member already.', fields });
  }
  return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
});

const withdrawInvitation = implement(contract.withdrawInvitation, async ({ context: { store }, params, caller }) => {
  if (await store.invitations.withdraw(params.id, actorOf(caller))) return undefined;
  throw new Problem('not_found', { detail: 'There is no such invitation; it was used, or it is over.' });
});

const changeMember = implement(contract.changeMember, async ({ context: { store }, params, body, caller }) => {
  if (body.role !== undefined || body.disabled !== undefined) refuseOneself(caller, params.id);
  const changed = await store.members.change(params.id, body, { actor: actorOf(caller) });
  switch (changed) {
    case 'absent':
    case 'taken':
      throw noSuchMember();
    case 'last-owner':
      throw lastOwner();
    default:
      return toMemberView(changed);
  }
});

const removeMember = implement(contract.removeMember, async ({ context: { store }, params, caller }) => {
  refuseOneself(caller, params.id);
  const removed = await store.members.remove(params.id, actorOf(caller));
  if (removed === 'absent') throw noSuchMember();
  if (removed === 'last-owner') throw lastOwner();
  return undefined;
});

const resetMember = implement(contract.resetMember, async ({ context: { access }, params, body, caller, headers }) => {
  const person = { memberId: params.id, kept: body?.keep };
  const made = await access.links.reset(access.consoleUrl(headers), person, actorOf(caller));
  if (made === undefined) throw noSuchMember();
  return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
});

export default [listMembers, inviteMember, withdrawInvitation, changeMember, removeMember, resetMember];

/** Nobody locks themselves out by a slip of the hand, nor makes themselves more. */
function refuseOneself(caller: Caller, memberId: string): void {
  if (caller.kind === 'nobody' || caller.memberId !== memberId) return;
  throw new Problem('not_allowed', { detail: 'This is about yourself; ask another owner to do it.' });
}

const noSuchMember = () => new Problem('not_found', { detail: 'There is no such member; reload the list.' });

const lastOwner = () =>
  new Problem('last_owner', { detail: 'This is the only owner who can sign in; make somebody else an owner first.' });
