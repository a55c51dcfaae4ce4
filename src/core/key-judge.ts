/** Interface to validate a key's settings against the configuration, for everything that creates or changes keys. */

import type { FieldFault } from './field-fault.ts';
import type { KeyRecord, KeyTerms, KeyTermsDocument } from './key.ts';
import type { FilePosition } from './resource-editor.ts';
import type { Snapshot } from './snapshot.ts';
import type { KeyChange, NewKey } from './store/keys.ts';

export type NewKeyTerms = Omit<NewKey, 'digest' | 'hint'>;

export type ParsedTerms<T> =
  | { readonly terms: T; readonly faults?: undefined }
  | { readonly terms?: undefined; readonly faults: readonly FieldFault[] };

/** The parts of the configuration that a key's settings are validated against. */
export interface KeyGround {
  readonly nowMs: number;
  /** The IDs of existing projects: a key in an unknown project would have no cap. Undefined where projects are checked elsewhere. */
  readonly projects?: ReadonlySet<string> | undefined;
}

export interface KeyJudge {
  parseNew(document: unknown, ground: KeyGround): ParsedTerms<NewKeyTerms>;
  /** Validates a change: the document has only the fields to change, each as a whole; null removes one. */
  parseChange(document: unknown, before: Pick<KeyRecord, 'caps'>, ground: KeyGround): ParsedTerms<KeyChange>;
  parseOverlap(text: string): number | { readonly fault: string };
  describe(key: Omit<KeyTerms, 'expiresAtMs'>): KeyTermsDocument;
  /** Warnings about settings that are valid, but most often a mistake. */
  warnings(
    key: Pick<KeyRecord, 'models' | 'caps' | 'project' | 'metadata'> & { readonly name?: string | undefined },
    snapshot: Snapshot,
  ): readonly string[];
  positionOf(id: string): FilePosition | undefined;
}
