/** Route: edits on the legacy path with the model in the URL. */

import { defineRoute } from '../core/route.ts';
import edits from './edits.ts';

export default defineRoute({
  ...edits,
  path: '/v1/engines/{model}/edits',
  aliases: ['/engines/{model}/edits', '/v1/v1/engines/{model}/edits'],
  label: 'engines',
  fallbackLabel: 'openai',
  model: { from: 'path' },
});
