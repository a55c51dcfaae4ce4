/** Tells from subtitles how long a recording is: their last one ends where the last word does. */

import type { Usage } from '../../core/accounting/usage.ts';
import type { Excerpt } from '../answers/excerpt.ts';

/** As SubRip and WebVTT have it: `00:01:02,345 --> 00:01:04,000`, `01:02.345 --> 01:04.000`. */
const cue = /--> *(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{3})/g;

/** Null where there are none. */
export function readSubtitles(excerpt: Excerpt): Usage | null {
  const [, hours = '0', minutes = '0', seconds = '0', thousandths = '0'] =
    [...excerpt.tail().toString('latin1').matchAll(cue)].at(-1) ?? [];
  const end = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) + Number(thousandths) / 1_000;
  if (end === 0) return null;
  return {
    promptTokens: null,
    completionTokens: null,
    totalTokens: null,
    searchUnits: null,
    seconds: end,
    isLikely: true,
  };
}
