/** Interface to validate key settings against the configuration, for everything that changes keys. */

import type { Caps } from './caps.ts';
import type { FieldFault } from './field-fault.ts';
import type { CapsDocument, KeyRecord, KeyTerms, KeyTermsDocument } from './key.ts';
import type { FilePosition } from './resource-editor.ts';
import type { Snapshot } from './snapshot.ts';
import type { KeyChange, NewKey } from './store/keys.ts';

export type NewKeyTerms = Omit<NewKey, 'digest' | 'hint'>;

export type ParsedTerms<T> =
  | { readonly terms: T; readonly faults?: undefined }
  | { readonly terms?: undefined; readonly faults: readonly FieldFault[] };

/** By what the terms of a key are judged beside the words themselves. */
export interface KeyGround {
  readonly nowMs: number;
  /** The IDs of those there are; a key of one that is not there would have no cap. Undefined: that is looked at elsewhere. */
  readonly projects?: ReadonlySet<string> | undefined;
}

export interface KeyJudge {
  parseNew(document: unknown, ground: KeyGround): ParsedTerms<NewKeyTerms>;
  /** Only what is in the document, each field as a whole; null takes away what is there. */
  parseChange(document: unknown, before: Pick<KeyRecord, 'caps'>, ground: KeyGround): ParsedTerms<KeyChange>;
  parseOverlap(text: string): number | { readonly fault: string };
  describe(key: Omit<KeyTerms, 'expiresAtMs'>): KeyTermsDocument;
  describeCaps(caps: Caps): CapsDocument;
  /** What is legal, and yet most often a slip. */
  warnings(
    key: Pick<KeyRecord, 'models' | 'caps' | 'project' | 'metadata'> & { readonly name?: string | undefined },
    snapshot: Snapshot,
  ): readonly string[];
  /** Where the file declares the key. */
  positionOf(id: string): FilePosition | undefined;
}
