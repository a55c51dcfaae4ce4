/** Prepares the chosen response for the client: searches it for credentials, and rewrites an error in the gateway's format. */

import type { TargetLease } from '../core/dispatch.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer } from '../core/outcome.ts';
import type { Plan } from '../plan/planned-call.ts';
import { readerOf } from './client-param.ts';
import { inOurWords } from './foreign-error.ts';
import { screenError, screenSuccess } from './screen.ts';
import { searchFor } from './secret-search.ts';
import { untilGone } from './until-gone.ts';
import type { Verdict } from './verdict.ts';

/** Records in the exchange which target and credential produced the answer that the client gets. */
export function note(exchange: Exchange, answer: Answer, { candidate, credential }: TargetLease): void {
  exchange.target = candidate.target;
  exchange.credential = credential;
  exchange.sentAtMs = answer.sentAtMs;
  exchange.firstByteAtMs = answer.firstByteAtMs;
}

export function pass(plan: Plan, answer: Answer, lease: TargetLease, verdict: Verdict): Answer | Promise<Answer> {
  const { exchange } = plan;
  const { target } = lease.candidate;
  note(exchange, answer, lease);
  const { status, meantStatus = status } = answer;
  const search = searchFor(lease);
  if (verdict === 'serves' && meantStatus < 400) {
    if (target.upstream.screen === 'errors' || search.inSuccesses.isEmpty) return answer;
    return screenSuccess(answer, search.inSuccesses, exchange);
  }
  const screened = screenError(answer, search, exchange);
  return untilGone(
    exchange,
    answer,
    inOurWords(screened, meantStatus, lease.candidate, readerOf(plan, lease.candidate)),
  );
}
