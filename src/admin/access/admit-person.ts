/** Which member somebody is whom an identity provider vouches for, and whether there is to be one. */

import type { Role } from '../../core/role.ts';
import type { OidcSettings } from '../../core/snapshot.ts';
import { foldEmail, type StoredMember } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import { Problem } from '../problem.ts';
import type { OidcPerson } from './oidc.ts';

type Members = Pick<Store, 'members' | 'invitations'>;

const actor = 'identity provider';

/** Throws a Problem where nobody let them in. */
export async function admitPerson(person: OidcPerson, settings: OidcSettings, store: Members): Promise<StoredMember> {
  const known = (await store.members.findBySubject(person.subject)) ?? (await linkByEmail(person, store));
  const member = known === undefined ? await join(person, settings, store) : await follow(known, person, store);
  if (member.disabledAtMs === undefined) return member;
  throw refused('this member was disabled; ask an owner of this console');
}

/** Whether they are this member, whom nobody is made or changed for. */
export async function isPerson(
  { subject, email }: OidcPerson,
  memberId: string,
  { members }: Members,
): Promise<boolean> {
  const known = (await members.findBySubject(subject)) ?? (await members.findByEmail(foldEmail(email)));
  return known?.id === memberId;
}

/** Somebody who signed in with a password until now. */
async function linkByEmail({ email, subject }: OidcPerson, { members }: Members): Promise<StoredMember | undefined> {
  const found = await members.findByEmail(foldEmail(email));
  if (found === undefined) return undefined;
  if (found.oidcSubject !== undefined) {
    throw refused('your e-mail address belongs to a member who is somebody else at the identity provider');
  }
  const linked = await members.change(found.id, { oidcSubject: subject }, { actor });
  return typeof linked === 'string' ? undefined : linked;
}

/** Groups that name a role decide it, each time; save that there is always an owner. */
async function follow(member: StoredMember, { role }: OidcPerson, { members }: Members): Promise<StoredMember> {
  if (role === undefined || role === member.role || member.disabledAtMs !== undefined) return member;
  const changed = await members.change(member.id, { role }, { actor });
  return typeof changed === 'string' ? member : changed;
}

async function join(person: OidcPerson, settings: OidcSettings, store: Members): Promise<StoredMember> {
  const email = foldEmail(person.email);
  const invitation = (await store.invitations.list()).find((one) => one.kind === 'invitation' && one.email === email);
  const role: Role | undefined = person.role ?? invitation?.role ?? settings.defaultRole;
  if (role === undefined) throw refused('nobody has invited you yet; ask an owner of this console');
  if (role !== 'owner' && !(await store.members.any())) {
    throw refused(
      'the first owner has to be there before; use the set-up link, which "postern members setup-link" makes',
    );
  }
  const { name, subject } = person;
  const member = await store.members.create({ email, name, role, oidcSubject: subject }, actor);
  // Somebody in another window was quicker.
  if (member === 'taken') throw refused('somebody signed in with your e-mail address just now; try again');
  if (invitation !== undefined) await store.invitations.withdraw(invitation.id, actor);
  return member;
}

function refused(why: string): Problem {
  return new Problem('sign_in_failed', { detail: `You are not signed in: ${why}.` });
}
