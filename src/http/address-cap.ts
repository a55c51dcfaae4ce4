/** How many connections one address may hold at a time: off unless the operator says a number, and never for proxies. */

import type { BlockList, Socket } from 'node:net';
import type { ServerSettings } from '../core/snapshot.ts';
import { includesAddress } from '../lib/addresses/address-range.ts';
import { toNetwork } from '../lib/addresses/network-of.ts';

type CapSettings = Pick<ServerSettings, 'maxConnectionsPerAddress' | 'trustedProxies'>;

export interface AddressCap {
  /** Counts the connection until it closes, or ends it at once. */
  readonly admit: (socket: Socket) => void;
  apply(settings: CapSettings): void;
}

export function createAddressCap(): AddressCap {
  const open = new Map<string, number>();
  let most = Number.POSITIVE_INFINITY;
  let proxies: BlockList | undefined;

  function admit(socket: Socket): void {
    // Those that came while there was no limit are not counted: they end by themselves.
    if (most === Number.POSITIVE_INFINITY) return;
    const { remoteAddress: address } = socket;
    if (address === undefined || includesAddress(proxies, address)) return;
    const network = toNetwork(address);
    const count = open.get(network) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  }

  return {
    admit,
    apply({ maxConnectionsPerAddress = Number.POSITIVE_INFINITY, trustedProxies }) {
      most = maxConnectionsPerAddress;
      proxies = trustedProxies;
    },
  };
}
