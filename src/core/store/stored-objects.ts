/** Stored objects (files, batches, responses at upstreams) by ID: owner and location, and the store interface. */

import type { BatchSize, RequestEstimate } from '../accounting/price.ts';

export const storedKinds = ['response', 'item', 'container', 'file', 'batch', 'interaction'] as const;
/** IDs of two kinds may be the same. */
export type StoredKind = (typeof storedKinds)[number];

/** The ID that clients use. */
export interface StoredName {
  readonly kind: StoredKind;
  readonly id: string;
}

export interface StoredObject extends StoredName {
  /** See `ownerOf`. */
  readonly owner: string;
  readonly upstream: string;
  /** The fingerprint of the credential that created it: the object is in that credential's account. */
  readonly credential: string;
  /** The public ID of the model that created it. */
  readonly model: string;
  readonly createdAtMs: number;
  /** The upstream's document, as received: of a file at its creation, of a batch the latest. */
  readonly document?: string | undefined;
  /** Of a file whose lines may become a batch. */
  readonly input?: BatchInput | undefined;
}

/** The requests in a file, as validated when it arrived. */
export interface BatchInput {
  /** The public ID of all lines' model, and the name they use for it. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly estimate: RequestEstimate & { readonly batch: BatchSize };
}

export type ListedKind = Extract<StoredKind, 'file' | 'batch'>;

interface ObjectPage {
  readonly order: 'asc' | 'desc';
  /** After this one. */
  readonly after?: Pick<StoredObject, 'id' | 'createdAtMs'> | undefined;
  readonly limit: number;
}

export interface StoredObjectStore {
  /** Existing entries stay: an upstream's ID belongs to its first owner. */
  add(objects: readonly StoredObject[]): Promise<void>;
  /** All of these names, of any owner; the newest first. */
  find(names: readonly StoredName[]): Promise<StoredObject[]>;
  /** An owner's objects of one kind: the newest first, or the oldest. */
  page(owner: string, kind: ListedKind, options: ObjectPage): Promise<StoredObject[]>;
  describe(object: StoredName & Pick<StoredObject, 'upstream'>, document: string): Promise<void>;
  remove(object: StoredName & Pick<StoredObject, 'upstream'>): Promise<void>;
  /** Deletes older objects, except files. A few thousand at a time: call until it returns 0. */
  prune(beforeMs: number): Promise<number>;
}

/** Upstreams delete such objects after thirty days. */
export const storedObjectsMs = 30 * 86_400_000;

/** A longer ID, or one with other characters, is not recorded, and so unknown. */
export const isStoredId = (id: string): boolean => /^[A-Za-z0-9_][\x21-\x7e]{0,255}$/.test(id);
