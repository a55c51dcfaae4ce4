/** A small request of our own, such as for a token: one try, a few seconds, a short answer. */

import { Agent, Pool, request } from 'undici';
import type { SigningTools } from '../core/family.ts';
import { createConnector } from './connection.ts';
import type { ProxyRule } from './proxy-rule.ts';

const longestBytes = 256 * 1024;
const connectMs = 5_000;
export interface SmallPost {
  readonly post: SigningTools['post'];
  close(): Promise<void>;
}

/** `patienceMs`: from the call to the last byte of its answer. */
export function createSmallPost(proxyFor?: ProxyRule, patienceMs = 10_000): SmallPost {
  const agent = new Agent({
    factory(address) {
      const { origin, protocol } = new URL(address);
      return new Pool(origin, {
        connect: createConnector({
          secure: protocol === 'https:',
          connectMs,
          tls: undefined,
          proxy: proxyFor?.(origin),
          lookup: undefined,
        }),
        connections: 4,
        allowH2: false,
        useMilo: false,
        maxResponseSize: longestBytes,
      });
    },
  });
  return {
    async post(url, headers, body) {
      const signal = AbortSignal.timeout(patienceMs);
      const answer = await request(url, { method: 'POST', headers: [...headers], body, dispatcher: agent, signal });
      return { status: answer.statusCode, body: await answer.body.text() };
    },
    close: () => agent.destroy(),
  };
}
