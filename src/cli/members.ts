/** `postern members`: who uses the console, and links that let somebody in: also for an owner who cannot sign in any more. */

import { createLinks, type MadeLink } from '../admin/access/links.ts';
import { foldEmail } from '../core/member.ts';
import { roles } from '../core/role.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { systemClock } from '../lib/clock.ts';
import { type Action, actAs } from './actions.ts';
import type { Command, CommandContext } from './command.ts';
import { type OpenConfiguration, openLeniently } from './configuration.ts';
import { toInstantText } from './key-words.ts';
import { toPrintable } from './printable.ts';
import { toTable } from './table.ts';
import { toReachable } from './to-url.ts';
import { UserFault } from './user-fault.ts';

/** Who stands in the audit log. */
const actor = 'command line';

const actions: Readonly<Record<string, Action<OpenConfiguration>>> = {
  list: { usage: 'list [--json]', options: ['json'], operandCount: 0, needsStore: true, prepare: list },
  invite: {
    usage: 'invite --email E --role R [--json]',
    options: ['email', 'role', 'json'],
    operandCount: 0,
    needsStore: true,
    prepare: invite,
  },
  reset: { usage: 'reset EMAIL [--json]', options: ['json'], operandCount: 1, needsStore: true, prepare: reset },
};

export const members: Command = {
  name: 'members',
  summary: 'Shows who uses the console, and makes links that let somebody in.',
  usage: `members ${Object.keys(actions).join('|')} [--config F] [--json]`,
  actions,
  options: {
    config: { type: 'string' },
    email: { type: 'string' },
    role: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: (context) => actAs('members', actions, context, openLeniently),
};

function list({ values, stdout }: CommandContext) {
  return async ({ store }: OpenConfiguration) => {
    const all = (await store.members.list()).map((member) => ({
      id: member.id,
      email: member.email,
      name: member.name,
      role: member.role,
      disabled: member.disabledAtMs !== undefined,
      lastSeen: member.lastSeenAtMs === undefined ? null : toInstantText(member.lastSeenAtMs),
    }));
    if (values.json === true) {
      stdout(JSON.stringify(all, null, 2));
      return;
    }
    if (all.length === 0) {
      stdout('Nobody uses the console yet; each start of "postern serve" prints a link for its first owner.');
      return;
    }
    const rows = all.map(({ email, name, role, disabled, lastSeen }) => {
      return [email, name, role, disabled ? 'disabled' : 'may sign in', lastSeen ?? 'never'];
    });
    for (const line of toTable(['EMAIL', 'NAME', 'ROLE', 'STATE', 'LAST SIGN-IN'], rows)) stdout(line);
  };
}

function invite({ values, stdout }: CommandContext) {
  const email = typeof values.email === 'string' ? foldEmail(values.email) : '';
  const role = roles.find((one) => one === values.role);
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > 254) {
    throw new UserFault('say whom to invite: --email name@example.com');
  }
  if (role === undefined) throw new UserFault(`say what they may do: --role ${roles.join('|')}`);
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const made = await createLinks(store.invitations, systemClock).invite(baseOf(snapshot), { email, role }, actor);
    if (made === 'taken') {
      throw new UserFault(`${toPrintable(email)} is a member already; "postern members reset" gives another password`);
    }
    show(made, `With this link ${toPrintable(email)} becomes a member with the role ${role}`, values, stdout);
  };
}

function reset({ positionals, values, stdout }: CommandContext) {
  const email = foldEmail(positionals[1] ?? '');
  return async ({ store, loaded: { snapshot } }: OpenConfiguration) => {
    const member = await store.members.findByEmail(email);
    const links = createLinks(store.invitations, systemClock);
    const made = member && (await links.reset(baseOf(snapshot), member.id, actor));
    if (made === undefined) {
      throw new UserFault(
        `there is no member ${toPrintable(email)}; "postern members list" shows them, "postern members invite" makes another`,
      );
    }
    show(made, `With this link ${toPrintable(email)} sets another password`, values, stdout);
  };
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
