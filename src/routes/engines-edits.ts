/** Edits on the legacy path that carries the model in its URL. */

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
