/** Defines routes for stored objects (files, batches, responses): create one, list them, or act on the one whose ID is in the path. */

import type { ObjectRecords } from './operations/row.ts';
import type { QueryGrammar } from './query.ts';
import type { Route } from './route.ts';
import type { StoredKind } from './store/stored-objects.ts';

export interface ObjectRoute {
  readonly action: 'make' | 'list' | 'about';
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly kind: StoredKind;
  /** The route that creates such objects; its path at the upstream is the same. */
  readonly of: Route;
  /** The route's paths, in which `{id}` stands for one segment, and its names in ledger and metrics. */
  readonly route: Route;
  /** The part of the path after the ID, sent to the upstream. */
  readonly tail: string;
  readonly query: QueryGrammar;
  /** Query parameters that name stored objects. */
  readonly named: Readonly<Record<string, StoredKind>>;
  /** Where the answer has the IDs of further objects. */
  readonly records: ObjectRecords;
  /** A successful request deletes the object. */
  readonly forgets: boolean;
  readonly summary: string;
}

type Said = Pick<ObjectRoute, 'method' | 'kind' | 'of' | 'route' | 'summary'> &
  Partial<Pick<ObjectRoute, 'action' | 'query' | 'named' | 'records' | 'forgets'>>;

export const recordsNothing: ObjectRecords = Object.freeze({ whole: {}, events: {}, unless: '' });

/** The route that counts in metrics for all paths below the route that creates such objects, whatever the method. */
export function routeWithTail(of: Route, tail: string): Route {
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
