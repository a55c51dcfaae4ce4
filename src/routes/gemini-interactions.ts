/** Route: Google's interactions API, plain or streamed. Google stores them by default. */

import { bothOf, outsideGoogle } from '../core/operations/contents.ts';
import { defineRoute } from '../core/route.ts';

/** What lies in the operator's account, by whomever it was stored: of all that, conversations alone have an owner here. */
const stored = bothOf(
  ...['previousInteractionId', 'agent', 'cachedContent', 'continuationToken', 'environment', 'webhookConfig'],
);

export default defineRoute({
  path: '/v1beta/interactions',
  aliases: ['/v1/interactions'],
  operation: 'generate',
  label: 'interactions',
  required: { input: 'string | array | object' },
  optional: { generation_config: 'object', tools: 'array' },
  watched: ['stream', 'store', 'background', 'service_tier', ...stored],
  wire: {
    items: ['input'],
    counting: 'messages',
    beyondText: ['uri', 'data'],
    countsIn: 'interaction',
    callsIn: 'usage',
    mostBy: 'generation_config.max_output_tokens',
    objectNames: {
      fields: stored,
      names: ['uri', ...bothOf('fileSearchStoreNames')],
      types: { file_search: undefined, retrieval: undefined },
      known: { previous_interaction_id: 'interaction' },
      outside: outsideGoogle,
      except: ['arguments', 'parameters', 'result', 'schema', ...bothOf('responseFormat')],
    },
    records: { whole: { id: 'interaction' }, events: { 'interaction.id': 'interaction' }, unless: 'store' },
  },
});
