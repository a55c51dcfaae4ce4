/** Joins the text of completions, streamed or plain. */

import { read, readList } from '../call.ts';

export interface Written {
  /** One text for each choice. */
  readonly texts: readonly string[];
  readonly reasons: readonly (string | undefined)[];
  readonly pieces: number;
}

export const nothingWritten: Written = { texts: [], reasons: [], pieces: 0 };

/** Adds an event of a stream, or a complete answer: both contain choices with an index and text. */
export function addPiece(before: Written, event: unknown): Written {
  const texts = [...before.texts];
  const reasons = [...before.reasons];
  let { pieces } = before;
  for (const choice of readList(event, 'choices')) {
    const [index, text, reason] = [read(choice, 'index'), read(choice, 'text'), read(choice, 'finish_reason')];
    const place = typeof index === 'number' && index >= 0 && index < mostChoices ? index : 0;
    while (texts.length <= place) texts.push('');
    if (typeof text === 'string') {
      texts[place] = (texts[place] ?? '') + text;
      if (text !== '') pieces += 1;
    }
    if (typeof reason === 'string') reasons[place] = reason;
  }
  return { texts, reasons, pieces };
}

/** Limit of choices: an index comes from an upstream, and must not create a list of a million empty texts. */
const mostChoices = 256;

const reasonWords: Readonly<Record<string, string>> = {
  stop: 'ended by itself',
  length: 'stopped at max_tokens',
  content_filter: 'held back by a content filter',
};

export const toReasonWords = (reason: string): string => reasonWords[reason] ?? `ended: ${reason}`;
