/** Interface of the admin API for editing upstreams, models and projects: shows them, checks a change, writes it to the store. */

import type { FieldFault } from './field-fault.ts';
import type { Snapshot } from './snapshot.ts';
import type { ResourceKind } from './store/resources.ts';

/**
 * `file`: the configuration file declares it; `store`: it is edited here; `embedded`: it is part of the configuration that holds
 * where there is no file; `built-in`: an upstream's family brings the model along, and one of the same ID takes its place.
 */
export const managers = ['file', 'store', 'embedded', 'built-in'] as const;
type ManagedBy = (typeof managers)[number];

/** In the words of the configuration file. */
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
  /** Of what is in the store. */
  readonly version: number | undefined;
  readonly updatedAtMs: number | undefined;
  /** Whether this gateway goes by it as it stands here; what was just written takes a moment. */
  readonly inForce: boolean;
  /** Secrets say `(sealed)`; what the file takes from the environment stands as it is written there. */
  readonly document: ElementDocument;
}

/** What is written down at once, and what the writer may want to know of it. */
export interface Written {
  readonly outcome: 'created' | 'changed' | 'unchanged';
  readonly version: number;
  readonly warnings: string[];
}

export type PutOutcome =
  | Written
  | Faulty
  | Conflict
  /** The file has it, or what holds in its stead. */
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

export type RemoveOutcome =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'absent' }
  | Conflict
  /** Others still refer to it: a sentence for each. */
  | { readonly outcome: 'needed'; readonly reasons: readonly string[] }
  | { readonly outcome: 'managed-elsewhere'; readonly element: ConfiguredElement };

/** By the place within the document; an empty one is about the whole, or about another element that it does not fit with. */
interface Faulty {
  readonly outcome: 'faulty';
  readonly faults: readonly FieldFault[];
}

/** Someone else wrote since: theirs is there. */
export interface Conflict {
  readonly outcome: 'conflict';
  /** 0 where it is gone. */
  readonly version: number;
  /** As the audit log has it. */
  readonly by: { readonly actor: string; readonly atMs: number } | undefined;
}

export type Preview =
  | Faulty
  | {
      readonly outcome: 'fine';
      readonly warnings: readonly string[];
      /** The configuration as it would be; undefined where other faults keep it from being in force. */
      readonly snapshot: Snapshot | undefined;
    };

interface ChangeOptions {
  /** The version that the writer saw, 0 where it saw none; undefined where it does not care. */
  readonly expected?: number | undefined;
  /** As the audit log names the writer. */
  readonly actor: string;
}

export interface ResourceEditor {
  /** Those of the file first, in its order. */
  list(kind: ResourceKind): Promise<readonly ConfiguredElement[]>;
  get(kind: ResourceKind, id: string): Promise<ConfiguredElement | undefined>;
  /** What says `(sealed)` stays what it is. The document needs no `id`; where it has one, it must be this. */
  put(kind: ResourceKind, id: string, document: ElementDocument, options: ChangeOptions): Promise<PutOutcome>;
  remove(kind: ResourceKind, id: string, options: ChangeOptions): Promise<RemoveOutcome>;
  /** What `put` would say, and nothing is written. */
  preview(kind: ResourceKind, id: string, document: ElementDocument): Promise<Preview>;
}
