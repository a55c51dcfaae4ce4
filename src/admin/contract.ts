/** What the console may import from the server: types of what goes over the wire, and nothing that runs. */

import type * as z from 'zod';
import type { FieldFault } from '../core/field-fault.ts';
import type * as access from './access/contract/access.ts';
import type * as passkeys from './access/contract/passkeys.ts';
import type * as sessions from './access/contract/session.ts';
import type * as keys from './keys/contract/keys.ts';
import type * as audits from './ledger/contract/audit.ts';
import type * as ledgers from './ledger/contract/ledger.ts';
import type * as usages from './ledger/contract/usage.ts';
import type * as models from './models/contract/models.ts';
import type * as lives from './overview/contract/live.ts';
import type * as overviews from './overview/contract/overview.ts';
import type * as states from './overview/contract/state.ts';
import type * as playground from './playground/contract/playground.ts';
import type { ProblemCode } from './problem.ts';
import type * as settings from './settings/contract/settings.ts';
import type * as resources from './shapes/resources.ts';
import type * as families from './upstreams/contract/families.ts';
import type * as upstreams from './upstreams/contract/upstreams.ts';

export type { FieldFault } from '../core/field-fault.ts';
export type { ProblemCode } from './problem.ts';
export type { Role } from './roles.ts';

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly fields: readonly FieldFault[];
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export type Member = z.output<typeof sessions.member>;
export type Session = z.output<typeof sessions.session>;
export type LookedUpLink = z.output<typeof access.lookedUp>;
export type Members = z.output<typeof access.members>;
export type Invitation = z.output<typeof access.invitation>;
export type MadeLink = z.output<typeof access.madeLink>;
export type OwnSession = z.output<typeof access.ownSession>;
export type ApiToken = z.output<typeof access.apiToken>;
export type MadeApiToken = z.output<typeof access.madeApiToken>;

export type Passkey = z.output<typeof passkeys.passkey>;
export type Setting = z.output<typeof settings.setting>;

export type { GatewayRoute } from './playground/routes.ts';
export type PlaygroundModel = z.output<typeof playground.playgroundModel>;
export type PlaygroundModels = z.output<typeof playground.playgroundModels>;
export type PlaygroundTry = z.output<typeof playground.playgroundTry>;

export type LedgerRow = z.output<typeof ledgers.ledgerRow>;
export type LedgerDetail = z.output<typeof ledgers.ledgerDetail>;
export type LedgerCapture = z.output<typeof ledgers.capture>;
export type LedgerChoices = z.output<typeof ledgers.ledgerChoices>;
export type Usage = z.output<typeof usages.usage>;
export type UsageLine = z.output<typeof usages.usageLine>;
export type UsageSums = z.output<typeof usages.usageSums>;
export type Key = z.output<typeof keys.key>;
export type KeyDetail = z.output<typeof keys.keyDetail>;
export type KeyDocument = z.output<typeof keys.keyDocument>;
export type KeyWithSecret = z.output<typeof keys.keyWithSecret>;
export type BudgetState = z.output<typeof keys.budgetState>;
export type BurnDown = z.output<typeof keys.burnDown>;
export type Spend = z.output<typeof keys.spend>;
export type Project = z.output<typeof keys.project>;
export type ProjectWritten = z.output<typeof keys.projectWritten>;
export type AuditEntry = z.output<typeof audits.auditEntry>;

export type Written = z.output<typeof resources.written>;
export type Model = z.output<typeof models.model>;
export type ModelTarget = Model['targets'][number];
export type ModelPage = z.output<typeof models.modelPage>;
export type ModelDetail = z.output<typeof models.modelDetail>;
export type ModelTestAnswer = z.output<typeof models.modelTestAnswer>;

export type LiveSample = z.output<typeof lives.liveSample>;
export type LiveUpstream = z.output<typeof lives.liveUpstream>;
export type LiveEvent = z.output<typeof lives.liveEvent>;
export type Overview = z.output<typeof overviews.overview>;
export type OverviewSums = z.output<typeof overviews.overviewSums>;
export type Health = z.output<typeof states.health>;
export type HealthTarget = z.output<typeof states.healthTarget>;
export type About = z.output<typeof states.about>;
export type Notice = z.output<typeof states.notice>;
export type FirstSteps = z.output<typeof states.firstSteps>;

export type FamilyFacts = z.output<typeof families.family>;
export type FamilyOption = FamilyFacts['options'][number];
export type Upstream = z.output<typeof upstreams.upstream>;
export type UpstreamPage = z.output<typeof upstreams.upstreamPage>;
export type UpstreamDetail = z.output<typeof upstreams.upstreamDetail>;
export type UpstreamTest = z.output<typeof upstreams.testAnswer>;
export type UpstreamModels = z.output<typeof upstreams.upstreamModels>;
