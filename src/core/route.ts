/** Defines a route as a row of data: a path that clients call, and what a request to it must look like. */

import { getOrMake } from '../lib/get-or-make.ts';
import { type ApiMapping, type ClientApi, type MeantRequest, type Passage, pathsUnder } from './client-api.ts';
import type { CustomRoute } from './custom-route.ts';
import type { Label } from './label.ts';
import { type Operation, operationRows } from './operations/index.ts';
import type { OperationRow } from './operations/row.ts';
import type { QueryGrammar } from './query.ts';
import type { RerankShape } from './translation.ts';

export interface Route {
  /** The canonical path, below the base path; `{model}` stands for the model's name, slashes included. */
  readonly path: string;
  readonly aliases: readonly string[];
  /** Paths that clients of another service use; a request there gets answers in that service's shape. */
  readonly shapedPaths?: Readonly<Record<string, RerankShape>>;
  /** Paths that clients of another service share with others; a request there gets that service's shape in errors alone. */
  readonly errorShapes?: Readonly<Record<string, RerankShape>>;
  /** Paths of a client API whose requests have the operation's own format. */
  readonly clientApiPaths?: Readonly<Record<string, ClientApi>>;
  /** Set where clients speak another wire format: fields and kinds of fields are those of that format. */
  readonly entry?: ApiEntry;
  readonly operation: Operation;
  readonly row: OperationRow;
  readonly label: Label;
  /** The label that applies where an upstream's family has no offer for the route's own. */
  readonly fallbackLabel?: Label;
  readonly model: ModelField;
  /** The method after the model in the upstream's path, where the operation has several. */
  readonly verb?: string;
  /** Answers are always streams: of events where the query has this parameter, else of the elements of a list. */
  readonly streams?: { readonly asEvents: readonly [parameter: string, value: string] };
  /** The client API whose error format applies, on every path of the route. */
  readonly clientApi?: ClientApi;
  /** Required fields with their JSON types, such as `string | string[]`; a list's type is decided by the first element, or by all. */
  readonly required: Readonly<Record<string, string>>;
  readonly elements: 'first' | 'all';
  /** Optional fields with their JSON types, checked when present and not null. */
  readonly optional: Readonly<Record<string, string>>;
  /** Fields that are read for some upstreams only: their types are not checked, but they may not be repeated. */
  readonly watched: readonly string[];
  /** For a route that takes forms (multipart/form-data): the required parts, a file as an object; and whether it takes only forms. */
  readonly form?: { readonly required: Readonly<Record<string, string>>; readonly only: boolean };
  /** Fields that may replace a required one. */
  readonly standIns?: Readonly<Record<string, StandIn>>;
  /** Query parameters that are sent to the upstream; without it the query string is ignored. */
  readonly query?: QueryGrammar;
  /** The settings of a custom route; set where the operator configured the route. */
  readonly own?: CustomRoute;
  /** A key may use the route if it may use any of these operations; undefined: only the route's own. */
  readonly isFor?: readonly Operation[];
  /** The request creates no work: the usage in its answer was billed earlier. */
  readonly isFree?: true;
}

export interface ModelField {
  readonly from: 'body' | 'path';
  /** Body fields that may name the model once more: dotted names, `[]` after lists. */
  readonly again?: readonly string[];
  /** A prefix that the model's name may have in these fields. */
  readonly prefix?: string;
}

export interface ApiEntry {
  readonly clientApi: ClientApi;
  readonly mapping: ApiMapping;
  /** The route by which the request is validated after conversion to the operation's own format. */
  readonly canonical: Route;
  /** The route as which bytes may pass unchanged, and whether all upstreams of the model must speak its format. */
  readonly passing?: Pick<Passage, 'needsAll'> & { readonly route: Route };
  /** Another operation that some requests at this path mean. */
  readonly instead?: { readonly route: Route; isMeant(request: MeantRequest): boolean };
}

interface StandIn {
  readonly name: string;
  /** Allowed JSON types of the field, written as for required fields. */
  readonly kinds: string;
  /** Permitted for models that accept messages, or for clients of this shape. */
  readonly allowed: 'accepts_messages' | RerankShape;
}

/** Facts of an operation that differ on a route with another wire format. */
type OnThisRoute = Partial<
  Pick<
    OperationRow,
    | 'replayable'
    | 'mayStream'
    | 'answers'
    | 'items'
    | 'counting'
    | 'beyondText'
    | 'objectNames'
    | 'records'
    | 'countsIn'
    | 'callsIn'
    | 'mostBy'
    | 'billedBy'
  >
>;

const usual = {
  model: { from: 'body' },
  required: {},
  elements: 'first',
  optional: {},
  watched: [],
} as const satisfies Partial<Route>;
type Usual = keyof typeof usual;

type SaidOfRoute = Omit<Route, 'row' | 'path' | 'aliases' | Usual> &
  Partial<Pick<Route, 'path' | 'aliases' | Usual>> & { readonly wire?: OnThisRoute };

/**
 * Makes a route; absent fields get the usual values. The default path is the operation's. The default aliases leave the version out, or repeat it,
 * because clients append the path to base URLs with and without a version.
 */
export function defineRoute({ wire = {}, ...route }: SaidOfRoute): Route {
  const row = operationRows[route.operation];
  const { path = row.path, aliases = [path.slice('/v1'.length), `/v1${path}`] } = route;
  return Object.freeze({ ...usual, ...route, path, aliases, row: Object.freeze({ ...row, ...wire }) });
}

/** Makes the route of a client API's mapping. Where its path has a route of its own, bytes pass to upstreams of the same wire format. */
export function routeOfMapping(
  clientApi: ClientApi,
  mapping: ApiMapping,
  canonicalFor: (operation: Operation) => Route,
  own?: Route,
): Route {
  const canonical = canonicalFor(mapping.operation);
  const [path] = mapping.paths;
  const { required = {}, optional = {}, watched = [], passes, instead } = mapping;
  const facts = {
    path,
    aliases: pathsUnder(clientApi, mapping.paths).filter((one) => one !== path),
    operation: canonical.operation,
    label: canonical.label,
    model: { ...own?.model, from: 'body' },
    required,
    elements: 'all',
    optional,
    watched,
  } as const satisfies Partial<Route>;
  const passing =
    own === undefined
      ? passes && { ...passes, route: Object.freeze({ ...facts, label: passes.label, row: passes.row }) }
      : { route: own };
  const entry = { clientApi, mapping, canonical, ...(passing !== undefined && { passing }) };
  if (instead === undefined) return defineRoute({ ...facts, entry });
  const route = routeOfMapping(clientApi, { ...instead.mapping, required, optional }, canonicalFor);
  return defineRoute({
    ...facts,
    isFor: [mapping.operation, instead.mapping.operation],
    entry: { ...entry, instead: { route, isMeant: instead.isMeant } },
  });
}

const customRoutes = new WeakMap<CustomRoute, Route>();

/** Makes the route of a custom route; cached, so it is always the same object. */
export function routeOfCustom(own: CustomRoute): Route {
  return getOrMake(customRoutes, own, () =>
    defineRoute({
      path: own.path,
      aliases: [],
      operation: 'own',
      label: 'own',
      model: { from: own.model.from === 'field' ? 'body' : 'path' },
      ...(own.takesForms && { form: { required: {}, only: false } }),
      ...(own.query !== undefined && { query: own.query }),
      own,
    }),
  );
}
