/** Every endpoint, in the order of the document. A new one stands here, and in the matrix of roles. */

import { joiningEndpoints } from './access/endpoints/joining.ts';
import { meEndpoints } from './access/endpoints/me.ts';
import { memberEndpoints } from './access/endpoints/members.ts';
import { beginOidc, endOidc } from './access/endpoints/oidc.ts';
import { passkeyEndpoints } from './access/endpoints/passkeys.ts';
import { proofEndpoints } from './access/endpoints/proof.ts';
import { sessionEndpoints } from './access/endpoints/session.ts';
import { tokenEndpoints } from './access/endpoints/tokens.ts';
import { describing } from './api/describing.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { keyEndpoints } from './keys/endpoints/keys.ts';
import { projectEndpoints } from './keys/endpoints/projects.ts';
import { spendingEndpoints } from './keys/endpoints/spending.ts';
import { getAuditEntry, listAudit } from './ledger/endpoints/audit.ts';
import {
  exportLedger,
  getCapture,
  getLedgerRow,
  listLedger,
  listLedgerChoices,
  tailLedger,
} from './ledger/endpoints/ledger.ts';
import { getUsage } from './ledger/endpoints/usage.ts';
import { modelEndpoints } from './models/endpoints/models.ts';
import { listPrices } from './models/endpoints/prices.ts';
import { getLive } from './overview/endpoints/live.ts';
import { getOverview } from './overview/endpoints/overview.ts';
import { confirmBackup, getAbout, getFirstSteps, getHealth, getNotices } from './overview/endpoints/state.ts';
import { playgroundEndpoints } from './playground/endpoints/playground.ts';
import { settingEndpoints } from './settings/endpoints/settings.ts';
import { listFamilies } from './upstreams/endpoints/families.ts';
import { upstreamEndpoints } from './upstreams/endpoints/upstreams.ts';

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
