/** Reads the text of a transcription from each response format. */

import { type Answer, read, readList } from '../call.ts';

interface Part {
  readonly startSeconds: number | undefined;
  readonly text: string;
}

export interface Heard {
  readonly text: string;
  readonly language: string | undefined;
  readonly seconds: number | undefined;
  /** Parts of the text with their times; empty if the model was not asked for them. */
  readonly parts: readonly Part[];
}

const mostParts = 2_000;

export function toHeard({ json, text, isStream }: Pick<Answer, 'json' | 'text' | 'isStream'>): Heard {
  // Subtitles and plain text are no JSON.
  if (json === undefined) return { text: text.trim(), language: undefined, seconds: undefined, parts: [] };
  const events = isStream && Array.isArray(json) ? json : [];
  const whole = events.findLast((event) => read(event, 'type') === 'transcript.text.done') ?? json;
  const pieces = events.map((event) => read(event, 'delta')).filter((delta) => typeof delta === 'string');
  const said = read(whole, 'text');
  return {
    text: typeof said === 'string' ? said.trim() : pieces.join(''),
    language: textOf(read(whole, 'language')),
    seconds: numberOf(read(whole, 'duration')) ?? numberOf(read(read(whole, 'usage'), 'seconds')),
    parts: readList(whole, 'segments').slice(0, mostParts).flatMap(toPart),
  };
}

function toPart(segment: unknown): Part[] {
  const text = textOf(read(segment, 'text'));
  return text === undefined ? [] : [{ startSeconds: numberOf(read(segment, 'start')), text: text.trim() }];
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** The number in a value, which some services send as a text. */
const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** A time as minutes and seconds: 75.2 becomes 1:15. */
export const toClock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
