/** Defines the routes that read, list, cancel and delete stored responses, interactions, files and batches. */

import { defineObjectRoute, type ObjectRoute, recordsNothing, routeWithTail } from '../core/object-route.ts';
import type { QueryGrammar } from '../core/query.ts';
import type { Route } from '../core/route.ts';

const word = /^[A-Za-z0-9_.[\]-]{1,100}$/;
const flag = { pattern: /^(?:true|false)$/, form: 'true or false' } as const;
const order = { pattern: /^(?:asc|desc)$/, form: 'asc or desc' } as const;
const include: QueryGrammar = {
  include: { pattern: word, form: 'the name of something to include', isList: true },
  'include[]': { pattern: word, form: 'the name of something to include', isList: true },
};
const idOf = (what: string) => ({ pattern: /^[\x21-\x7e]{1,256}$/, form: `the ID of ${what}` });

type Said = Parameters<typeof defineObjectRoute>[0];
type Shared = Pick<Said, 'kind' | 'of' | 'records'>;

/** Makes object routes from rows. `shared`: facts of all rows, unless a row overrides them. */
const objectRoutes = (shared: Shared, rows: readonly Omit<Said, 'kind' | 'of'>[]): ObjectRoute[] =>
  rows.map((row) => defineObjectRoute({ ...shared, ...row }));

export function objectRoutesOf(responses: Route): readonly ObjectRoute[] {
  const route = routeWithTail(responses, '');
  return objectRoutes({ kind: 'response', of: responses }, [
    {
      method: 'GET',
      route,
      query: {
        ...include,
        stream: flag,
        include_obfuscation: flag,
        starting_after: { pattern: /^\d{1,15}$/, form: 'the number of an event' },
      },
      summary: 'An answer that the upstream keeps.',
    },
    {
      method: 'DELETE',
      route,
      forgets: true,
      records: recordsNothing,
      summary: 'Deletes an answer that the upstream keeps.',
    },
    {
      method: 'POST',
      route: routeWithTail(responses, '/cancel'),
      summary: 'Ends an answer that is made in the background.',
    },
    {
      method: 'GET',
      route: routeWithTail(responses, '/input_items'),
      query: { ...include, after: idOf('an item'), limit: { pattern: /^\d{1,4}$/, form: 'a number' }, order },
      named: { after: 'item' },
      records: { whole: { 'data.*.id': 'item' }, events: {}, unless: '' },
      summary: 'The input of an answer that the upstream keeps.',
    },
  ]);
}

export function interactionRoutesOf(interactions: Route): readonly ObjectRoute[] {
  const route = routeWithTail(interactions, '');
  return objectRoutes({ kind: 'interaction', of: interactions }, [
    {
      method: 'GET',
      route,
      query: { stream: flag, include_input: flag, last_event_id: idOf('an event') },
      summary: 'An interaction that Google keeps.',
    },
    {
      method: 'DELETE',
      route,
      forgets: true,
      records: recordsNothing,
      summary: 'Deletes an interaction that Google keeps.',
    },
  ]);
}

const pageAfter = (what: string) => ({ after: idOf(what), limit: { pattern: /^\d{1,5}$/, form: 'a number' } });

type ClientApiPathsOf = (route: Route) => Route['clientApiPaths'];

/** The route on which objects are created and listed, for keys with any of these operations; `of`: the shared route. */
function collection(of: Route, path: string, isFor: readonly Route[], clientApiPathsOf: ClientApiPathsOf): Route {
  const route: Route = {
    ...of,
    path,
    aliases: [path.slice('/v1'.length), `/v1${path}`],
    clientApiPaths: {},
    isFor: isFor.map(({ operation }) => operation),
  };
  return {
    ...route,
    clientApiPaths: clientApiPathsOf(route) ?? {},
    isFree: true,
    required: {},
    optional: {},
    watched: [],
  };
}

/** The routes of batches of requests at the same upstream. `of`: the routes that their lines may use. */
export function batchRoutesOf(
  of: readonly [Route, ...Route[]],
  clientApiPathsOf: ClientApiPathsOf,
): readonly ObjectRoute[] {
  const [first] = of;
  const batches = collection(first, '/v1/batches', of, clientApiPathsOf);
  const all: Route = Object.freeze({
    ...batches,
    required: { input_file_id: 'string', endpoint: 'string', completion_window: 'string' },
    optional: { metadata: 'object' },
  });
  const records = { whole: { id: 'batch' }, events: {}, unless: '' } as const;
  return objectRoutes({ kind: 'batch', of: first, records }, [
    { action: 'make', route: all, method: 'POST', summary: 'Has the requests in a file worked off, within a day.' },
    { action: 'list', route: all, method: 'GET', query: pageAfter('a batch'), summary: 'The batches of the project.' },
    { route: routeWithTail(batches, ''), method: 'GET', summary: 'How far a batch is.' },
    { route: routeWithTail(batches, '/cancel'), method: 'POST', summary: 'Ends a batch.' },
  ]);
}

/** The routes of files at the project's configured upstream. Files are mainly for responses and batches. */
export function fileRoutesOf(
  responses: Route,
  inBatches: readonly Route[],
  clientApiPathsOf: ClientApiPathsOf,
): readonly ObjectRoute[] {
  const files = collection(responses, '/v1/files', [responses, ...inBatches], clientApiPathsOf);
  const form = { required: { file: 'object', purpose: 'string' }, only: true };
  const all: Route = Object.freeze({ ...files, form });
  const one = routeWithTail(files, '');
  const purpose = { pattern: /^[A-Za-z_-]{1,40}$/, form: 'a purpose' };
  return objectRoutes({ kind: 'file', of: responses, records: recordsNothing }, [
    {
      action: 'make',
      route: all,
      method: 'POST',
      records: { whole: { id: 'file' }, events: {}, unless: '' },
      summary: 'Has the upstream keep a file.',
    },
    {
      action: 'list',
      route: all,
      method: 'GET',
      query: { ...pageAfter('a file'), order, purpose },
      summary: 'The files of the project.',
    },
    { route: one, method: 'GET', summary: 'What a file is.' },
    { route: one, method: 'DELETE', forgets: true, summary: 'Deletes a file.' },
    { route: routeWithTail(files, '/content'), method: 'GET', summary: 'What is in a file.' },
  ]);
}
