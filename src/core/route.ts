/** A route is a row of data: a path that clients call, and what a request on it must look like. */

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
  /** Further spellings of the same path that clients are known to use. */
  readonly aliases: readonly string[];
  /** The same for clients that were written for another service, whose shape they ask for by it. */
  readonly shapedPaths?: Readonly<Record<string, RerankShape>>;
  /** The same for clients of an API that speaks as the operation does. */
  readonly clientApiPaths?: Readonly<Record<string, ClientApi>>;
  /** Where the client speaks another wire: fields and kinds are those of that one. */
  readonly entry?: ApiEntry;
  readonly operation: Operation;
  /** What the operation is. */
  readonly row: OperationRow;
  readonly label: Label;
  /** Served through this label where an upstream's family has no offer for the route's own. */
  readonly fallbackLabel?: Label;
  readonly model: ModelField;
  /** What stands behind the model in the upstream's path, where the operation has several methods there. */
  readonly verb?: string;
  /** It is answered by a stream, whatever the body says: its events as they are where the query has this, else as the elements of a list. */
  readonly streams?: { readonly asEvents: readonly [parameter: string, value: string] };
  /** In whose words errors are, on every path. */
  readonly clientApi?: ClientApi;
  /** Field name to the kinds it may have, such as `string | string[]`; judged by the first element, or by all. */
  readonly required: Readonly<Record<string, string>>;
  readonly elements: 'first' | 'all';
  /** Checked when present and not null. */
  readonly optional: Readonly<Record<string, string>>;
  /** Read for some upstreams only: not checked, but may not stand twice. */
  readonly watched: readonly string[];
  /** Required fields that another one may stand in for. */
  /** Where it takes a form (multipart/form-data): the parts that must be there, a file as an object; and whether it takes nothing else. */
  readonly form?: { readonly required: Readonly<Record<string, string>>; readonly only: boolean };
  readonly standIns?: Readonly<Record<string, StandIn>>;
  /** What goes on behind the upstream's path; without, the query string is read by nobody. */
  readonly query?: QueryGrammar;
  /** Where the operator has written it. */
  readonly own?: CustomRoute;
  /** Whoever may ask for any of these may call it; for its own alone where it does not say. */
  readonly isFor?: readonly Operation[];
  /** It asks for no work: whatever its answer counts was billed to somebody before. */
  readonly isFree?: true;
}

export interface ModelField {
  readonly from: 'body' | 'path';
  /** Where the body may name it again: fields with dots between, `[]` behind those of lists. */
  readonly again?: readonly string[];
  /** What may stand before its name there. */
  readonly prefix?: string;
}

export interface ApiEntry {
  readonly clientApi: ClientApi;
  readonly mapping: ApiMapping;
  /** By which the operation's own request is judged. */
  readonly canonical: Route;
  /** Where the way lets bytes pass: what they are taken for then, and whether all upstreams of the model have to speak it. */
  readonly passing?: Pick<Passage, 'needsAll'> & { readonly route: Route };
  /** What some requests at this path mean. */
  readonly instead?: { readonly route: Route; isMeant(request: MeantRequest): boolean };
}

interface StandIn {
  readonly name: string;
  /** As those of required fields. */
  readonly kinds: string;
  /** For models that accept it, or for clients that want this shape. */
  readonly allowed: 'accepts_messages' | RerankShape;
}

/** What of an operation is otherwise on a route, whose clients speak another wire. */
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

/** As most routes have it. */
const usual = {
  model: { from: 'body' },
  required: {},
  elements: 'first',
  optional: {},
  watched: [],
} as const satisfies Partial<Route>;
type Usual = keyof typeof usual;

type SaidOfRoute = Omit<Route, 'row' | 'path' | Usual> &
  Partial<Pick<Route, 'path' | Usual>> & { readonly wire?: OnThisRoute };

/** What is left out is as most routes have it; without a path of its own, it is at that of its operation. */
export function defineRoute({ wire = {}, ...route }: SaidOfRoute): Route {
  const row = operationRows[route.operation];
  return Object.freeze({ ...usual, path: row.path, ...route, row: Object.freeze({ ...row, ...wire }) });
}

/**
 * A mapping of a client API as a route like any other, which leads to its operation's own. Where the client API has a route of its own at that
 * path, bytes pass by it to whoever speaks the same wire.
 */
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

/** What the operator has written, as a route like any other; the same each time. */
export function routeOfCustom(own: CustomRoute): Route {
  const known = customRoutes.get(own);
  if (known !== undefined) return known;
  const route = defineRoute({
    path: own.path,
    aliases: [],
    operation: 'own',
    label: 'own',
    model: { from: own.model.from === 'field' ? 'body' : 'path' },
    ...(own.takesForms && { form: { required: {}, only: false } }),
    ...(own.query !== undefined && { query: own.query }),
    own,
  });
  customRoutes.set(own, route);
  return route;
}
