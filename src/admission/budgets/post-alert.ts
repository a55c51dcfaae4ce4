/** Sends an alert to a webhook: one try, a few seconds, no redirects; what it answers beyond its status is nobody's business. */

import { Agent, type buildConnector, request } from 'undici';
import type { AlertWebhook } from '../../core/snapshot.ts';

const connectMs = 3_000;
const patienceMs = 5_000;
/** Read so that the connection can be used again; more is cut off. */
const longestAnswerBytes = 16 * 1024;

export interface AlertPost {
  post(webhook: AlertWebhook, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
  close(): Promise<void>;
}

/** How a connection is opened that may lead there and nowhere else. */
export type AlertConnect = (addresses: AlertWebhook['addresses'], connectMs: number) => buildConnector.connector;

export function createAlertPost(connect: AlertConnect): AlertPost {
  /** By the rule for where they may lead. */
  const agents = new Map<string, Agent>();

  function agentFor({ addresses }: AlertWebhook): Agent {
    const id = addresses?.id ?? '';
    let agent = agents.get(id);
    if (agent === undefined) {
      agent = new Agent({
        connect: connect(addresses, connectMs),
        connections: 4,
        allowH2: false,
        headersTimeout: patienceMs,
        bodyTimeout: patienceMs,
      });
      agents.set(id, agent);
    }
    return agent;
  }

  return {
    async post(webhook, headers, body) {
      const answer = await request(webhook.url, {
        method: 'POST',
        headers,
        body,
        dispatcher: agentFor(webhook),
        signal: AbortSignal.timeout(patienceMs),
      });
      await answer.body.dump({ limit: longestAnswerBytes });
      return answer.statusCode;
    },
    async close() {
      for (const agent of agents.values()) await agent.destroy();
    },
  };
}
