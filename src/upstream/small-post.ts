/** Sends small requests of the gateway itself, such as for a token: one attempt, a few seconds, a short response. */

import { Buffer } from 'node:buffer';
import type { SigningTools } from '../core/family.ts';
import type { AddressRule } from '../lib/addresses/address-rule.ts';
import { exchange } from '../wire/exchange.ts';
import { OriginPools } from '../wire/origin-pools.ts';
import { Wheel } from '../wire/wheel.ts';
import { createConnector } from './connections/connection.ts';
import type { ProxyRule } from './connections/proxy-rule.ts';

const longestBytes = 256 * 1024;
const connectMs = 5_000;
const connectionsPerOrigin = 4;
const wheelStepMs = 100;

export interface SmallPost {
  /** Sends one request. `addresses`: the permitted addresses; undefined: all. */
  post(
    ...call: [...Parameters<SigningTools['post']>, addresses?: AddressRule | undefined]
  ): ReturnType<SigningTools['post']>;
  close(): Promise<void>;
}

/** `patienceMs`: limit of the time from the call to the last byte of its answer. */
export function createSmallPost(proxyFor?: ProxyRule, patienceMs = 10_000): SmallPost {
  const pools = new OriginPools({ wheel: new Wheel(wheelStepMs), connections: connectionsPerOrigin });

  return {
    async post(url, headers, body, addresses) {
      const { origin, protocol, pathname, search } = new URL(url);
      const connector = () =>
        createConnector({
          secure: protocol === 'https:',
          connectMs,
          tls: undefined,
          proxy: proxyFor?.(origin),
          lookup: undefined,
          addresses,
        });
      // By the rule's ID: connections are not shared between rules.
      const pool = pools.of(addresses?.id ?? '', origin, connector);
      const answer = await exchange(
        pool,
        { method: 'POST', path: pathname + search, headers, body: Buffer.from(body) },
        { limitBytes: longestBytes, beyond: 'fail', timeoutMs: patienceMs },
      );
      return { status: answer.status, body: answer.body.toString() };
    },
    async close() {
      pools.destroy();
    },
  };
}
