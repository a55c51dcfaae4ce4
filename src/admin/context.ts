/** What the endpoints work with. Whoever composes the house (`administration.ts`) fills it; a test brings its own. */

import type { Family } from '../core/family.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Access } from './access/access.ts';

export interface AdminContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: AdminLog;
  readonly version: string;
  readonly families: readonly Family[];
  readonly configuration: ConfigurationView;
  readonly access: Access;
  /** Where clients are served, such as `http://127.0.0.1:4000/ai`. */
  clientUrl(): string;
}

export interface AdminLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** The configuration in force: another one after each reload. */
export interface ConfigurationView {
  snapshot(): Snapshot;
  /** Absolute; undefined where there is no file and the embedded configuration holds. */
  file(): string | undefined;
  warnings(): readonly string[];
}
