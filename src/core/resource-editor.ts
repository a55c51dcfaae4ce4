/** Interface of the admin API for editing upstreams, models and projects: shows them, checks a change, writes it to the store. */

import type { FieldFault } from './field-fault.ts';
import type { Snapshot } from './snapshot.ts';
import type { ChangeOptions, ResourceKind } from './store/resources.ts';

/**
 * `file`: the configuration file declares it; `store`: it is edited here; `embedded`: part of the configuration used without a file; `built-in`: a
 * model of the upstream's family, which one of the same ID replaces.
 */
export const managers = ['file', 'store', 'embedded', 'built-in'] as const;
type ManagedBy = (typeof managers)[number];

/** As in the configuration file. */
export type ElementDocument = Readonly<Record<string, unknown>>;

export interface FilePosition {
  /** Absolute. */
  readonly file: string;
  readonly line: number;
}

/** An upstream, a model or a project, wherever it is declared. */
export interface ConfiguredElement {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly managedBy: ManagedBy;
  /** Where the file declares it. */
  readonly place: FilePosition | undefined;
  /** Of the stored element. */
  readonly version: number | undefined;
  readonly updatedAtMs: number | undefined;
  /** Whether the running configuration has it in this form; a write takes a moment. */
  readonly inForce: boolean;
  /** Secrets are `(sealed)`; references to the environment stay as in the file. */
  readonly document: ElementDocument;
}

/** The result of a write, with warnings for the writer. */
export interface Written {
  readonly outcome: 'created' | 'changed' | 'unchanged';
  readonly version: number;
  readonly warnings: string[];
}

export type PutOutcome =
  | Written
  | Faulty
  | Conflict
  /** The file declares it, or the configuration used without a file. */
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

export type RemoveOutcome =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'absent' }
  | Conflict
  /** Others refer to it: a sentence for each. */
  | { readonly outcome: 'needed'; readonly reasons: readonly string[] }
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

/** Faults by position in the document; an empty one concerns the whole, or a conflict with another element. */
interface Faulty {
  readonly outcome: 'faulty';
  readonly faults: readonly FieldFault[];
}

/** Another writer was first: the stored element is theirs. */
export interface Conflict {
  readonly outcome: 'conflict';
  /** 0 where it was deleted. */
  readonly version: number;
  /** The last writer, from the audit log. */
  readonly by: { readonly actor: string; readonly atMs: number } | undefined;
}

export type Preview =
  | Faulty
  | {
      readonly outcome: 'fine';
      readonly warnings: readonly string[];
      /** The resulting configuration; undefined where other faults keep it from being applied. */
      readonly snapshot: Snapshot | undefined;
    };

export interface ResourceEditor {
  /** The file's first, in its order. */
  list(kind: ResourceKind): Promise<readonly ConfiguredElement[]>;
  get(kind: ResourceKind, id: string): Promise<ConfiguredElement | undefined>;
  /** A value `(sealed)` leaves the stored secret. `id` is optional, and must match where it is present. */
  put(kind: ResourceKind, id: string, document: ElementDocument, options: ChangeOptions): Promise<PutOutcome>;
  remove(kind: ResourceKind, id: string, options: ChangeOptions): Promise<RemoveOutcome>;
  /** The result that `put` would have, without writing. */
  preview(kind: ResourceKind, id: string, document: ElementDocument): Promise<Preview>;
}
