/** The order of what changed in the store: the port by which other nodes and threads hear of it. */

/** What changed, in order: how other nodes and threads hear of it. */
export interface Change {
  readonly sequence: number;
  readonly kind: 'key' | 'resource' | 'setting';
  readonly id: string;
}

export interface ChangeFeed {
  /** The number of the last change; 0 where none was made yet. */
  latest(): Promise<number>;
  /** Those after it, the oldest first, a thousand at most. */
  since(sequence: number): Promise<Change[]>;
  /** Calls as soon as the database says that something changed, where it can; nobody may rely on it. */
  listen(onChange: () => void): { close(): Promise<void> };
}
