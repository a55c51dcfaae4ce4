/** `postern members`: manages members of the console, for scripts and for an owner who cannot sign in. */

import { createLinks, type MadeLink } from '../../admin/access/links.ts';
import { visibleName } from '../../core/model-name.ts';
import { type Role, reaches, roles } from '../../core/role.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import {
  foldEmail,
  type MemberChange,
  type MemberMeans,
  memberMeans,
  type StoredMember,
} from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import { UserFault } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSecretWith, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import { type OpenConfiguration, openLeniently } from '../../serve/configuration.ts';
import { toReachable } from '../../serve/listen-address.ts';
import { actionsOf, actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { printJson, printSecret, printTable, toPrintable } from '../output.ts';
import { toExpiry, toInstantText } from '../times.ts';

export async function findMember(store: Store, written: string): Promise<StoredMember> {
  const email = foldEmail(written);
  const member = await store.members.findByEmail(email);
  if (member !== undefined) return member;
  throw new UserFault(
    `there is no member ${toPrintable(email)}; "postern members list" shows them, "postern members invite" makes another`,
  );
}

function readRole({ role }: CommandContext['values']): Role {
  const found = roles.find((one) => one === role);
  if (found === undefined) throw new UserFault(`name a role: --role ${roles.join('|')}`);
  return found;
}

type Act = (ground: OpenConfiguration) => Promise<void>;

function changeRole(context: CommandContext): Act {
  const role = readRole(context.values);
  return change(context, { role }, `now has the role ${role}, and must sign in again`);
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

const mostCharacters = 100;

/** `postern members token`: creates an API token for a program, even where nobody can sign in to do so. */
export function makeToken({ positionals, values, stdout }: CommandContext) {
  const role = readRole(values);
  const name = typeof values.name === 'string' ? values.name.trim() : '';
  if (name.length > mostCharacters || !visibleName.test(name)) {
    throw new UserFault(`name its purpose in up to ${mostCharacters} characters: --name "nightly report"`);
  }
  const nowMs = systemClock.nowMs();
  const expiresAtMs = typeof values.expires === 'string' ? toExpiry(values.expires.trim(), nowMs) : undefined;
  return async ({ store }: OpenConfiguration) => {
    const member = await findMember(store, positionals[1] ?? '');
    if (!reaches(member.role, role)) {
      throw new UserFault(
        `a token cannot have a higher role than its member: ${toPrintable(member.email)} is ${member.role}`,
      );
    }
    const secret = createSecretWith('psa_');
    const facts = { digest: digestOf(secret), hint: hintOf(secret), memberId: member.id, name, role, expiresAtMs };
    const token = await store.tokens.create(facts, actor);
    if (token === undefined) throw new UserFault(`${toPrintable(member.email)} was removed just now`);
    const expiresAt = expiresAtMs === undefined ? null : toInstantText(expiresAtMs);
    if (printJson({ values, stdout }, { id: token.id, secret, role, expiresAt })) return;
    stdout(
      `The token of ${toPrintable(member.email)}, ${expiresAt === null ? 'until it is revoked' : `until ${expiresAt}`}; shown only now:`,
    );
    printSecret(secret, stdout);
  };
}

const roleWords = roles.join('|');

export const members = actionsOf('members', openLeniently, {
  list: { usage: 'list [--json]', prepare: list },
  'setup-link': { usage: 'setup-link [--json]', prepare: setUpLink },
  invite: { usage: 'invite --email E --role R [--json]', prepare: invite },
  reset: { usage: 'reset EMAIL [--keep tokens,passkeys] [--json]', prepare: reset },
  role: { usage: `role EMAIL --role ${roleWords}`, prepare: changeRole },
  disable: { usage: 'disable EMAIL', prepare: disable },
  enable: { usage: 'enable EMAIL', prepare: enable },
  remove: { usage: 'remove EMAIL', prepare: remove },
  token: { usage: 'token EMAIL --name N --role R [--expires 30d|2027-01-01] [--json]', prepare: makeToken },
});

function list({ values, stdout }: CommandContext) {
  return async ({ store }: OpenConfiguration) => {
    const all = (await store.members.list()).map(({ id, email, name, role, disabledAtMs, lastSeenAtMs }) => {
      const lastSeen = lastSeenAtMs === undefined ? null : toInstantText(lastSeenAtMs);
      return { id, email, name, role, disabled: disabledAtMs !== undefined, lastSeen };
    });
    if (printJson({ values, stdout }, all)) return;
    if (all.length === 0) {
      stdout('The console has no members yet; "postern members setup-link" creates a link for its first owner.');
      return;
    }
    const rows = all.map(({ email, name, role, disabled, lastSeen }) => {
      return [email, name, role, disabled ? 'disabled' : 'may sign in', lastSeen ?? 'never'];
    });
    printTable(['EMAIL', 'NAME', 'ROLE', 'STATE', 'LAST SIGN-IN'], rows, stdout);
  };
}

function setUpLink(context: CommandContext) {
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const made = await createLinks(store.invitations, systemClock).setUp(baseOf(snapshot), actor);
    if (made === undefined) {
      throw new UserFault(
        'the console has an owner already; "postern members invite" adds members, "postern members reset" helps an owner that cannot sign in',
      );
    }
    show(made, 'With this link the console gets its first owner', context);
  };
}

export function invite(context: CommandContext) {
  const { values } = context;
  const email = typeof values.email === 'string' ? foldEmail(values.email) : '';
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new UserFault('name the person to invite: --email name@example.com');
  }
  const role = readRole(values);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const made = await createLinks(store.invitations, systemClock).invite(baseOf(snapshot), { email, role }, actor);
    if (made === 'taken') {
      throw new UserFault(`${toPrintable(email)} is a member already; "postern members reset" gives another password`);
    }
    show(made, `With this link ${toPrintable(email)} becomes a member with the role ${role}`, context);
  };
}

export function reset(context: CommandContext) {
  const email = context.positionals[1] ?? '';
  const kept = readKept(context.values.keep);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const member = await findMember(store, email);
    const links = createLinks(store.invitations, systemClock);
    const made = await links.reset(baseOf(snapshot), { memberId: member.id, kept }, actor);
    if (made === undefined) throw new UserFault(`${toPrintable(email)} was removed just now`);
    const ended = memberMeans.filter((means) => !kept.includes(means));
    const sentence = ended.length === 0 ? '' : `; its ${ended.join(' and ')} have ended`;
    show(made, `With this link ${toPrintable(member.email)} sets another password${sentence}`, context);
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

function show({ link, invitation }: MadeLink, sentence: string, context: CommandContext): void {
  const expiresAt = toInstantText(invitation.expiresAtMs);
  if (URL.parse(link)?.port === '0') {
    context.stderr(
      'postern: console.port is 0: put the port of the console, which the gateway logs at its start, into the link, or set console.port or console.url',
    );
  }
  if (printJson(context, { link, expiresAt })) return;
  context.stdout(`${sentence}, once, until ${expiresAt}:`);
  printSecret(link, context.stdout);
}

/** The console's URL by the configuration; with port 0 only the running gateway knows the port. */
function baseOf({ console: { url, host, port } }: Snapshot): string {
  return url ?? toReachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}
