/** Sends an alert to a webhook: one try, a few seconds, no redirects; what it answers beyond its status is nobody's business. */

import { Agent, request } from 'undici';

const connectMs = 3_000;
const patienceMs = 5_000;
/** Read so that the connection can be used again; more is cut off. */
const longestAnswerBytes = 16 * 1024;

export interface AlertPost {
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
  close(): Promise<void>;
}

export function createAlertPost(): AlertPost {
  const agent = new Agent({
    connect: { timeout: connectMs },
    connections: 4,
    allowH2: false,
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
  });
  return {
    async post(url, headers, body) {
      const answer = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher: agent,
        signal: AbortSignal.timeout(patienceMs),
      });
      await answer.body.dump({ limit: longestAnswerBytes });
      return answer.statusCode;
    },
    close: () => agent.destroy(),
  };
}
