/** Routes of stored responses by ID. */

import { defineObjectRoute, type ObjectRoute, recordsNothing, routeBehind } from '../core/object-route.ts';
import type { QueryGrammar } from '../core/query.ts';
import type { Route } from '../core/route.ts';

const word = /^[A-Za-z0-9_.[\]-]{1,100}$/;
const flag = { pattern: /^(?:true|false)$/, form: 'true or false' } as const;
const include: QueryGrammar = {
  include: { pattern: word, form: 'the name of something to include', isList: true },
  'include[]': { pattern: word, form: 'the name of something to include', isList: true },
};

export function objectRoutesOf(responses: Route): readonly ObjectRoute[] {
  const about = { kind: 'response', of: responses, route: routeBehind(responses, '') } as const;
  return [
    defineObjectRoute({
      ...about,
      method: 'GET',
      query: {
        ...include,
        stream: flag,
        include_obfuscation: flag,
        starting_after: { pattern: /^\d{1,15}$/, form: 'the number of an event' },
      },
      summary: 'An answer that the upstream keeps.',
    }),
    defineObjectRoute({
      ...about,
      method: 'DELETE',
      forgets: true,
      records: recordsNothing,
      summary: 'Deletes an answer that the upstream keeps.',
    }),
    defineObjectRoute({
      ...about,
      method: 'POST',
      route: routeBehind(responses, '/cancel'),
      summary: 'Ends an answer that is made in the background.',
    }),
    defineObjectRoute({
      ...about,
      method: 'GET',
      route: routeBehind(responses, '/input_items'),
      query: {
        ...include,
        after: { pattern: /^[\x21-\x7e]{1,256}$/, form: 'the ID of an item' },
        limit: { pattern: /^\d{1,4}$/, form: 'a number' },
        order: { pattern: /^(?:asc|desc)$/, form: 'asc or desc' },
      },
      named: { after: 'item' },
      records: { whole: { 'data.*.id': 'item' }, events: {}, unless: '' },
      summary: 'The input of an answer that the upstream keeps.',
    }),
  ];
}

/** The same of what Google keeps. */
export function interactionRoutesOf(interactions: Route): readonly ObjectRoute[] {
  const about = { kind: 'interaction', of: interactions, route: routeBehind(interactions, '') } as const;
  return [
    defineObjectRoute({
      ...about,
      method: 'GET',
      query: {
        stream: flag,
        include_input: flag,
        last_event_id: { pattern: /^[\x21-\x7e]{1,256}$/, form: 'the ID of an event' },
      },
      summary: 'An interaction that Google keeps.',
    }),
    defineObjectRoute({
      ...about,
      method: 'DELETE',
      forgets: true,
      records: recordsNothing,
      summary: 'Deletes an interaction that Google keeps.',
    }),
  ];
}

const anything = { pattern: /^[A-Za-z_-]{1,40}$/, form: 'a purpose' };

const pageAfter = (what: string) => ({
  after: { pattern: /^[\x21-\x7e]{1,256}$/, form: `the ID of ${what}` },
  limit: { pattern: /^\d{1,5}$/, form: 'a number' },
});

/** Batches of requests, at the same upstream. `of`: what they may consist of. */
export function batchRoutesOf(
  of: readonly [Route, ...Route[]],
  clientApiPathsOf: (route: Route) => Route['clientApiPaths'],
): readonly ObjectRoute[] {
  const isFor = of.map(({ operation }) => operation);
  const [first] = of;
  const batches: Route = {
    ...first,
    path: '/v1/batches',
    aliases: ['/batches', '/v1/v1/batches'],
    clientApiPaths: {},
    isFor,
  };
  const atClientApis: Route = { ...batches, clientApiPaths: clientApiPathsOf(batches) ?? {} };
  const required = { input_file_id: 'string', endpoint: 'string', completion_window: 'string' };
  const all: Route = Object.freeze({
    ...atClientApis,
    isFree: true,
    required,
    optional: { metadata: 'object' },
    watched: [],
  });
  const records = { whole: { id: 'batch' }, events: {}, unless: '' } as const;
  const about = { kind: 'batch', of: first, records } as const;
  return [
    defineObjectRoute({
      ...about,
      action: 'make',
      route: all,
      method: 'POST',
      summary: 'Has the requests in a file worked off, within a day.',
    }),
    defineObjectRoute({
      ...about,
      action: 'list',
      route: all,
      method: 'GET',
      query: pageAfter('a batch'),
      summary: 'The batches of the project.',
    }),
    defineObjectRoute({
      ...about,
      route: routeBehind(atClientApis, ''),
      method: 'GET',
      summary: 'How far a batch is.',
    }),
    defineObjectRoute({
      ...about,
      route: routeBehind(atClientApis, '/cancel'),
      method: 'POST',
      summary: 'Ends a batch.',
    }),
  ];
}

/** Files, at the upstream that the operator names for a project. They are for responses above all, and for batches. */
export function fileRoutesOf(
  responses: Route,
  inBatches: readonly Route[],
  clientApiPathsOf: (route: Route) => Route['clientApiPaths'],
): readonly ObjectRoute[] {
  const isFor = [responses, ...inBatches].map(({ operation }) => operation);
  const files: Route = {
    ...responses,
    path: '/v1/files',
    aliases: ['/files', '/v1/v1/files'],
    clientApiPaths: {},
    isFor,
  };
  const atClientApis: Route = { ...files, clientApiPaths: clientApiPathsOf(files) ?? {} };
  const whole: Route = Object.freeze({ ...atClientApis, isFree: true, required: {}, optional: {}, watched: [] });
  const form = { required: { file: 'object', purpose: 'string' }, only: true };
  const all: Route = Object.freeze({ ...whole, form });
  const one = routeBehind(atClientApis, '');
  const about = { kind: 'file', of: responses, records: recordsNothing } as const;
  return [
    defineObjectRoute({
      ...about,
      action: 'make',
      route: all,
      method: 'POST',
      records: { whole: { id: 'file' }, events: {}, unless: '' },
      summary: 'Has the upstream keep a file.',
    }),
    defineObjectRoute({
      ...about,
      action: 'list',
      route: all,
      method: 'GET',
      query: {
        ...pageAfter('a file'),
        order: { pattern: /^(?:asc|desc)$/, form: 'asc or desc' },
        purpose: anything,
      },
      summary: 'The files of the project.',
    }),
    defineObjectRoute({ ...about, route: one, method: 'GET', summary: 'What a file is.' }),
    defineObjectRoute({ ...about, route: one, method: 'DELETE', forgets: true, summary: 'Deletes a file.' }),
    defineObjectRoute({
      ...about,
      route: routeBehind(atClientApis, '/content'),
      method: 'GET',
      summary: 'What is in a file.',
    }),
  ];
}
