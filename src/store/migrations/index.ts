/** All migrations by name, in the order in which they run. Released ones never change. */

import type { Migration } from 'kysely/migration';
import { released } from './0001-to-0013.ts';
import { later } from './0014-to-0028.ts';

export const migrations: Readonly<Record<string, Migration>> = { ...released, ...later };

/** The last step of each. */
export const lastStepOf: Readonly<Record<string, string>> = {
  '0.1.0': '0013-ledger-slices',
};

export const usageRollupStep = '0023-usage-rollup';
export const compactStep = '0024-ledger-compact';
export const seriesStep = '0026-series';

/** Steps that add tables, or columns that may be empty, or that can be undone as they are set aside: a version that does not know them runs on beside them. */
export const passedOver: ReadonlySet<string> = new Set([
  '0014-kept-objects',
  '0015-background-answers',
  '0016-files',
  '0017-batches',
  '0018-ledger-units',
  '0019-ledger-traces',
  '0020-node-drift',
  '0021-usage-units',
  '0022-node-secret-keys',
  usageRollupStep,
  compactStep,
  '0025-key-lanes',
  seriesStep,
  '0027-ledger-queue',
  '0028-alerts',
]);
