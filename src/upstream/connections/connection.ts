/** Opens a connection to an upstream: directly, through a proxy, or restricted by the address policy. */

import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { UpstreamTls } from '../../core/snapshot.ts';
import type { AddressRule } from '../../lib/addresses/address-rule.ts';
import { socketHost, socketOf } from '../../lib/addresses/socket-origin.ts';
import {
  type Connector,
  createDirectConnector,
  type ServerAddress,
  type TcpOptions,
  TlsClient,
  type TlsOptions,
  toServerAddress,
} from '../../wire/connect.ts';
import { type ConnectionWatch, checkLiteral, createGuardedConnector, guardedLookup } from './guarded-connector.ts';
import type { ProxyAddress, ProxyRule } from './proxy-rule.ts';
import { createTunnelConnector } from './tunnel.ts';

interface ConnectionSettings {
  readonly secure: boolean;
  readonly connectMs: number;
  readonly tls: UpstreamTls | undefined;
  readonly proxy: ProxyAddress | undefined;
  /** For tests: replaces the platform's look-up of addresses. */
  readonly lookup: LookupFunction | undefined;
  /** The addresses that connections may lead to; undefined: all. */
  readonly addresses?: AddressRule | undefined;
  readonly watch?: ConnectionWatch | undefined;
  /** Whether this is one of several endpoints, so that messages show its address beside the name. */
  readonly isEndpoint?: boolean;
}

const anywhere: AddressRule = { id: 'anywhere', permits: () => true };

/** Time after which the next address of a host is tried; longer than any healthy round trip. */
const attemptTimeoutMs = 500;

/** Idle time after which TCP probes keep a connection alive: a first byte may take minutes, and routers drop silent connections. */
const probeAfterMs = 60_000;

export function createConnector(settings: ConnectionSettings): Connector {
  const { secure, connectMs, tls, proxy, lookup, addresses, watch, isEndpoint = false } = settings;
  const tcp: TcpOptions = {
    // Names are looked up for each connection, in IPv4 and IPv6. An address has a third of the time at most.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.min(attemptTimeoutMs, Math.ceil(connectMs / 3)),
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
    noDelay: true,
    ...(lookup !== undefined && { lookup }),
  };
  // One origin, one session: a pool with other certificates must not resume it.
  const tlsClient = new TlsClient(secure ? toTlsOptions(tls) : {});
  if (proxy !== undefined) {
    // The operator's proxy resolves names, so that only literal addresses can be checked here.
    const check = addresses === undefined ? undefined : (host: string) => checkLiteral(addresses, host);
    return createTunnelConnector({ proxy, tcp, timeoutMs: connectMs, tls: tlsClient, check, watch });
  }
  if (addresses === undefined && watch === undefined && !isEndpoint) {
    return createDirectConnector({ tcp, tls: tlsClient, timeoutMs: connectMs });
  }
  const rule = addresses ?? anywhere;
  const guarded = { ...tcp, lookup: guardedLookup(rule, lookup, watch) };
  return createGuardedConnector({ rule, timeoutMs: connectMs, tcp: guarded, tls: tlsClient, watch });
}

/** Creates connectors for services other than upstreams, such as webhooks: through the operator's proxies, and within an address policy. */
export const connectorsBy =
  (proxyFor: ProxyRule) =>
  (addresses: AddressRule | undefined, connectMs: number): Connector =>
  (server, done) => {
    const { secure, host, port } = server;
    const proxy = proxyFor(`${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`);
    createConnector({ secure, connectMs, tls: undefined, proxy, lookup: undefined, addresses })(server, done);
  };

/** TLS options. An operator's CA replaces the platform's list, and may be an intermediate or the server's own certificate. */
function toTlsOptions(tls: UpstreamTls | undefined): TlsOptions {
  const { ca, cert, key, serverName } = tls ?? {};
  return {
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

interface Destination {
  readonly server: ServerAddress;
  /** The host as the head of every request has it. */
  readonly host: string;
}

export function toDestination(origin: string): Destination {
  const path = socketOf(origin);
  if (path === undefined) return { server: toServerAddress(origin), host: new URL(origin).host };
  return { server: { secure: false, host: socketHost, port: 0, path }, host: socketHost };
}
