/** Defines an uploaded form (multipart): its parts, and its bytes as received, in memory or in a file. */

import type { Buffer } from 'node:buffer';
import type { CallBody } from './call-body.ts';

export interface FormPart {
  /** The part's name from its head, each byte as one character; the following fields are from the head too. */
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** Offset of the part's content in the form. */
  readonly start: number;
  readonly end: number;
  /** The content of a short part that is no file. */
  readonly text: Buffer | undefined;
}

export interface Upload {
  readonly body: CallBody;
  readonly bytes: number;
  readonly parts: readonly FormPart[];
  readonly boundary: string;
  /** Offset of the first boundary, which may follow a line end. */
  readonly beginsAt: number;
  /** Releases the form's memory or file. Idempotent. */
  release(): void;
}
