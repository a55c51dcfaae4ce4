/** Opens connections where a rule permits them alone: the address is looked at, whatever name led to it, each time anew. */

import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type buildConnector, errors } from 'undici';
import type { AddressRule } from '../lib/address-rule.ts';

/** Told of each step towards a connection, for those who want to know how far it came. */
export interface ConnectionWatch {
  lookedUp(addresses: readonly string[]): void;
  /** To the service, or to the proxy that leads to it. */
  connected(address: string): void;
  secured(): void;
}

/** Its code is none of the library's, some of which it takes for a connection that broke, and tries again. */
class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED';

  constructor(hostname: string, addresses: readonly string[]) {
    const where = isIP(hostname) === 0 ? `${hostname} leads to ${addresses.join(', ') || 'none'}` : hostname;
    super(`address not allowed: ${where} (upstream_addresses in the configuration file says which are)`);
  }
}

/** For literal addresses nothing is looked up, so that they are judged by themselves. */
export function checkLiteral(rule: AddressRule, hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !rule.permits(address)) throw new AddressNotAllowedError(address, []);
}

/** What is not permitted is left out of the answer; of the rest one is connected to, and no other look-up comes between. */
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
  readonly timeoutMs: number;
  /** Makes the TCP connection, with a guarded look-up. */
  readonly plain: buildConnector.connector;
  /** Makes the TLS connection on it; its own clock is off. */
  readonly secure: buildConnector.connector;
  readonly watch?: ConnectionWatch | undefined;
}

/** TLS begins only once the address is judged: not a byte goes to one that is refused. */
export function createGuardedConnector(settings: GuardSettings): buildConnector.connector {
  const { rule, timeoutMs, plain, secure, watch } = settings;
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    const isSecure = protocol === 'https:';
    const startedAtMs = performance.now();
    try {
      checkLiteral(rule, hostname);
    } catch (error) {
      const refused = error instanceof Error ? error : new Error(String(error));
      // As every other error of a connection: not before the caller has gone on.
      queueMicrotask(() => callback(refused, null));
      return;
    }
    const { servername: _, ...where } = options;
    const tcp = { ...where, protocol: 'http:', port: port || (isSecure ? '443' : '80') };
    plain(tcp, (...result) => {
      const [error, socket] = result;
      if (error !== null || !socket) {
        callback(...result);
        return;
      }
      const address = socket.remoteAddress ?? '';
      if (!rule.permits(address)) {
        socket.destroy();
        callback(new AddressNotAllowedError(hostname, [address]), null);
        return;
      }
      watch?.connected(address);
      if (isSecure) securely(socket);
      else callback(null, socket);
    });

    function securely(socket: Socket): void {
      const end = once(callback);
      const leftMs = Math.max(0, timeoutMs - (performance.now() - startedAtMs));
      const timer = setTimeout(() => {
        socket.destroy();
        end(new errors.ConnectTimeoutError(`Connect Timeout Error (${hostname}, timeout: ${timeoutMs}ms)`), null);
      }, leftMs);
      secure({ ...options, httpSocket: socket }, (...result) => {
        clearTimeout(timer);
        if (result[0] === null) watch?.secured();
        end(...result);
      });
    }
  };
}

function once(callback: buildConnector.Callback): buildConnector.Callback {
  let isDone = false;
  return (...result) => {
    if (isDone) return;
    isDone = true;
    callback(...result);
  };
}
