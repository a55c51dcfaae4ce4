/** Interface to store which objects (files, batches, responses) exist at upstreams: by ID, with owner and location. */

import type { BatchSize, RequestEstimate } from '../accounting/price.ts';

export const storedKinds = ['response', 'item', 'container', 'file', 'batch', 'interaction'] as const;
/** The kind of a stored object; objects of two kinds may have the same ID. */
export type StoredKind = (typeof storedKinds)[number];

export interface StoredName {
  readonly kind: StoredKind;
  readonly id: string;
}

export interface StoredObject extends StoredName {
  /** The project or key that owns the object; see `ownerOf`. */
  readonly owner: string;
  readonly upstream: string;
  /** The fingerprint of the credential that created it: the object is in that credential's account. */
  readonly credential: string;
  /** The public ID of the model that created it. */
  readonly model: string;
  readonly createdAtMs: number;
  /** The upstream's JSON document as received: of a file at its creation, of a batch the latest. */
  readonly document?: string | undefined;
  /** For a file whose lines may become a batch: what validation found in them. */
  readonly input?: BatchInput | undefined;
}

/** The requests in a batch file, as validated when the file arrived. */
export interface BatchInput {
  /** The public ID of the model that all lines name, and the name they use for it. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly estimate: RequestEstimate & { readonly batch: BatchSize };
}

export type ListedKind = Extract<StoredKind, 'file' | 'batch'>;

interface ObjectPage {
  readonly order: 'asc' | 'desc';
  /** Only objects after this one in the list. */
  readonly after?: Pick<StoredObject, 'id' | 'createdAtMs'> | undefined;
  readonly limit: number;
}

export interface StoredObjectStore {
  /** Records objects. Existing entries stay: an upstream's ID belongs to its first owner. */
  add(objects: readonly StoredObject[]): Promise<void>;
  /** All objects with these names, of any owner; the newest first. */
  find(names: readonly StoredName[]): Promise<StoredObject[]>;
  page(owner: string, kind: ListedKind, options: ObjectPage): Promise<StoredObject[]>;
  describe(object: StoredName & Pick<StoredObject, 'upstream'>, document: string): Promise<void>;
  remove(object: StoredName & Pick<StoredObject, 'upstream'>): Promise<void>;
  /** Deletes older objects, except files. A few thousand at a time: call until it returns 0. */
  prune(beforeMs: number): Promise<number>;
}

/** How long records of stored objects are kept: upstreams delete the objects after thirty days. */
export const storedObjectsMs = 30 * 86_400_000;

/** Whether an ID can be recorded; a longer one, or one with other characters, stays unknown. */
export const isStoredId = (id: string): boolean => /^[A-Za-z0-9_][\x21-\x7e]{0,255}$/.test(id);
