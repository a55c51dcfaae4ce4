/** The audit log's entries, and its port. */

export interface AuditEntry {
  readonly id: string;
  readonly atMs: number;
  /** Who: `command line`, `first start`, a member of the console. */
  readonly actor: string;
  /** Such as `key.create`, `upstream.put`. */
  readonly action: string;
  readonly subject: string;
  /** Without secrets; null where there was, or is, nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

interface AuditFilter {
  readonly actor?: string | undefined;
  /** How the action begins: `key.` for all that is done to keys. */
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** At this time or later. */
  readonly fromMs?: number | undefined;
  /** Before. */
  readonly toMs?: number | undefined;
}

export interface AuditStore {
  add(entry: Omit<AuditEntry, 'id' | 'atMs'>): Promise<void>;
  /** The newest first; `before` is the ID of the last entry of the page before. */
  page(options: AuditFilter & { readonly before?: string | undefined; readonly limit: number }): Promise<AuditEntry[]>;
}
