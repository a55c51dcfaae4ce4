/** What people call the limits that a key, a project and a model can have. */

import type { LimitName } from '../../../../src/admin/contract.ts';

export const limitLabels: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'Requests a minute',
  requests_per_day: 'Requests a day',
  tokens_per_minute: 'Tokens a minute',
  tokens_per_day: 'Tokens a day',
  items_per_minute: 'Items a minute',
  items_per_day: 'Items a day',
  concurrency: 'Requests at a time',
};
