/** Every migration by its name, which sorts in the order in which they run. One that was released is never edited. */

import type { Migration } from 'kysely/migration';
import { addedKeyColumns } from '../key-columns.ts';
import { keys } from './0001-keys.ts';
import { nodeReports } from './0002-node-reports.ts';
import { keyCaps } from './0003-key-caps.ts';
import { resources } from './0004-resources.ts';
import { ledger } from './0005-ledger.ts';
import { budgets } from './0006-budgets.ts';
import { access } from './0007-access.ts';
import { keyVersions } from './0008-key-versions.ts';
import { keyDays } from './0009-key-days.ts';
import { proofs } from './0010-proofs.ts';
import { budgetNodes } from './0011-budget-nodes.ts';
import { ledgerSlices } from './0013-ledger-slices.ts';
import { keptObjects } from './0014-kept-objects.ts';
import { backgroundAnswers } from './0015-background-answers.ts';
import { files } from './0016-files.ts';
import { batches } from './0017-batches.ts';
import { ledgerUnits } from './0018-ledger-units.ts';
import { ledgerTraces } from './0019-ledger-traces.ts';
import { nodeDrift } from './0020-node-drift.ts';
import { usageUnits } from './0021-usage-units.ts';
import { nodeSecretKeys } from './0022-node-secret-keys.ts';
import { usageRollup } from './0023-usage-rollup.ts';
import { ledgerCompact } from './0024-ledger-compact.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-keys': keys,
  '0002-node-reports': nodeReports,
  '0003-key-caps': keyCaps,
  '0004-resources': resources,
  '0005-ledger': ledger,
  '0006-budgets': budgets,
  '0007-access': access,
  '0008-key-versions': keyVersions,
  '0009-key-days': keyDays,
  '0010-proofs': proofs,
  '0011-budget-nodes': budgetNodes,
  ...addedKeyColumns,
  '0013-ledger-slices': ledgerSlices,
  '0014-kept-objects': keptObjects,
  '0015-background-answers': backgroundAnswers,
  '0016-files': files,
  '0017-batches': batches,
  '0018-ledger-units': ledgerUnits,
  '0019-ledger-traces': ledgerTraces,
  '0020-node-drift': nodeDrift,
  '0021-usage-units': usageUnits,
  '0022-node-secret-keys': nodeSecretKeys,
  '0023-usage-rollup': usageRollup,
  '0024-ledger-compact': ledgerCompact,
};
