/** The limits that a key, a project and a model can have, in the order in which they are shown. */

export const limitNames = [
  'requests_per_minute',
  'requests_per_day',
  'tokens_per_minute',
  'tokens_per_day',
  'items_per_minute',
  'items_per_day',
  'concurrency',
] as const;
export type LimitName = (typeof limitNames)[number];

export const limitLabels: Readonly<Record<LimitName, string>> = {
  requests_per_minute: 'Requests a minute',
  requests_per_day: 'Requests a day',
  tokens_per_minute: 'Tokens a minute',
  tokens_per_day: 'Tokens a day',
  items_per_minute: 'Items a minute',
  items_per_day: 'Items a day',
  concurrency: 'Requests at a time',
};
