/** Every endpoint, in the order of the document. A new one stands here, and in the matrix of roles. */

import type { AnyEndpoint } from '../endpoint.ts';
import { getAuditEntry, listAudit } from './audit.ts';
import { listFamilies } from './families.ts';
import { joiningEndpoints } from './joining.ts';
import { keyEndpoints } from './keys.ts';
import { exportLedger, getCapture, getLedgerRow, listLedger, listLedgerChoices, tailLedger } from './ledger.ts';
import { getLive } from './live.ts';
import { meEndpoints } from './me.ts';
import { memberEndpoints } from './members.ts';
import { modelEndpoints } from './models.ts';
import { describing } from './openapi.ts';
import { getOverview } from './overview.ts';
import { passkeyEndpoints } from './passkeys.ts';
import { playgroundEndpoints } from './playground.ts';
import { listPrices } from './prices.ts';
import { projectEndpoints } from './projects.ts';
import { proofEndpoints } from './proof.ts';
import { sessionEndpoints } from './session.ts';
import { beginOidc, endOidc } from './session-oidc.ts';
import { settingEndpoints } from './settings.ts';
import { spendingEndpoints } from './spending.ts';
import { confirmBackup, getAbout, getFirstSteps, getHealth, getNotices } from './state.ts';
import { tokenEndpoints } from './tokens.ts';
import { upstreamEndpoints } from './upstreams.ts';
import { getUsage } from './usage.ts';

export const endpoints: readonly AnyEndpoint[] = [
  ...sessionEndpoints,
  beginOidc,
  endOidc,
  ...passkeyEndpoints,
  ...joiningEndpoints,
  ...meEndpoints,
  ...proofEndpoints,
  ...memberEndpoints,
  ...tokenEndpoints,
  getLive,
  getOverview,
  getHealth,
  getNotices,
  confirmBackup,
  getFirstSteps,
  getAbout,
  listFamilies,
  ...upstreamEndpoints,
  ...modelEndpoints,
  listPrices,
  ...playgroundEndpoints,
  ...keyEndpoints,
  ...projectEndpoints,
  ...spendingEndpoints,
  ...settingEndpoints,
  listLedger,
  exportLedger,
  tailLedger,
  listLedgerChoices,
  getLedgerRow,
  getCapture,
  getUsage,
  listAudit,
  getAuditEntry,
  describing(() => endpoints),
];
