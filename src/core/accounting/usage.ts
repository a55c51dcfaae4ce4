/** Usage that an upstream reported. What it did not report is null, never a guess. */

import type { Units } from './units.ts';

export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  /** Of a recording; may be a fraction. */
  readonly seconds?: number | null;
  /** Prompt tokens that came from its cache. */
  readonly cachedTokens?: number | null;
  /** Prompt tokens that it wrote to its cache. */
  readonly cacheWriteTokens?: number | null;
  /** Not counted, but derived from other facts of the answer, nearly exact. */
  readonly isLikely?: boolean;
  /** Some tokens were counted by another model, whose price is unknown. */
  readonly isOfOthers?: boolean;
  readonly units?: Units | undefined;
}

export const usageCounts = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'searchUnits',
  'cachedTokens',
  'cacheWriteTokens',
] as const;

/** Facts of the pictures in an answer, gathered as it passed. */
export interface Pictures {
  readonly count: number;
  /** As the service reports it, such as `1024x1024`. */
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** Facts of the text of completions, gathered as it passed. */
export interface Written {
  /** Texts that are not empty: choices of a whole answer, events of a stream. */
  readonly texts: number;
  /** Of all texts, as JSON. */
  readonly bytes: number;
  /** The first bytes, a character for each. */
  readonly sample: string;
  /** How many choices hold text; 1 for a stream whose request asks for one. */
  readonly choices: number;
  /** Estimated; undefined where no estimate was needed. */
  readonly tokens?: number;
  /** Instead of any text, a stream has an error. */
  readonly isError?: boolean;
}
