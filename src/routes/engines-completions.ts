/** Route: text completions on the legacy path with the model in the URL. */

import { defineRoute } from '../core/route.ts';
import completions from './completions.ts';

export default defineRoute({
  ...completions,
  path: '/v1/engines/{model}/completions',
  aliases: ['/engines/{model}/completions', '/v1/v1/engines/{model}/completions'],
  label: 'engines',
  fallbackLabel: 'openai',
  model: { from: 'path' },
});
