/** Interface for editing upstreams, models, projects and settings: shows them, checks a change, and writes it to the store. */

import type { FieldFault } from './field-fault.ts';
import type { Snapshot } from './snapshot.ts';
import type { ChangeOptions, ResourceKind } from './store/resources.ts';

/**
 * Where an element is declared. `file`: in the configuration file; `store`: edited in the admin API; `embedded`: in the configuration used without a
 * file; `built-in`: a model of the upstream's family, which one of the same ID replaces.
 */
export const managers = ['file', 'store', 'embedded', 'built-in'] as const;
type ManagedBy = (typeof managers)[number];

export type ElementDocument = Readonly<Record<string, unknown>>;

export interface FilePosition {
  readonly file: string;
  readonly line: number;
}

export interface ConfiguredElement {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly managedBy: ManagedBy;
  readonly place: FilePosition | undefined;
  readonly version: number | undefined;
  readonly updatedAtMs: number | undefined;
  /** Whether the running configuration has the element in this form: a write takes effect after a moment. */
  readonly inForce: boolean;
  /** The element's fields. Secrets are `(sealed)`; references to the environment stay as in the file. */
  readonly document: ElementDocument;
}

export interface Written {
  readonly outcome: 'created' | 'changed' | 'unchanged';
  readonly version: number;
  readonly warnings: string[];
}

export type PutOutcome =
  | Written
  | Faulty
  | Conflict
  /** The change was refused: the file, or the configuration used without a file, declares the element. */
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

export type RemoveOutcome =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'absent' }
  | Conflict
  /** The element cannot be deleted as others refer to it: a sentence for each. */
  | { readonly outcome: 'needed'; readonly reasons: readonly string[] }
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

/** Faults by position in the document; an empty position concerns the whole, or a conflict with another element. */
interface Faulty {
  readonly outcome: 'faulty';
  readonly faults: readonly FieldFault[];
}

/** The change was refused, because another writer changed the stored element first. */
export interface Conflict {
  readonly outcome: 'conflict';
  /** The stored element's version; 0 where it was deleted. */
  readonly version: number;
  readonly by: { readonly actor: string; readonly atMs: number } | undefined;
}

export type Preview =
  | Faulty
  | {
      readonly outcome: 'fine';
      readonly warnings: readonly string[];
      /** The configuration that would result; undefined where other faults keep it from being applied. */
      readonly snapshot: Snapshot | undefined;
    };

export interface ResourceEditor {
  /** All elements of a kind: those of the file first, in its order. */
  list(kind: ResourceKind): Promise<readonly ConfiguredElement[]>;
  get(kind: ResourceKind, id: string): Promise<ConfiguredElement | undefined>;
  /** Writes an element. A value `(sealed)` keeps the stored secret. `id` in the document is optional, and must match. */
  put(kind: ResourceKind, id: string, document: ElementDocument, options: ChangeOptions): Promise<PutOutcome>;
  remove(kind: ResourceKind, id: string, options: ChangeOptions): Promise<RemoveOutcome>;
  /** The result that `put` would have, without writing. */
  preview(kind: ResourceKind, id: string, document: ElementDocument): Promise<Preview>;
}
