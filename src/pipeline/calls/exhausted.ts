/** Recognises a client error that really means an exhausted account, as some services send with 400. */

import { Buffer } from 'node:buffer';
import { decodeAll } from '../../answers/decoding.ts';
import type { TargetLease } from '../../core/dispatch.ts';
import { mayMeanExhaustion } from '../../core/family.ts';
import type { Answer } from '../../core/outcome.ts';
import { isJsonObject, parseJsonOrNone } from '../../lib/json/json-text.ts';
import { codingsOf } from '../../lib/raw-headers.ts';
import type { Plan } from '../../plan/planned-call.ts';

/** Longest body that is examined: a longer one is no such message. */
const mostBytes = 16 * 1024;
/** Matches escapes of plain letters, by which a client could hide text that it wants repeated. */
const escapedLetter = /\\u00[2-7]/i;

/** Whether the answer means an exhausted account. False if no other target is left, or if the request could have put the words there. */
export function isExhausted(plan: Plan, { candidate }: TargetLease, answer: Answer): boolean | Promise<boolean> {
  const { exhaustion } = candidate.target.upstream.family;
  const { status } = answer;
  if (exhaustion === undefined || !mayMeanExhaustion(status)) return false;
  if (!answer.ended || plan.routePlan.alone || answer.meantStatus !== undefined) return false;
  const bytes = Buffer.concat(answer.waiting);
  if (bytes.length > mostBytes) return false;
  const { codes, messages } = exhaustion;
  const isMatch = (plain: Buffer): boolean => {
    const found = wordsIn(plain, codes, messages);
    return found !== undefined && !mayRepeat(plan.question.body, found);
  };
  const codings = codingsOf(answer.headers);
  return codings.length === 0
    ? isMatch(bytes)
    : decodeAll(bytes, codings, mostBytes).then((plain) => plain !== undefined && isMatch(plain));
}

function wordsIn(bytes: Buffer, codes: readonly string[], messages: readonly string[]): string | undefined {
  const body = parseJsonOrNone(bytes);
  if (!isJsonObject(body) || !isJsonObject(body.error)) return undefined;
  const { code, type, message } = body.error;
  return (
    codes.find((one) => code === one || type === one) ??
    messages.find((one) => typeof message === 'string' && message.startsWith(one))
  );
}

const mayRepeat = (body: Buffer, words: string): boolean =>
  body.includes(words) || escapedLetter.test(body.toString('latin1'));
