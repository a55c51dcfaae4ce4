/** What is known of one item, and of the answer that it came in. */

import type { Envelope, Result } from './codecs/codec.ts';

export interface Found {
  readonly result: Result;
  readonly envelope: Envelope;
  /** Its share of what that answer counted, by path. */
  readonly counts: ReadonlyMap<string, string>;
  readonly origin: Origin;
}

export interface Origin {
  readonly contentType: string | undefined;
  /** Whose answer was translated, and what was left out of the call. */
  readonly translatedBy: string | undefined;
  readonly ignored: readonly string[];
}
