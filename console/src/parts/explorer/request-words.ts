/** Writes the outcome of a request and of its calls in words. */

import type { LedgerDetail, LedgerRow } from '../../../../src/admin/contract.ts';
import { formatDuration } from '../words/format.ts';
import { outcomeWords, resultWords } from '../words/labels.ts';

type Outcome = LedgerRow['outcome'];
type Try = LedgerDetail['tries'][number];

interface OutcomeLook {
  readonly label: string;
  readonly state: 'ok' | 'error' | 'warning' | 'left' | 'unknown';
}

export const outcomeLooks: Readonly<Record<Outcome, OutcomeLook>> = {
  ok: { label: resultWords.succeeded, state: 'ok' },
  error: { label: resultWords.failed, state: 'error' },
  refused: { label: resultWords.refused, state: 'warning' },
  aborted: { label: resultWords.cancelled, state: 'left' },
  cut: { label: outcomeWords.cut, state: 'error' },
  lost: { label: outcomeWords.lost, state: 'unknown' },
};

export function describeOutcome({ outcome, status, error, durationMs, upstream }: LedgerRow): string {
  const after = formatDuration(durationMs);
  const subject = upstream === null ? 'The upstream' : `The upstream ${upstream}`;
  const why = error === null ? '' : ` (${error})`;
  switch (outcome) {
    case 'ok':
      return `Answered with ${status} after ${after}.`;
    case 'error':
      return error === null
        ? `${subject} answered with ${status} after ${after}, and the client got that.`
        : `No upstream gave an answer for the client: Postern said ${status}${why} after ${after}.`;
    case 'refused':
      return `Postern refused it with ${status}${why}; nothing was sent to an upstream.`;
    case 'aborted':
      return `The client left after ${after}.`;
    case 'cut':
      return `The answer broke off after ${after}${why}. The client saw a broken connection.`;
    case 'lost':
      return 'The process that served it ended before it was over. Nobody knows what came of it; it is billed as its worst case.';
  }
}

const tryWords: Readonly<Record<string, string>> = {
  answered: 'answered',
  limited: 'had too many calls',
  rejected: 'refused the credential',
  failed: 'failed',
  broken: 'broke off',
  loading: 'was loading its model',
  redirects: 'pointed elsewhere',
  'not-sent': 'could not be reached',
  unknown: 'gave no answer',
  queue: 'had no free slot in time',
  capped: 'is at its limit',
  outrun: 'was slower than another',
};

/** The outcome of a call, such as "refused the connection (ECONNREFUSED)". Outcomes that only other versions know stay unchanged. */
export function describeTry({ outcome, detail }: Pick<Try, 'outcome' | 'detail'>): string {
  const words = tryWords[outcome] ?? outcome;
  return detail === null ? words : `${words} (${detail})`;
}

/** Whether the call was answered; the list of calls also has some that were not sent. */
export const isAnswered = ({ outcome }: Pick<Try, 'outcome'>): boolean => outcome === 'answered';
