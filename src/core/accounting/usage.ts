/** Usage that an upstream reported. What it did not report is null, never a guess. */

import type { Units } from './units.ts';

export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  /** What a recording lasts, parts of seconds too. */
  readonly seconds?: number | null;
  /** Of the prompt's tokens, those that it had in its cache. */
  readonly cachedTokens?: number | null;
  /** And those that it put there. */
  readonly cacheWriteTokens?: number | null;
  /** It did not count, but what it says tells as much, nearly. */
  readonly isLikely?: boolean;
  /** Some of it was counted by another model, whose price nobody knows. */
  readonly isOfOthers?: boolean;
  /** What it told apart beyond that. */
  readonly units?: Units | undefined;
}

/** Those of its fields that are whole numbers. */
export const usageCounts = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'searchUnits',
  'cachedTokens',
  'cacheWriteTokens',
] as const;

/** What was seen of the pictures in an answer while it passed. */
export interface Pictures {
  readonly count: number;
  /** As the service says it, such as `1024x1024`; undefined where it does not. */
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** What was seen of the text of completions while it passed. */
export interface Written {
  /** Texts that are not empty: choices of a whole answer, events of a stream. */
  readonly texts: number;
  /** Of all of them, as JSON has them. */
  readonly bytes: number;
  /** Their beginning, a character for each byte. */
  readonly sample: string;
  /** How many choices hold text; of a stream whose request asks for one, one. */
  readonly choices: number;
  /** How many tokens it likely has; undefined where nobody had to know. */
  readonly tokens?: number;
}
