/** An uploaded form: its parts, and its bytes as received, in memory or in a file. */

import type { Buffer } from 'node:buffer';
import type { CallBody } from './call-body.ts';

export interface FormPart {
  /** From its head, each byte a character; so are the following fields. */
  readonly name: string;
  /** Undefined unless it is a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** It declares a transfer encoding, even one that changes nothing. */
  readonly namesEncoding: boolean;
  /** Offset of its content in the form. */
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
  /** Offset of its first boundary, which may follow a line end. */
  readonly beginsAt: number;
  /** Releases its memory or its file. Idempotent. */
  release(): void;
}
