/** Posts one alert to a webhook: one attempt, a few seconds, no redirects; only the status of the response matters. */

import { Buffer } from 'node:buffer';
import type { AlertWebhook } from '../core/snapshot.ts';
import type { Connector } from '../wire/connect.ts';
import { exchange } from '../wire/exchange.ts';
import { OriginPools } from '../wire/origin-pools.ts';
import { Wheel } from '../wire/wheel.ts';

const connectMs = 3_000;
const patienceMs = 5_000;
/** Read so that the connection can be used again; more is cut off. */
const longestAnswerBytes = 16 * 1024;
/** To one place. */
const connections = 4;
const wheelStepMs = 100;

export interface AlertPost {
  post(webhook: AlertWebhook, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
  close(): Promise<void>;
}

/** How a connection is opened that may lead there and nowhere else. */
export type AlertConnect = (addresses: AlertWebhook['addresses'], connectMs: number) => Connector;

export function createAlertPost(connect: AlertConnect): AlertPost {
  const pools = new OriginPools({ wheel: new Wheel(wheelStepMs), connections });

  return {
    async post({ url, addresses }, headers, body) {
      const { origin, pathname, search } = new URL(url);
      // By the rule for where they may lead.
      const pool = pools.of(addresses?.id ?? '', origin, () => connect(addresses, connectMs));
      const answer = await exchange(
        pool,
        { method: 'POST', path: pathname + search, headers: Object.entries(headers).flat(), body: Buffer.from(body) },
        { limitBytes: longestAnswerBytes, beyond: 'cut', timeoutMs: patienceMs },
      );
      return answer.status;
    },
    async close() {
      pools.destroy();
    },
  };
}
