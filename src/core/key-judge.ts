/** Interface to validate key settings against the configuration, for everything that changes keys. */

import type { FieldFault } from './field-fault.ts';
import type { KeyRecord, KeyTerms, KeyTermsDocument } from './key.ts';
import type { FilePosition } from './resource-editor.ts';
import type { Snapshot } from './snapshot.ts';
import type { KeyChange, NewKey } from './store/keys.ts';

export type NewKeyTerms = Omit<NewKey, 'digest' | 'hint'>;

export type ParsedTerms<T> =
  | { readonly terms: T; readonly faults?: undefined }
  | { readonly terms?: undefined; readonly faults: readonly FieldFault[] };

/** What a key's terms are validated against. */
export interface KeyGround {
  readonly nowMs: number;
  /** The IDs of existing projects; a key in an unknown project would have no cap. Undefined: checked elsewhere. */
  readonly projects?: ReadonlySet<string> | undefined;
}

export interface KeyJudge {
  parseNew(document: unknown, ground: KeyGround): ParsedTerms<NewKeyTerms>;
  /** Only the fields of the document, each as a whole; null removes one. */
  parseChange(document: unknown, before: Pick<KeyRecord, 'caps'>, ground: KeyGround): ParsedTerms<KeyChange>;
  parseOverlap(text: string): number | { readonly fault: string };
  describe(key: Omit<KeyTerms, 'expiresAtMs'>): KeyTermsDocument;
  /** Valid settings that are most often a mistake. */
  warnings(
    key: Pick<KeyRecord, 'models' | 'caps' | 'project' | 'metadata'> & { readonly name?: string | undefined },
    snapshot: Snapshot,
  ): readonly string[];
  /** Where the file declares the key. */
  positionOf(id: string): FilePosition | undefined;
}
