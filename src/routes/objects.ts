/** What can be asked of an answer that an upstream keeps, by its ID. */

import { defineObjectRoute, type ObjectRoute, routeBehind } from '../core/object-route.ts';
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
