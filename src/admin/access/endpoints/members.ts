/** Members and their roles: everybody sees them, owners change them. */

import { actorOf, type Caller } from '../../caller.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { idParam, toInstant } from '../../shapes/common.ts';
import { madeLink, memberChange, members, newInvitation, reset } from '../contract/access.ts';
import { member } from '../contract/session.ts';
import { toMemberView } from '../views.ts';

const listMembers = defineEndpoint({
  method: 'GET',
  path: '/api/members',
  summary: 'List members, and the invitations that are open',
  tag: 'Members',
  needs: 'viewer',
  answer: members,
  async run({ context: { store } }) {
    const [all, invitations] = await Promise.all([store.members.list(), store.invitations.list()]);
    const open = invitations.filter(({ kind }) => kind === 'invitation');
    return {
      items: all.map(toMemberView),
      invitations: open.map(({ id, email = '', role, invitedBy, createdAtMs, expiresAtMs }) => {
        return { id, email, role, invitedBy, createdAt: toInstant(createdAtMs), expiresAt: toInstant(expiresAtMs) };
      }),
    };
  },
});

const inviteMember = defineEndpoint({
  method: 'POST',
  path: '/api/members',
  summary: 'Invite somebody: the answer is a link to hand over',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  body: newInvitation,
  answer: madeLink,
  status: 201,
  once: true,
  async run({ context: { access }, body, caller, headers }) {
    const made = await access.links.invite(access.consoleUrl(headers), body, actorOf(caller));
    if (made === 'taken') {
      const fields = [{ path: 'email', message: 'Somebody with this address is a member already.' }];
      throw new Problem('already_there', { detail: 'Somebody with this address is a member already.', fields });
    }
    return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
  },
});

const withdrawInvitation = defineEndpoint({
  method: 'DELETE',
  path: '/api/invitations/:id',
  summary: 'Withdraw an invitation: its link works no more',
  tag: 'Members',
  needs: 'owner',
  params: idParam,
  async run({ context: { store }, params, caller }) {
    if (await store.invitations.withdraw(params.id, actorOf(caller))) return undefined;
    throw new Problem('not_found', { detail: 'There is no such invitation; it was used, or it is over.' });
  },
});

const changeMember = defineEndpoint({
  method: 'PATCH',
  path: '/api/members/:id',
  summary: "Change a member's role or name, or keep the member from signing in",
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
  body: memberChange,
  answer: member,
  async run({ context: { store }, params, body, caller }) {
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
  },
});

const removeMember = defineEndpoint({
  method: 'DELETE',
  path: '/api/members/:id',
  summary: 'Remove a member, with its sessions, tokens and passkeys',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
  async run({ context: { store }, params, caller }) {
    refuseOneself(caller, params.id);
    const removed = await store.members.remove(params.id, actorOf(caller));
    if (removed === 'absent') throw noSuchMember();
    if (removed === 'last-owner') throw lastOwner();
    return undefined;
  },
});

const resetMember = defineEndpoint({
  method: 'POST',
  path: '/api/members/:id/reset',
  summary: 'Make a link with which a member sets another password; tokens and passkeys that are not kept end',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
  body: reset,
  answer: madeLink,
  status: 201,
  once: true,
  async run({ context: { access }, params, body, caller, headers }) {
    const person = { memberId: params.id, kept: body?.keep };
    const made = await access.links.reset(access.consoleUrl(headers), person, actorOf(caller));
    if (made === undefined) throw noSuchMember();
    return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
  },
});

export const memberEndpoints = [listMembers, inviteMember, withdrawInvitation, changeMember, removeMember, resetMember];

/** Nobody locks themselves out by a slip of the hand, nor makes themselves more. */
function refuseOneself(caller: Caller, memberId: string): void {
  if (caller.kind === 'nobody' || caller.memberId !== memberId) return;
  throw new Problem('not_allowed', { detail: 'This is about yourself; ask another owner to do it.' });
}

const noSuchMember = () => new Problem('not_found', { detail: 'There is no such member; reload the list.' });

const lastOwner = () =>
  new Problem('last_owner', { detail: 'This is the only owner who can sign in; make somebody else an owner first.' });
