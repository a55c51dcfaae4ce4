/** `postern members`: who uses the console, and who may; for an owner who cannot sign in any more, and for scripts. */

import { roles } from '../../core/role.ts';
import { type OpenConfiguration, openLeniently } from '../../serve/configuration.ts';
import { type Action, actAs } from '../actions.ts';
import { type Command, type CommandContext, configOptions } from '../command.ts';
import { toInstantText } from '../keys/key-words.ts';
import { toTable } from '../table.ts';
import { words } from '../words.ts';
import { changeRole, disable, enable, remove } from './member-changes.ts';
import { invite, reset, setUpLink } from './member-links.ts';
import { makeToken } from './member-token.ts';

const roleWords = roles.join('|');

const actions: Readonly<Record<string, Action<OpenConfiguration>>> = {
  list: { usage: 'list [--json]', options: ['json'], operandCount: 0, needsStore: true, prepare: list },
  'setup-link': {
    usage: 'setup-link [--json]',
    options: ['json'],
    operandCount: 0,
    needsStore: true,
    prepare: setUpLink,
  },
  invite: {
    usage: 'invite --email E --role R [--json]',
    options: ['email', 'role', 'json'],
    operandCount: 0,
    needsStore: true,
    prepare: invite,
  },
  reset: {
    usage: 'reset EMAIL [--keep tokens,passkeys] [--json]',
    options: ['keep', 'json'],
    operandCount: 1,
    needsStore: true,
    prepare: reset,
  },
  role: {
    usage: `role EMAIL --role ${roleWords}`,
    options: ['role'],
    operandCount: 1,
    needsStore: true,
    prepare: changeRole,
  },
  disable: { usage: 'disable EMAIL', options: [], operandCount: 1, needsStore: true, prepare: disable },
  enable: { usage: 'enable EMAIL', options: [], operandCount: 1, needsStore: true, prepare: enable },
  remove: { usage: 'remove EMAIL', options: [], operandCount: 1, needsStore: true, prepare: remove },
  token: {
    usage: 'token EMAIL --name N --role R [--expires 30d|2027-01-01] [--json]',
    options: ['name', 'role', 'expires', 'json'],
    operandCount: 1,
    needsStore: true,
    prepare: makeToken,
  },
};

export const members: Command = {
  ...words.members,
  actions,
  options: {
    ...configOptions,
    email: { type: 'string' },
    role: { type: 'string' },
    keep: { type: 'string' },
    name: { type: 'string' },
    expires: { type: 'string' },
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
      stdout('Nobody uses the console yet; "postern members setup-link" makes a link for its first owner.');
      return;
    }
    const rows = all.map(({ email, name, role, disabled, lastSeen }) => {
      return [email, name, role, disabled ? 'disabled' : 'may sign in', lastSeen ?? 'never'];
    });
    for (const line of toTable(['EMAIL', 'NAME', 'ROLE', 'STATE', 'LAST SIGN-IN'], rows)) stdout(line);
  };
}
