/** Turns of a conversation as OpenAI's newer clients have them: items in, items out. */

import { defineOperation } from './row.ts';

export const responses = defineOperation({
  path: '/v1/responses',
  words: { all: 'Responses', one: 'Response' },
  offered: 9,
  yields: 'text',
  replayable: false,
  visibleModelsOnly: false,
  mayStream: true,
  answers: ['object'],
  items: ['input'],
  counting: 'messages',
  beyondText: ['image_url', 'input_audio', 'file_url', 'file_data'],
  written: { whole: ['text', 'arguments'], events: ['delta'] },
  countsIn: 'response',
  mostBy: 'max_output_tokens',
  kept: {
    fields: ['previous_response_id', 'conversation', 'prompt'],
    names: ['file_id', 'file_ids', 'vector_store_ids', 'collection_ids', 'container', 'container_id', 'skill_id'],
    types: { item_reference: undefined, image_generation_call: 'result', agent_reference: undefined },
    known: {
      previous_response_id: 'response',
      container: 'container',
      container_id: 'container',
      item_reference: 'item',
      image_generation_call: 'item',
    },
    items: 'input',
    told: ['container_id'],
    except: 'annotations',
  },
  keeps: {
    whole: {
      id: 'response',
      'output.*.id': 'item',
      'output.*.container_id': 'container',
      'output.*.environment.container_id': 'container',
    },
    events: {
      'response.id': 'response',
      'response.output.*.id': 'item',
      'response.output.*.container_id': 'container',
      'response.output.*.environment.container_id': 'container',
      'item.id': 'item',
      'item.container_id': 'container',
      'item.environment.container_id': 'container',
    },
    unless: 'store',
  },
  billedBy: ['input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  sample: { body: { input: 'What is a postern?', store: false } },
  trial: { input: 'Say hello.', max_output_tokens: 16, store: false },
  sdk: { call: 'responses', python: 'answer.output_text', node: 'answer.output_text' },
});
