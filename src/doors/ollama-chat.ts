/** Ollama's `chat`, for models at upstreams that speak it: the bytes pass, as nothing is translated between formats of chat. */

import type { DoorWay } from '../core/door.ts';
import { GatewayError } from '../core/errors.ts';
import { operationRows } from '../core/operations/index.ts';

const { kept: _kept, sdk: _sdk, ...row } = operationRows.chat;

export const chat: DoorWay = {
  operation: 'chat',
  paths: ['/api/chat'],
  required: { model: 'string' },
  optional: {
    messages: 'array',
    tools: 'array',
    stream: 'boolean',
    options: 'object',
    keep_alive: 'string | number',
  },
  watched: ['format', 'think', 'logprobs'],
  summary: "Chat as Ollama's clients ask for it, over upstreams that speak it.",
  enter({ model }) {
    const name = typeof model === 'string' ? ` of the model ${JSON.stringify(model.slice(0, 80).toWellFormed())}` : '';
    throw new GatewayError('operation_not_supported', {
      param: 'model',
      message: `No upstream${name} speaks Ollama's chat, and nothing is translated between formats of chat; POST to /v1/chat/completions.`,
    });
  },
  passes: {
    label: 'ollama',
    where: 'any does',
    row: {
      ...row,
      beyondText: ['images'],
      written: { whole: ['content', 'thinking'], events: ['content', 'thinking'] },
      countsIn: 'last line',
      mostBy: 'options.num_predict',
    },
  },
};
