/** What can be asked of an answer that an upstream keeps, by its ID. */

import { defineObjectRoute, keepsNothing, type ObjectRoute, routeBehind } from '../core/object-route.ts';
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
      keeps: keepsNothing,
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
      keeps: { whole: { 'data.*.id': 'item' }, events: {}, unless: '' },
      summary: 'The input of an answer that the upstream keeps.',
    }),
  ];
}

const anything = { pattern: /^[A-Za-z_-]{1,40}$/, form: 'a purpose' };

/** Files, at the upstream that the operator names for a project. They are for responses above all. */
export function fileRoutesOf(
  responses: Route,
  doorPathsOf: (route: Route) => Route['doorPaths'],
): readonly ObjectRoute[] {
  const files: Route = { ...responses, path: '/v1/files', aliases: ['/files', '/v1/v1/files'], doorPaths: {} };
  const atDoors: Route = { ...files, doorPaths: doorPathsOf(files) ?? {} };
  const whole: Route = Object.freeze({ ...atDoors, isFree: true, required: {}, optional: {}, watched: [] });
  const form = { required: { file: 'object', purpose: 'string' }, only: true };
  const all: Route = Object.freeze({ ...whole, form });
  const one = routeBehind(atDoors, '');
  const about = { kind: 'file', of: responses, keeps: keepsNothing } as const;
  return [
    defineObjectRoute({
      ...about,
      action: 'make',
      route: all,
      method: 'POST',
      keeps: { whole: { id: 'file' }, events: {}, unless: '' },
      summary: 'Has the upstream keep a file.',
    }),
    defineObjectRoute({
      ...about,
      action: 'list',
      route: all,
      method: 'GET',
      query: {
        after: { pattern: /^[\x21-\x7e]{1,256}$/, form: 'the ID of a file' },
        limit: { pattern: /^\d{1,5}$/, form: 'a number' },
        order: { pattern: /^(?:asc|desc)$/, form: 'asc or desc' },
        purpose: anything,
      },
      summary: 'The files of the project.',
    }),
    defineObjectRoute({ ...about, route: one, method: 'GET', summary: 'What a file is.' }),
    defineObjectRoute({ ...about, route: one, method: 'DELETE', forgets: true, summary: 'Deletes a file.' }),
    defineObjectRoute({
      ...about,
      route: routeBehind(atDoors, '/content'),
      method: 'GET',
      summary: 'What is in a file.',
    }),
  ];
}
