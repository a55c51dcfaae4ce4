/** A route is a row of data: a path that clients call, and what a request on it must look like. */

import { getOrMake } from '../lib/get-or-make.ts';
import { type ApiMapping, type ClientApi, type MeantRequest, type Passage, pathsUnder } from './client-api.ts';
import type { CustomRoute } from './custom-route.ts';
import type { Label } from './label.ts';
import { type Operation, operationRows } from './operations/index.ts';
import type { OperationRow } from './operations/row.ts';
import type { QueryGrammar } from './query.ts';
import type { RerankShape } from './translation.ts';

export interface Route {
  /** The canonical path, under the base path; `{model}` stands for the model's name, slashes included. */
  readonly path: string;
  /** Other spellings of the path that clients use. */
  readonly aliases: readonly string[];
  /** Paths of clients of another service, which imply its shape. */
  readonly shapedPaths?: Readonly<Record<string, RerankShape>>;
  /** Paths that clients of another service share with others: it has its shape in errors alone. */
  readonly errorShapes?: Readonly<Record<string, RerankShape>>;
  /** Paths of clients of a client API that has the operation's own format. */
  readonly clientApiPaths?: Readonly<Record<string, ClientApi>>;
  /** Where the client speaks another wire format: fields and kinds are of that one. */
  readonly entry?: ApiEntry;
  readonly operation: Operation;
  readonly row: OperationRow;
  readonly label: Label;
  /** The label used where an upstream's family has no offer for the route's own. */
  readonly fallbackLabel?: Label;
  readonly model: ModelField;
  /** The method after the model in the upstream's path, where the operation has several. */
  readonly verb?: string;
  /** Always answered by a stream: as events where the query has this parameter, else as elements of a list. */
  readonly streams?: { readonly asEvents: readonly [parameter: string, value: string] };
  /** The format of errors, on every path. */
  readonly clientApi?: ClientApi;
  /** Field name to its kinds, such as `string | string[]`; decided by the first element, or by all. */
  readonly required: Readonly<Record<string, string>>;
  readonly elements: 'first' | 'all';
  /** Checked when present and not null. */
  readonly optional: Readonly<Record<string, string>>;
  /** Read for some upstreams only: not checked, but may not be repeated. */
  readonly watched: readonly string[];
  /** Fields that may replace a required one. */
  /** Where it takes a form (multipart/form-data): the required parts, a file as an object; and whether it takes only forms. */
  readonly form?: { readonly required: Readonly<Record<string, string>>; readonly only: boolean };
  readonly standIns?: Readonly<Record<string, StandIn>>;
  /** Parameters sent to the upstream; without it the query string is ignored. */
  readonly query?: QueryGrammar;
  /** Set where the operator configured the route. */
  readonly own?: CustomRoute;
  /** Permitted with any of these operations; undefined: with its own only. */
  readonly isFor?: readonly Operation[];
  /** It creates no work: the usage in its answer was billed earlier. */
  readonly isFree?: true;
}

export interface ModelField {
  readonly from: 'body' | 'path';
  /** Body fields that may name the model again: dotted names, `[]` after lists. */
  readonly again?: readonly string[];
  /** A prefix that its name may have there. */
  readonly prefix?: string;
}

export interface ApiEntry {
  readonly clientApi: ClientApi;
  readonly mapping: ApiMapping;
  /** Validates the operation's own request. */
  readonly canonical: Route;
  /** Where the mapping lets bytes pass: the route they pass as, and whether all upstreams of the model must speak it. */
  readonly passing?: Pick<Passage, 'needsAll'> & { readonly route: Route };
  /** Another operation of some requests at this path. */
  readonly instead?: { readonly route: Route; isMeant(request: MeantRequest): boolean };
}

interface StandIn {
  readonly name: string;
  /** Allowed JSON types, written as for required fields. */
  readonly kinds: string;
  /** For models that accept it, or for clients of this shape. */
  readonly allowed: 'accepts_messages' | RerankShape;
}

/** Facts of an operation that differ on a route of another wire format. */
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
 * Fills absent fields with the usual values. The default path is the operation's. The default aliases leave the version out, or
 * repeat it, because clients append the path to base URLs with and without a version.
 */
export function defineRoute({ wire = {}, ...route }: SaidOfRoute): Route {
  const row = operationRows[route.operation];
  const { path = row.path, aliases = [path.slice('/v1'.length), `/v1${path}`] } = route;
  return Object.freeze({ ...usual, ...route, path, aliases, row: Object.freeze({ ...row, ...wire }) });
}

/** A mapping of a client API as a route. At a path with a route of its own, bytes pass to upstreams of the same wire format. */
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

/** A custom route as a route; cached, so always the same object. */
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
