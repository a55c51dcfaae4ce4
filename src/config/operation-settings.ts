/** The sections `console`, `ledger` and `alerts` as the gateway uses them. */

import { BlockList, isIP } from 'node:net';
import type { AlertSettings, ConsoleSettings, LedgerSettings } from '../core/snapshot.ts';
import type { CompileContext } from './context.ts';
import type { Settings } from './schema.ts';
import { checkHost } from './server-settings.ts';

const standardConsolePort = 4001;

export function toConsoleSettings(
  { host, port, token }: Settings['console'],
  context: CompileContext,
): ConsoleSettings {
  checkHost(host, ['console', 'host'], context);
  if (token === undefined && !isLoopback(host)) {
    context.faults.add(
      ['console', 'token'],
      `is missing: other machines reach console.host, so set a token of at least 24 characters, or the host 127.0.0.1`,
    );
  }
  return Object.freeze({ host, port: port ?? standardConsolePort, isPortGiven: port !== undefined, token });
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Of names only this one: where others lead to is for someone else to say. */
function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return loopback.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

export function toLedgerSettings({ journal, durability, retention }: Settings['ledger']): LedgerSettings {
  return Object.freeze({ directory: journal, durability, retentionMs: retention });
}

export function toAlertSettings({ webhooks }: Settings['alerts'], { faults }: CompileContext): AlertSettings {
  const compiled = webhooks.map(({ url, secret }, index) => {
    const parsed = URL.parse(url);
    const at = ['alerts', 'webhooks', index, 'url'];
    if (parsed === null) faults.add(at, 'is not a valid URL');
    else if (parsed.username !== '' || parsed.password !== '') {
      faults.add(at, 'holds a user name or a password, which are not sent; leave them out, and set a secret instead');
    }
    return Object.freeze({ url, secret });
  });
  return Object.freeze({ webhooks: Object.freeze(compiled) });
}
