/** What released versions know of the steps, and which later ones they pass over. */

/** The last step of each. */
export const lastStepOf: Readonly<Record<string, string>> = {
  '0.1.0': '0013-ledger-slices',
};

export const usageRollupStep = '0023-usage-rollup';
export const compactStep = '0024-ledger-compact';

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
]);
