/** What links are for: the first owner, a new member, another password. */

import { digestOf } from '../../../lib/secrets/key-secret.ts';
import { type Call, implement, replyWith } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/joining.ts';
import { checkPassword } from '../password-rule.ts';
import { tellSignIn } from '../sign-in.ts';
import { toSessionView } from '../views.ts';

const setUpFirst = implement(contract.setUpFirst, async (call) => accept('set-up', call.body, call));

const look = implement(contract.look, async ({ context, body }) => {
  const found = await context.store.invitations.find(digestOf(body.token));
  if (found === undefined) throw linkIsOver();
  const { kind, email, role, expiresAtMs, memberId } = found;
  const member = memberId === undefined ? undefined : await context.store.members.get(memberId);
  return { kind, email: email ?? null, name: member?.name ?? null, role, expiresAt: toInstant(expiresAtMs) };
});

const acceptInvitation = implement(contract.acceptInvitation, async (call) => accept('invited', call.body, call));

export default [setUpFirst, look, acceptInvitation];

interface Person {
  readonly token: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly password: string;
}

async function accept(
  way: 'set-up' | 'invited',
  person: Person,
  { context, headers, address }: Pick<Call, 'context' | 'headers' | 'address'>,
) {
  const { store, access } = context;
  const digest = digestOf(person.token);
  // Before anything that takes long.
  const found = await store.invitations.find(digest);
  if (found === undefined || (found.kind === 'set-up') !== (way === 'set-up')) throw linkIsOver();
  const email = found.email ?? person.email ?? '';
  checkPassword(person.password, email, 'password');
  if (found.kind !== 'reset' && person.name === undefined) {
    const fields = [{ path: 'name', message: 'Say how others call you.' }];
    throw new Problem('invalid_fields', { detail: 'Look at name.', fields });
  }
  await access.throttle.begin(undefined, address);
  const passwordHash = await access.passwords.hash(person.password);
  const member = await store.invitations.accept(digest, { email, name: person.name ?? '', passwordHash });
  if (member === 'absent') throw linkIsOver();
  if (member === 'taken') {
    throw new Problem('already_there', {
      detail: `${email} is a member already; sign in, or ask an owner for a new password.`,
    });
  }
  // Who comes with a link of an owner's starts without what others tried at the account.
  await access.throttle.succeeded(member.email, address);
  const opened = await access.sessions.open(member, 'link', { headers, address });
  await tellSignIn(store.audit, opened);
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
}

function linkIsOver(): Problem {
  return new Problem('not_found', {
    detail: 'This link was used, is too old, or was replaced by another; ask an owner for a new one.',
  });
}
