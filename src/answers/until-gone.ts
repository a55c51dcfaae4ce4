/** Stops reading a response when its client leaves. */

import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer } from '../core/outcome.ts';

export function untilGone<T>(exchange: Exchange, answer: Answer, reading: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const work = {
      clientLeft() {
        answer.cancel();
        reject(new GatewayError('client_closed'));
      },
    };
    exchange.client.work = work;
    if (exchange.client.gone) work.clientLeft();
    reading.then(resolve, reject);
  });
}
