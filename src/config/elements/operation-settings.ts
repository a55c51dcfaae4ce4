/** The sections `console`, `ledger` and `alerts` as the gateway uses them. */

import { BlockList, isIP } from 'node:net';
import type { AlertSettings, ConsoleSettings, LedgerSettings } from '../../core/snapshot.ts';
import type { AddressRule } from '../../lib/address-rule.ts';
import type { CompileContext } from './context.ts';
import { toOidcSettings } from './oidc/compile.ts';
import type { Settings } from './schema.ts';
import { checkHost } from './server/compile.ts';

export const standardConsolePort = 4001;

export function toConsoleSettings(
  { host, port, token, url, oidc }: Settings['console'],
  context: CompileContext,
): ConsoleSettings {
  checkHost(host, ['console', 'host'], context);
  if (token === undefined && !isLoopback(host)) {
    context.faults.add(
      ['console', 'token'],
      `is missing: other machines reach console.host, so set a token of at least 24 characters, or the host 127.0.0.1`,
    );
  }
  return Object.freeze({
    host,
    port: port ?? standardConsolePort,
    isPortGiven: port !== undefined,
    token,
    url: toOrigin(url, context),
    oidc: toOidcSettings(oidc, context),
  });
}

function toOrigin(written: string | undefined, { faults }: CompileContext): string | undefined {
  if (written === undefined) return undefined;
  const url = URL.parse(written);
  if (url === null) faults.add(['console', 'url'], 'is not a valid URL');
  return url?.origin;
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

export function toLedgerSettings({ journal, durability, retention, redact }: Settings['ledger']): LedgerSettings {
  const hiddenFields = Object.freeze([...new Set(redact)]);
  return Object.freeze({ directory: journal, durability, retentionMs: retention, hiddenFields });
}

/** `addresses`: where those may lead that the store holds; undefined for those of the file. */
export function toAlertSettings({ webhooks }: Settings['alerts'], addresses: AddressRule | undefined): AlertSettings {
  return Object.freeze({
    webhooks: Object.freeze(webhooks.map(({ url, secret }) => Object.freeze({ url, secret, addresses }))),
  });
}
