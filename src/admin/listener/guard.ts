/** Who may ask the admin listener: it must be meant by its name, and where others than this machine reach it, be told a secret. */

import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ConsoleSettings } from '../../core/snapshot.ts';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import { Refusal } from './refusal.ts';

/**
 * A page on the web can make its own name mean this machine, and have a browser here ask; the browser then says that name as
 * `Host`. A number cannot be made to mean something else. Throws a Refusal.
 */
export function checkHost(request: IncomingMessage, { host: configuredHost, url }: ConsoleSettings): void {
  const names = request.headersDistinct.host ?? [];
  const [written = ''] = names;
  if (names.length !== 1) throw new Refusal('malformed_request');
  const name = nameIn(written);
  if (name === undefined) throw new Refusal('malformed_request');
  if (name === 'localhost' || name === configuredHost.toLowerCase()) return;
  if (url !== undefined && name === nameIn(new URL(url).host)) return;
  if (isIP(name) !== 0 && (isLoopback(name) || isOwnAddress(name))) return;
  throw new Refusal('host_not_allowed');
}

/** Without port and brackets, in lower case. */
function nameIn(host: string): string | undefined {
  const [, v6, name] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return (v6 ?? name)?.toLowerCase();
}

function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const { address: one, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    own.addAddress(one, family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  return own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Throws a Refusal. */
export function checkToken(request: IncomingMessage, { token }: ConsoleSettings): void {
  // Without one, this machine alone may ask, whatever became of the settings since the start.
  if (token === undefined && isLoopback(request.socket.localAddress ?? '')) return;
  const { authorization } = request.headers;
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  // Digests, so that they have one length; and none is compared faster than another.
  if (given !== undefined && token !== undefined && timingSafeEqual(digest(given), digest(token))) return;
  throw new Refusal('invalid_token', { 'www-authenticate': 'Bearer' });
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
