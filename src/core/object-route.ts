/** Routes with the ID of a stored object in the path, and their methods. */

import type { ObjectRecords } from './operations/row.ts';
import type { QueryGrammar } from './query.ts';
import type { Route } from './route.ts';
import type { StoredKind } from './store/stored-objects.ts';

export interface ObjectRoute {
  /** Whether it makes one, lists them, or is about the one whose ID is in the path. */
  readonly action: 'make' | 'list' | 'about';
  /** HEAD goes with GET. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly kind: StoredKind;
  /** By which such objects are made, where the path of the operation is the upstream's for them as well. */
  readonly of: Route;
  /** Its paths, in which `{id}` stands for one segment; and what ledger and metrics know of it. */
  readonly route: Route;
  /** What stands behind the ID at the upstream. */
  readonly tail: string;
  readonly query: QueryGrammar;
  /** Those of its parameters that name something themselves. */
  readonly named: Readonly<Record<string, StoredKind>>;
  /** Where more of what is kept stands in its answer. */
  readonly records: ObjectRecords;
  /** Where it went well, the object is there no more. */
  readonly forgets: boolean;
  /** For people: what it does, in the OpenAPI document. */
  readonly summary: string;
}

type Said = Pick<ObjectRoute, 'method' | 'kind' | 'of' | 'route' | 'summary'> &
  Partial<Pick<ObjectRoute, 'action' | 'query' | 'named' | 'records' | 'forgets'>>;

export const recordsNothing: ObjectRecords = Object.freeze({ whole: {}, events: {}, unless: '' });

/** What lies behind the paths of the route by which such objects are made; whatever the method, it is one route to those who count. */
export function routeBehind(of: Route, tail: string): Route {
  const at = (path: string): string => `${path}/{id}${tail}`;
  const clientApiPaths = Object.entries(of.clientApiPaths ?? {}).filter(([path]) => !path.includes('{'));
  return Object.freeze({
    ...of,
    path: at(of.path),
    aliases: of.aliases.map(at),
    clientApiPaths: Object.fromEntries(clientApiPaths.map(([path, clientApi]) => [at(path), clientApi])),
    isFree: true,
    required: {},
    optional: {},
    watched: [],
  });
}

export function defineObjectRoute(said: Said): ObjectRoute {
  const { route, of, action = 'about', query = {}, named = {}, forgets = false } = said;
  const { records = of.row.records ?? recordsNothing } = said;
  const tail = route.path.slice(route.path.indexOf('{id}') + '{id}'.length);
  return Object.freeze({ ...said, action, tail, query, named, records, forgets });
}
