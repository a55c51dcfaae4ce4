/** Defines the usage that an upstream reported for a call. A count that it did not report is null, never a guess. */

import type { Units } from './units.ts';

export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  /** Length of a recording in seconds; may be a fraction. */
  readonly seconds?: number | null;
  /** Prompt tokens that the upstream took from its cache. */
  readonly cachedTokens?: number | null;
  /** Prompt tokens that the upstream wrote to its cache. */
  readonly cacheWriteTokens?: number | null;
  /** The counts were not reported, but derived nearly exactly from other facts of the answer. */
  readonly isLikely?: boolean;
  /** Some of the tokens were counted by another model, whose price is unknown. */
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

/** Facts about the images in an answer, gathered while it passed through. */
export interface Pictures {
  readonly count: number;
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** Facts about the generated text of completions, gathered while it passed through. */
export interface Written {
  /** Number of texts that are not empty: choices in a whole answer, events in a stream. */
  readonly texts: number;
  readonly bytes: number;
  /** The first bytes of the text, each as one character. */
  readonly sample: string;
  /** Number of choices that hold text; 1 for a stream if the request asks for one choice. */
  readonly choices: number;
  /** Estimated tokens of the text; undefined where no estimate was needed. */
  readonly tokens?: number;
  /** The stream contained an error instead of text. */
  readonly isError?: boolean;
}
