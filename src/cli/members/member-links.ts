/** Links of `postern members`: for the first owner, for a new member, for another password. */

import { createLinks, type MadeLink } from '../../admin/access/links.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import { foldEmail, type MemberMeans, memberMeans } from '../../core/store/members.ts';
import { UserFault } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import type { OpenConfiguration } from '../../serve/configuration.ts';
import { toReachable } from '../../serve/to-url.ts';
import type { CommandContext } from '../command.ts';
import { toInstantText } from '../keys/key-words.ts';
import { toPrintable } from '../printable.ts';
import { actor, findMember, readRole } from './member-words.ts';

export function setUpLink({ values, stdout }: CommandContext) {
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const made = await createLinks(store.invitations, systemClock).setUp(baseOf(snapshot), actor);
    if (made === undefined) {
      throw new UserFault(
        'the console has its first owner already; "postern members invite" lets somebody else in, "postern members reset" an owner who cannot sign in',
      );
    }
    show(made, 'With this link the console gets its first owner', values, stdout);
  };
}

export function invite({ values, stdout }: CommandContext) {
  const email = typeof values.email === 'string' ? foldEmail(values.email) : '';
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new UserFault('say whom to invite: --email name@example.com');
  }
  const role = readRole(values);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const made = await createLinks(store.invitations, systemClock).invite(baseOf(snapshot), { email, role }, actor);
    if (made === 'taken') {
      throw new UserFault(`${toPrintable(email)} is a member already; "postern members reset" gives another password`);
    }
    show(made, `With this link ${toPrintable(email)} becomes a member with the role ${role}`, values, stdout);
  };
}

export function reset({ positionals, values, stdout }: CommandContext) {
  const email = positionals[1] ?? '';
  const kept = readKept(values.keep);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const member = await findMember(store, email);
    const links = createLinks(store.invitations, systemClock);
    const made = await links.reset(baseOf(snapshot), { memberId: member.id, kept }, actor);
    if (made === undefined) throw new UserFault(`${toPrintable(email)} was removed just now`);
    const ended = memberMeans.filter((means) => !kept.includes(means));
    const sentence = ended.length === 0 ? '' : `; its ${ended.join(' and ')} have ended`;
    show(made, `With this link ${toPrintable(member.email)} sets another password${sentence}`, values, stdout);
  };
}

function readKept(written: CommandContext['values'][string]): readonly MemberMeans[] {
  if (typeof written !== 'string') return [];
  const words = written.split(',').map((word) => word.trim());
  const kept = memberMeans.filter((means) => words.includes(means));
  if (words.some((word) => !kept.some((means) => means === word))) {
    throw new UserFault(`--keep: write ${memberMeans.join(', or ')}, or ${memberMeans.join(',')}`);
  }
  return kept;
}

function show(
  { link, invitation }: MadeLink,
  sentence: string,
  values: CommandContext['values'],
  stdout: CommandContext['stdout'],
): void {
  const expiresAt = toInstantText(invitation.expiresAtMs);
  if (values.json === true) {
    stdout(JSON.stringify({ link, expiresAt }, null, 2));
    return;
  }
  stdout(`${sentence}, once, until ${expiresAt}:`);
  stdout('');
  stdout(`  ${link}`);
  stdout('');
}

/** As the configuration has it; where the port is any free one, only the gateway itself knows it. */
function baseOf({ console: { url, host, port } }: Snapshot): string {
  return url ?? toReachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}
