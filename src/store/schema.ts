/** The tables as the code sees them; `migrations/` is how they came to be. */

export interface Schema {
  readonly keys: KeyTable;
  readonly node_reports: NodeReportTable;
}

export interface KeyTable {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the secret in lower-case hex; unique. */
  readonly digest: string;
  readonly hint: string;
  /** A JSON list of text. */
  readonly models: string;
  /** A JSON list of text; null for all of them. */
  readonly operations: string | null;
  /** A JSON list of text; null for all of them. */
  readonly addresses: string | null;
  /** Milliseconds since the epoch, as are the other two. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

interface NodeReportTable {
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly reported_at: number;
  /** A JSON list of target states. */
  readonly targets: string;
}
