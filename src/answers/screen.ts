/** Keeps an upstream's credential out of responses: an error that repeats it is withheld, a success is cut where it begins. */

import type { Buffer } from 'node:buffer';
import type { TargetLease } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';
import type { NeedleSearch } from '../lib/secrets/needle-search.ts';
import { decode } from './decoding.ts';
import { HeldAnswer } from './held-answer.ts';
import { repeats, repeatsSliced, type SecretSearch, searchFor, toLatin1 } from './secret-search.ts';
import { WatchedAnswer } from './watched-answer.ts';

const decodedLimitBytes = 8 * 1024 * 1024;
/** Most content codings of one body; an answer with more is refused, as they can only hide a credential. */
const mostCodings = 8;

const leak: Omit<Failure, 'cause'> = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with an error that repeats a credential; it is withheld. Tell the operator.',
};

const leakInHead: Omit<Failure, 'cause'> = {
  code: 'upstream_protocol_error',
  message: 'The upstream repeats a credential in the head of its answer; it is withheld. Tell the operator.',
};

const tooLong: Failure = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with a compressed error that is too long to be looked through; it is withheld.',
  cause: 'the error answer is compressed and too long to be looked through for the credential of the upstream',
};

/** The error, safe to pass on; throws where it repeats a credential. */
export async function screenError(answer: Answer, search: SecretSearch, exchange: Exchange): Promise<Answer> {
  const needles = search.inErrors;
  if (needles.isEmpty) return answer;
  if (repeats(headOf(answer), needles)) throw withhold(answer, exchange, leak, 'the error answer');

  const held = new HeldAnswer(answer);
  let plain = await held.beginning;
  if (await repeatsSliced(plain, needles)) throw withhold(answer, exchange, leak, 'the error answer');
  if (repeats(toLatin1(held.trailers), needles)) throw withhold(answer, exchange, leak, 'the error answer');
  const codings = codingsOf(answer.headers);
  if (codings.length > mostCodings) throw refuse(answer, tooLong);
  for (const coding of codings) {
    const decoded = await decode(plain, coding, decodedLimitBytes);
    // Some upstreams list unknown codings, or codings that were not applied: readers ignore them.
    if (decoded === undefined) continue;
    // Unlike a plain body, an encoded one cannot be searched as it passes.
    if (decoded === 'too-long' || !held.isOver) throw refuse(answer, tooLong);
    if (await repeatsSliced(decoded, needles)) throw withhold(answer, exchange, leak, 'the error answer');
    plain = decoded;
  }
  return new WatchedAnswer(held, needles, exchange);
}

/** The success, which is cut where a credential begins; throws where its head repeats one. */
export function screenSuccess(answer: Answer, needles: NeedleSearch, exchange: Exchange): Answer {
  if (isHeadUnfit(answer, needles)) throw withhold(answer, exchange, leakInHead, 'the head of the answer');
  return new WatchedAnswer(answer, needles, exchange);
}

/** The body of a good answer that arrived whole, with the announced length. */
export function wholeBodyIn({ ended, waiting, headers }: Answer): Buffer | undefined {
  const [body] = waiting;
  if (!ended || waiting.length !== 1 || body === undefined) return undefined;
  return headerValue(headers, 'content-length') === String(body.length) ? body : undefined;
}

export function isUnfit(answer: Answer, body: Buffer, lease: TargetLease): boolean {
  if (lease.candidate.target.upstream.screen === 'errors') return false;
  const needles = searchFor(lease).inSuccesses;
  return !needles.isEmpty && (isHeadUnfit(answer, needles) || needles.find(body) !== -1);
}

/** Whether the head repeats a credential. Mostly every header is shorter than the shortest one, and no search is needed. */
function isHeadUnfit(answer: Answer, needles: NeedleSearch): boolean {
  const { shortestBytes } = needles;
  const isLong = (text: string): boolean => text.length >= shortestBytes;
  const mayHold = isLong(answer.statusText) || answer.headers.some(isLong);
  return mayHold && needles.find(headOf(answer)) !== -1;
}

function headOf({ statusText, headers }: Answer): Buffer {
  return toLatin1([statusText, ...headers]);
}

function withhold(answer: Answer, exchange: Exchange, failure: Omit<Failure, 'cause'>, what: string): GatewayError {
  exchange.repeatedCredential = true;
  return refuse(answer, { ...failure, cause: `${what} contains the credential of the upstream` });
}

function refuse(answer: Answer, { code, message, cause }: Failure): GatewayError {
  answer.cancel();
  return new GatewayError(code, { message, cause });
}
