/** `postern members token`: an API token for a program, made where no person can sign in. */

import { reaches } from '../../core/role.ts';
import { UserFault } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSecretWith, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import type { OpenConfiguration } from '../../serve/configuration.ts';
import type { CommandContext } from '../command.ts';
import { toExpiry } from '../instants.ts';
import { toInstantText } from '../keys/key-words.ts';
import { toPrintable } from '../printable.ts';
import { actor, findMember, readRole } from './member-words.ts';

const mostCharacters = 100;

export function makeToken({ positionals, values, stdout }: CommandContext) {
  const role = readRole(values);
  const name = typeof values.name === 'string' ? values.name.trim() : '';
  if (name === '' || name.length > mostCharacters || /\p{Cc}/u.test(name)) {
    throw new UserFault(`say what uses it, in up to ${mostCharacters} characters: --name "nightly report"`);
  }
  const nowMs = systemClock.nowMs();
  const expiresAtMs = typeof values.expires === 'string' ? toExpiry(values.expires.trim(), nowMs) : undefined;
  return async ({ store }: OpenConfiguration) => {
    const member = await findMember(store, positionals[1] ?? '');
    if (!reaches(member.role, role)) {
      throw new UserFault(`a token may not more than its member, and ${toPrintable(member.email)} is ${member.role}`);
    }
    const secret = createSecretWith('psa_');
    const facts = { digest: digestOf(secret), hint: hintOf(secret), memberId: member.id, name, role, expiresAtMs };
    const token = await store.tokens.create(facts, actor);
    if (token === undefined) throw new UserFault(`${toPrintable(member.email)} was removed just now`);
    const expiresAt = expiresAtMs === undefined ? null : toInstantText(expiresAtMs);
    if (values.json === true) {
      stdout(JSON.stringify({ id: token.id, secret, role, expiresAt }, null, 2));
      return;
    }
    stdout(
      `The token of ${toPrintable(member.email)}, ${expiresAt === null ? 'until it is revoked' : `until ${expiresAt}`}; shown only now:`,
    );
    stdout('');
    stdout(`  ${secret}`);
    stdout('');
  };
}
