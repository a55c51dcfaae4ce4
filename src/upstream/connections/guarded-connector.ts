/** Opens connections only to permitted addresses: checks the resolved address each time (SSRF protection). */

import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { AddressRule } from '../../lib/addresses/address-rule.ts';
import {
  type Connector,
  openPlain,
  type ServerAddress,
  type TcpOptions,
  type TlsClient,
  whenReady,
  whenSecure,
} from '../../wire/connect.ts';

/** Notified of each step of a connection, for diagnosis. */
export interface ConnectionWatch {
  lookedUp(addresses: readonly string[]): void;
  /** Connected to the service or its proxy. `address`: an IP address, or the path of a socket. */
  connected(address: string): void;
  secured(): void;
}

class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED';

  constructor(hostname: string, addresses: readonly string[]) {
    const isName = isIP(hostname) === 0 && !hostname.startsWith('/');
    const where = isName ? `${hostname} leads to ${addresses.join(', ') || 'none'}` : hostname;
    super(`address not allowed: ${where} (upstream_addresses in the configuration file says which are)`);
  }
}

/** Checks a host that is a literal address, because such addresses are not looked up. */
export function checkLiteral(rule: AddressRule, hostname: string): void {
  if (isIP(hostname) !== 0 && !rule.permits(hostname)) throw new AddressNotAllowedError(hostname, []);
}

/** Checks an address. A Unix socket has none that could be permitted: any rule refuses it. */
function checkAddress(rule: AddressRule, { host, address = host, path }: ServerAddress): void {
  if (path === undefined) checkLiteral(rule, address);
  else if (!rule.permits(path)) throw new AddressNotAllowedError(path, []);
}

/** A look-up that removes forbidden addresses from its result; the connection uses one of the others, without another look-up. */
export function guardedLookup(
  rule: AddressRule,
  lookup: LookupFunction = lookUp,
  watch?: ConnectionWatch,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const all = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found;
      watch?.lookedUp(all.map(({ address }) => address));
      const permitted = all.filter(({ address }) => rule.permits(address));
      const [first] = permitted;
      if (first === undefined) {
        const refused = new AddressNotAllowedError(
          hostname,
          all.map(({ address }) => address),
        );
        callback(refused, []);
      } else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

interface GuardSettings {
  readonly rule: AddressRule;
  /** Timeout of everything, TLS included. */
  readonly timeoutMs: number;
  /** Options of the TCP connection; its look-up is guarded. */
  readonly tcp: TcpOptions;
  readonly tls: TlsClient;
  readonly watch?: ConnectionWatch | undefined;
}

/** Creates a connector that checks the address before TLS begins: it sends no byte to a refused address. */
export function createGuardedConnector({ rule, timeoutMs, tcp, tls, watch }: GuardSettings): Connector {
  return (server, done) => {
    const startedAtMs = performance.now();
    try {
      checkAddress(rule, server);
    } catch (error) {
      const refused = error instanceof Error ? error : new Error(String(error));
      // Asynchronously, like every other connection error.
      queueMicrotask(() => done(refused));
      return;
    }
    whenReady(openPlain(server, tcp), 'connect', { leftMs: timeoutMs, timeoutMs }, server, (plain) => {
      if (plain instanceof Error) {
        done(plain);
        return;
      }
      const address = server.path ?? plain.remoteAddress ?? '';
      if (!rule.permits(address)) {
        plain.destroy();
        done(new AddressNotAllowedError(server.address ?? server.host, [address]));
        return;
      }
      watch?.connected(address);
      if (!server.secure) {
        done(plain);
        return;
      }
      const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAtMs));
      whenSecure(tls, plain, { leftMs, timeoutMs }, server, (result) => {
        if (!(result instanceof Error)) watch?.secured();
        done(result);
      });
    });
  };
}
