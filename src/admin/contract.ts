/** Collects what the console may import from the server: types and plain data, no code. Lists each `contract/` file with endpoints. */

import type * as z from 'zod';
import type * as access from './access/contract/access.ts';
import type * as alerts from './alerts/contract/alerts.ts';
import type { Asked, Endpoint } from './endpoint.ts';
import type * as keys from './keys/contract/keys.ts';
import type * as ledger from './ledger/contract/ledger.ts';
import type * as models from './models/contract/models.ts';
import type * as state from './overview/contract/state.ts';
import type * as playground from './playground/contract/playground.ts';
import type { problemBody } from './problem.ts';
import type * as series from './series/contract/series.ts';
import type * as settings from './settings/contract/settings.ts';
import type { written } from './shapes/common.ts';
import type * as upstreams from './upstreams/contract/upstreams.ts';

export { rowOutcomes } from '../core/accounting/ledger-row.ts';
export { type BudgetPeriod, type LimitName, limitNames } from '../core/caps.ts';
export type { FieldFault } from '../core/field-fault.ts';
export {
  bodyOf,
  byOperation,
  canBeShown,
  hasModelInPath,
  type Operation,
  operationRows,
  operations,
  operationsAsOffered,
  pathOf,
} from '../core/operations/index.ts';
export { managers } from '../core/resource-editor.ts';
export { type Role, roles } from '../core/role.ts';
export { latencyKinds, requestResults, seriesDimensions, seriesOrders } from '../core/store/series.ts';
export { keyManagers, keyStates } from './keys/facts.ts';
export type { ProblemCode } from './problem.ts';

type Contracts =
  | typeof access
  | typeof alerts
  | typeof keys
  | typeof ledger
  | typeof models
  | typeof state
  | typeof playground
  | typeof series
  | typeof settings
  | typeof upstreams;

type EndpointsIn<C> = C extends unknown ? Extract<C[keyof C], Endpoint> : never;

/** Every endpoint with its request and answer, by names such as `GET /api/keys/:id`. */
export type Endpoints = {
  readonly [E in EndpointsIn<Contracts> as `${E['method']} ${E['path']}`]: Asked<E>;
};

export type ProblemBody = z.output<typeof problemBody>;

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export type Member = z.output<typeof access.member>;
export type Session = z.output<typeof access.session>;
export type LookedUpLink = z.output<typeof access.lookedUp>;
export type Invitation = z.output<typeof access.invitation>;
export type MadeLink = z.output<typeof access.madeLink>;
export type OwnSession = z.output<typeof access.ownSession>;
export type ApiToken = z.output<typeof access.apiToken>;
export type MadeApiToken = z.output<typeof access.madeApiToken>;

export type Passkey = z.output<typeof access.passkey>;
export type Setting = z.output<typeof settings.setting>;

export type { GatewayRoute } from './playground/contract/playground.ts';
export type PlaygroundModel = z.output<typeof playground.playgroundModel>;
export type PlaygroundTry = z.output<typeof playground.playgroundTry>;

export type LedgerRow = z.output<typeof ledger.ledgerRow>;
export type LedgerDetail = z.output<typeof ledger.ledgerDetail>;
export type LedgerChoices = z.output<typeof ledger.ledgerChoices>;
export type Usage = z.output<typeof ledger.usage>;
export type Key = z.output<typeof keys.key>;
export type ListedKey = z.output<typeof keys.listedKey>;
export type KeyDetail = z.output<typeof keys.keyDetail>;
export type KeyDocument = z.output<typeof keys.keyDocument>;
export type KeyWithSecret = z.output<typeof keys.keyWithSecret>;
export type BudgetState = z.output<typeof keys.budgetState>;
export type BurnDown = z.output<typeof keys.burnDown>;
export type Project = z.output<typeof keys.project>;
export type AuditEntry = z.output<typeof ledger.auditEntry>;

export type Written = z.output<typeof written>;
export type Model = z.output<typeof models.model>;
export type ModelTarget = Model['targets'][number];
export type ModelPage = z.output<typeof models.modelPage>;
export type ModelDetail = z.output<typeof models.modelDetail>;
export type ModelTestAnswer = z.output<typeof models.modelTestAnswer>;

export type LiveSample = z.output<typeof state.liveSample>;
export type LiveUpstream = z.output<typeof state.liveUpstream>;
export type LiveEvent = z.output<typeof state.liveEvent>;
export type Health = z.output<typeof state.health>;
export type About = z.output<typeof state.about>;
export type Notice = z.output<typeof state.notice>;
export type FirstSteps = z.output<typeof state.firstSteps>;

export type FamilyFacts = z.output<typeof upstreams.family>;
export type FamilyOption = FamilyFacts['options'][number];
export type Upstream = z.output<typeof upstreams.upstream>;
export type UpstreamPage = z.output<typeof upstreams.upstreamPage>;
export type UpstreamDetail = z.output<typeof upstreams.upstreamDetail>;
export type UpstreamTest = z.output<typeof upstreams.testAnswer>;
export type UpstreamModels = z.output<typeof upstreams.upstreamModels>;

export type Series = z.output<typeof series.series>;
export type SeriesLine = Series['lines'][number];
export type SeriesFigures = Series['total']['figures'];
export type Now = z.output<typeof series.now>;
export type ShownUpstream = z.output<typeof series.shownUpstream>;
export type ShownTarget = z.output<typeof series.shownTarget>;
export type Alert = z.output<typeof alerts.alert>;
export type AlertRule = z.output<typeof alerts.alertRule>;
export type AlertChannel = z.output<typeof alerts.alertChannel>;
