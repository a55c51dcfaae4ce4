/** Stored objects (files, batches, responses at upstreams) by ID: owner and location, and the store interface. */

import type { BatchSize, RequestEstimate } from '../accounting/price.ts';

export const storedKinds = ['response', 'item', 'container', 'file', 'batch', 'interaction'] as const;
/** IDs of two kinds may be the same. */
export type StoredKind = (typeof storedKinds)[number];

/** As a client names it. */
export interface StoredName {
  readonly kind: StoredKind;
  readonly id: string;
}

export interface StoredObject extends StoredName {
  /** Whoever may use it: see `ownerOf`. */
  readonly owner: string;
  readonly upstream: string;
  /** The fingerprint of the credential by which it was made: it lies in that one's account. */
  readonly credential: string;
  /** The public ID of the model that made it. */
  readonly model: string;
  readonly createdAtMs: number;
  /** What the upstream said of it, as it came: of a file when it was made, of a batch the last time. */
  readonly document?: string | undefined;
  /** Of a file whose lines may become a batch. */
  readonly input?: BatchInput | undefined;
}

/** The requests in a file, as they were judged when it came. */
export interface BatchInput {
  /** The public ID of the model of all its lines, and the name by which they ask for it. */
  readonly model: string;
  readonly upstreamModel: string;
  readonly estimate: RequestEstimate & { readonly batch: BatchSize };
}

/** Those that lists are made of. */
export type ListedKind = Extract<StoredKind, 'file' | 'batch'>;

interface ObjectPage {
  readonly order: 'asc' | 'desc';
  /** Behind this one. */
  readonly after?: Pick<StoredObject, 'id' | 'createdAtMs'> | undefined;
  readonly limit: number;
}

export interface StoredObjectStore {
  /** Those that are there already stay as they are: what one upstream keeps under one ID belongs to whoever had it first. */
  add(objects: readonly StoredObject[]): Promise<void>;
  /** All of these names, whoever they belong to; the newest first. */
  find(names: readonly StoredName[]): Promise<StoredObject[]>;
  /** Of a kind, those of an owner: the newest first, or the oldest. */
  page(owner: string, kind: ListedKind, options: ObjectPage): Promise<StoredObject[]>;
  /** Whatever was said of it before. */
  describe(object: StoredName & Pick<StoredObject, 'upstream'>, document: string): Promise<void>;
  remove(object: StoredName & Pick<StoredObject, 'upstream'>): Promise<void>;
  /** Deletes what was made before, but for files. A few thousand at a time: call again until it says 0. */
  prune(beforeMs: number): Promise<number>;
}

/** Upstreams forget what they keep after thirty days. */
export const storedObjectsMs = 30 * 86_400_000;

/** A longer one, or one with other characters, is not remembered, and known to nobody. */
export const isStoredId = (id: string): boolean => /^[A-Za-z0-9_][\x21-\x7e]{0,255}$/.test(id);
