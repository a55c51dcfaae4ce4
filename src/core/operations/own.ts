/** Declares the operation `own`, which custom routes use: bytes pass without being understood. */

import { defineOperation } from './row.ts';

export const own = defineOperation({
  path: '/v1/{route}',
  words: { all: 'Own routes', one: 'Own route' },
  offered: 99,
  yields: 'anything',
  mayStream: true,
  items: [],
  counting: 'anything',
  objectNames: {
    fields: [],
    names: [
      'file_id',
      'file_ids',
      'input_file_id',
      'previous_response_id',
      'vector_store_ids',
      'batch_id',
      'cached_content',
      'cachedContent',
    ],
    known: {
      file_id: 'file',
      file_ids: 'file',
      input_file_id: 'file',
      previous_response_id: 'response',
      batch_id: 'batch',
    },
  },
  billedBy: ['request', 'item', 'input', 'output', 'search_unit'],
  isOperators: true,
  sample: { body: {} },
  trial: {},
});
