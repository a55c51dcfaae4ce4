/** Compares the response parser of `src/wire` with `node:http`, and with itself at other splits. */

import { pick, type Random } from '../../chaos/support/hostile/request-draft.ts';
import { type AnswerReading, readAnswerAsNodeDoes, readAnswerAsWeDo } from './answer-reading.ts';
import { shown } from './reading.ts';
import { wireAnswers } from './wire-answer-cases.ts';
import { spoil } from './wire-fuzz.ts';

/** What is asked decides whether a body follows. */
export const answeredMethods = ['GET', 'HEAD'] as const;

/** How theirs differs from what we took; undefined where it does not, and where we took nothing. */
function differenceOfAnswers(ours: AnswerReading, theirs: AnswerReading): string | undefined {
  if ('why' in ours) return undefined;
  if ('why' in theirs) return `they refuse it: ${theirs.why}`;
  for (const part of ['status', 'reason', 'body', 'fields', 'trailers'] as const) {
    const [own, their] = [String(ours[part]), String(theirs[part])];
    if (own !== their) return `the ${part} is ${shown(own)} here, ${shown(their)} there`;
  }
  return undefined;
}

/** Where node:http refuses what we take, and why that is no danger. */
export const answerExceptions = [
  {
    what: 'an informational answer of HTTP/1.0, or one that says it is the last',
    why: 'None is the last (RFC 9110, 15.2). It reads nothing behind such a one, and has no answer at all.',
    fits: (theirs: AnswerReading, text: string) =>
      'why' in theirs &&
      theirs.why === 'HPE_CLOSED_CONNECTION' &&
      /^(?:HTTP\/1\.0 1\d\d|HTTP\/1\.1 1\d\d.*\r\n(?:.+\r\n)*(?:proxy-)?connection:.*close)/im.test(text),
  },
  {
    what: 'blanks in the extension of a chunk',
    why: 'RFC 9112, 7.1.1 has recipients take them behind the semicolon and around the equals sign. It refuses them.',
    fits: (theirs: AnswerReading, text: string) =>
      'why' in theirs && /^[0-9a-f]+;.*(?:;[ \t]|[ \t]=|=[ \t]|[ \t];)|^[0-9a-f]+;[ \t]/im.test(text),
  },
] as const;

interface AnswerComparison {
  readonly isTaken: boolean;
  readonly fault: string | undefined;
  readonly exception: string | undefined;
}

export async function compareAnswer(method: string, text: string): Promise<AnswerComparison> {
  const bytes = Buffer.from(text, 'latin1');
  const ours = readAnswerAsWeDo(method, [bytes]);
  const theirs = await readAnswerAsNodeDoes(method, bytes);
  const isTaken = !('why' in ours);
  const difference = differenceOfAnswers(ours, theirs);
  if (difference === undefined) return { isTaken, fault: undefined, exception: undefined };
  const exception = answerExceptions.find(({ fits }) => fits(theirs, text))?.what;
  return {
    isTaken,
    exception,
    fault: exception === undefined ? `${method}: ${difference}: ${shown(text)}` : undefined,
  };
}

/** How the reading changes where it comes in these segments. */
export function faultOfAnswerSplit(method: string, segments: readonly Buffer[]): string | undefined {
  const bytes = Buffer.concat(segments);
  const [whole, split] = [[bytes], segments].map((way) => {
    const reading = readAnswerAsWeDo(method, way);
    return JSON.stringify('why' in reading ? 'refused' : reading);
  });
  return whole === split
    ? undefined
    : `${method}: ${whole} in one piece, ${split} of ${shown(bytes.toString('latin1'))}`;
}

/** A written one with a few bytes changed. */
export function randomAnswer(random: Random): { readonly method: string; readonly text: string } {
  let text = wireAnswers[Math.floor(random() * wireAnswers.length)] ?? '';
  for (let times = 1 + Math.floor(random() * 2); times > 0; times -= 1) text = spoil(text, random);
  return { method: pick(answeredMethods, random), text };
}
