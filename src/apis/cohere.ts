/** Serves clients of Cohere's API, versions 1 and 2; chat passes to Cohere upstreams, and rerank has the gateway's own format already. */

import { type ApiMapping, defineClientApi, passedOn } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import type { OperationRow } from '../core/operations/row.ts';
import { embedV1, embedV2 } from './cohere-embeddings.ts';
import { fixedEndpoints } from './cohere-models.ts';

const {
  reportsTier: _tier,
  searchedBy: _search,
  hosted: _hosted,
  objectNames: _kept,
  sdk: _sdk,
  ...chat
} = operationRows.chat;

interface Version extends Omit<ApiMapping, 'operation' | 'passes' | 'enter'> {
  readonly label: 'cohere' | 'cohere_v1';
  readonly row: Partial<OperationRow>;
}

const settings = { model: 'string', stream: 'boolean', max_tokens: 'number' };

const versionOf = ({ label, row, optional, ...mapping }: Version): ApiMapping =>
  passedOn({
    ...mapping,
    operation: 'chat',
    optional: { ...settings, ...optional },
    passes: { label, row: { ...chat, ...row } },
    refusal: `No upstream of the model has ${mapping.paths[0]} as Cohere does, and its chat is not translated; POST to /v1/chat/completions.`,
  });

const chatV2 = versionOf({
  label: 'cohere',
  paths: ['/v2/chat', '/v1/v2/chat'],
  required: { messages: 'array' },
  optional: { tools: 'array', documents: 'array' },
  summary: "Chat in Cohere's v2 format, whole or as events, for upstreams of Cohere.",
  row: {
    beyondText: ['image_url'],
    written: {
      whole: ['text', 'thinking', 'tool_plan', 'arguments'],
      events: ['text', 'thinking', 'tool_plan', 'arguments'],
    },
    countsIn: 'delta',
  },
});

const chatV1 = versionOf({
  label: 'cohere_v1',
  paths: ['/v1/chat', '/v1/v1/chat'],
  required: { message: 'string' },
  optional: { tools: 'array', documents: 'array', chat_history: 'array' },
  watched: ['conversation_id', 'connectors'],
  summary: "Chat in Cohere's v1 format, whole or as lines, for upstreams of Cohere.",
  row: {
    items: ['message'],
    beyondText: [],
    written: { whole: ['text'], events: ['text'] },
    countsIn: 'response meta',
    // Stored conversations and connectors are in the operator's account, and have no owner in the gateway.
    objectNames: { fields: ['conversation_id', 'connectors'], names: [] },
  },
});

export default defineClientApi({
  id: 'cohere',
  title: 'Cohere',
  prefix: '/cohere',
  mappings: [embedV1, embedV2, chatV1, chatV2],
  fixedEndpoints,
  error: ({ message, id: exchangeId }) => ({ message, id: exchangeId }),
});
