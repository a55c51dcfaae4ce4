/** Sends the plan's call and waits for an answer that may pass to the client. The client has seen nothing yet. */

import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure, Outcome, Transport } from '../core/outcome.ts';
import type { Plan } from './plan.ts';
import { screen } from './screen.ts';

export interface Transports {
  /** Over the network. */
  readonly http: Transport;
  /** To an offer that is made in this process. */
  readonly inProcess: Transport;
}

export async function attempt(exchange: Exchange, plan: Plan, transports: Transports): Promise<Answer> {
  exchange.target = plan.target;
  exchange.attempts += 1;
  const send = plan.call.offer.make === undefined ? transports.http : transports.inProcess;
  const answer = toAnswer(await send(plan.call));
  exchange.sentAtMs = answer.sentAtMs;
  exchange.firstByteAtMs = answer.firstByteAtMs;

  if (isRedirect(answer.status)) {
    answer.cancel();
    throw new GatewayError('upstream_protocol_error', {
      message:
        'The upstream answered with a redirect, which is never followed; the operator must set its base_url to the final address.',
      cause: `redirect (${answer.status})`,
    });
  }
  return answer.status >= 400 ? untilGone(exchange, answer, screen(answer, plan.target.upstream.secrets)) : answer;
}

/** What is held back is for a client; when that one leaves, nobody waits for the rest. */
function untilGone(exchange: Exchange, answer: Answer, screened: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    exchange.client.work = {
      clientLeft() {
        answer.cancel();
        reject(new GatewayError('client_closed'));
      },
    };
    screened.then(resolve, reject);
  });
}

function toAnswer(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer;
    case 'not-sent':
    case 'unknown':
      throw toError(outcome.failure);
    case 'client-gone':
      throw new GatewayError('client_closed');
  }
}

function toError(failure: Failure): GatewayError {
  return new GatewayError(failure.code, { message: failure.message, cause: failure.cause });
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}
