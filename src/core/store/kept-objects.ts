/** What upstreams keep for clients, by the IDs that these know: whose it is and where it lies, and the port of the store. */

export const keptKinds = ['response', 'item', 'container', 'file'] as const;
/** IDs of two kinds may be the same. */
export type KeptKind = (typeof keptKinds)[number];

/** As a client names it. */
export interface KeptName {
  readonly kind: KeptKind;
  readonly id: string;
}

export interface KeptObject extends KeptName {
  /** Whoever may use it: see `ownerOf`. */
  readonly owner: string;
  readonly upstream: string;
  /** The fingerprint of the credential by which it was made: it lies in that one's account. */
  readonly credential: string;
  /** The public ID of the model that made it. */
  readonly model: string;
  readonly createdAtMs: number;
  /** What the upstream said of it when it was made, as it came; of a file alone. */
  readonly document?: string | undefined;
}

interface FilePage {
  readonly order: 'asc' | 'desc';
  /** Behind this one. */
  readonly after?: Pick<KeptObject, 'id' | 'createdAtMs'> | undefined;
  readonly limit: number;
}

export interface KeptObjectStore {
  /** Those that are there already stay as they are: what one upstream keeps under one ID belongs to whoever had it first. */
  add(objects: readonly KeptObject[]): Promise<void>;
  /** All of these names, whoever they belong to; the newest first. */
  find(names: readonly KeptName[]): Promise<KeptObject[]>;
  /** Of files, those of an owner: the newest first, or the oldest. */
  page(owner: string, options: FilePage): Promise<KeptObject[]>;
  remove(object: KeptName & Pick<KeptObject, 'upstream'>): Promise<void>;
  /** Deletes what was made before, but for files. A few thousand at a time: call again until it says 0. */
  prune(beforeMs: number): Promise<number>;
}

/** Upstreams forget what they keep after thirty days. */
export const keptObjectsMs = 30 * 86_400_000;

/** A longer one, or one with other characters, is not remembered, and known to nobody. */
export const isKeptId = (id: string): boolean => /^[A-Za-z0-9_][\x21-\x7e]{0,255}$/.test(id);
