/** A small request of our own, such as for a token: one try, a few seconds, a short answer. */

import { Agent, Pool, request } from 'undici';
import type { SigningTools } from '../core/family.ts';
import type { AddressRule } from '../lib/address-rule.ts';
import { createConnector } from './connection.ts';
import type { ProxyRule } from './proxy-rule.ts';

const longestBytes = 256 * 1024;
const connectMs = 5_000;

export interface SmallPost {
  /** `addresses`: where it may lead; anywhere where undefined. */
  post(
    ...call: [...Parameters<SigningTools['post']>, addresses?: AddressRule | undefined]
  ): ReturnType<SigningTools['post']>;
  close(): Promise<void>;
}

/** `patienceMs`: from the call to the last byte of its answer. */
export function createSmallPost(proxyFor?: ProxyRule, patienceMs = 10_000): SmallPost {
  /** By the ID of the rule: connections are not lent from one to another. */
  const agents = new Map<string, Agent>();

  function agentFor(addresses: AddressRule | undefined): Agent {
    const id = addresses?.id ?? '';
    const agent = agents.get(id) ?? createAgent(addresses, proxyFor);
    agents.set(id, agent);
    return agent;
  }

  return {
    async post(url, headers, body, addresses) {
      const signal = AbortSignal.timeout(patienceMs);
      const dispatcher = agentFor(addresses);
      const answer = await request(url, { method: 'POST', headers: [...headers], body, dispatcher, signal });
      return { status: answer.statusCode, body: await answer.body.text() };
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

function createAgent(addresses: AddressRule | undefined, proxyFor: ProxyRule | undefined): Agent {
  return new Agent({
    factory(address) {
      const { origin, protocol } = new URL(address);
      return new Pool(origin, {
        connect: createConnector({
          secure: protocol === 'https:',
          connectMs,
          tls: undefined,
          proxy: proxyFor?.(origin),
          lookup: undefined,
          addresses,
        }),
        connections: 4,
        allowH2: false,
        useMilo: false,
        maxResponseSize: longestBytes,
      });
    },
  });
}
