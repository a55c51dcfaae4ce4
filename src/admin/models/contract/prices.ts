/** What well-known models cost, by the table that comes with the gateway. */

import { defineEndpoint } from '../../endpoint.ts';
import { pricePage, priceQuery } from './models.ts';

export const listPrices = defineEndpoint({
  method: 'GET',
  path: '/api/prices',
  summary: 'List what well-known models cost at their makers, as of when, and whether someone checked it',
  tag: 'Models',
  needs: 'viewer',
  query: priceQuery,
  answer: pricePage,
});
