/** An uploaded form: its parts, and its bytes as received, in memory or in a file. */

import type { Buffer } from 'node:buffer';
import type { CallBody } from './call-body.ts';

export interface FormPart {
  /** As its head says it, each byte a character; the same goes for what follows. */
  readonly name: string;
  /** Undefined where it is no file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** It names a transfer encoding, be it one that changes nothing. */
  readonly namesEncoding: boolean;
  /** Where in the whole its content stands. */
  readonly start: number;
  readonly end: number;
  /** Of one that is no file, and is not long. */
  readonly text: Buffer | undefined;
}

export interface Upload {
  readonly body: CallBody;
  readonly bytes: number;
  readonly parts: readonly FormPart[];
  readonly boundary: string;
  /** Where its first boundary stands: a line end may come before it. */
  readonly beginsAt: number;
  /** Nobody sends it any more; only the first time does anything. */
  release(): void;
}
