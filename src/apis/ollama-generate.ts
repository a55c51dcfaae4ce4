/** Ollama's `generate`: passes unchanged if all upstreams of a model have it, else becomes chat or text completions. */

import type { ApiMapping, Entrance } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { textIn } from '../families/wire-formats/reading.ts';
import type { WriteSaid } from './ollama-answers.ts';
import { contentOf, entranceOverChat, entranceOverText, isEmpty, onlyCompletes, refuse } from './ollama-chat.ts';

/** Fields, if not empty, that completions cannot express. */
const needsMore = ['system', 'template', 'images', 'format', 'think', 'logprobs'];

const needsText = ['suffix', 'template', 'raw'];

const asResponse: WriteSaid = ({ content, thinking, logprobs }) => ({
  response: content,
  thinking: thinking === '' ? undefined : thinking,
  logprobs,
});

/** The prompt becomes the only user message, after the system's. */
const overChat: ApiMapping = {
  operation: 'chat',
  paths: ['/api/generate'],
  summary: "A text as Ollama's clients have it generated, over chat.",
  enter(body, model) {
    const { prompt = '', system, images } = body;
    refuse(needsText, body, 'the model chats, and no upstream of it takes a plain text');
    if (typeof prompt !== 'string' || prompt === '') return entranceOverChat(body, [], asResponse, model);
    const question = { role: 'user', content: contentOf(prompt, images, 'images') };
    const messages = isEmpty(system) ? [question] : [{ role: 'system', content: system }, question];
    return entranceOverChat({ ...body, tools: undefined }, messages, asResponse, model);
  },
};

export const generate: ApiMapping = {
  operation: 'completions',
  paths: ['/api/generate'],
  required: { model: 'string' },
  optional: {
    prompt: 'string',
    suffix: 'string',
    system: 'string',
    template: 'string',
    raw: 'boolean',
    images: 'array',
    stream: 'boolean',
    options: 'object',
    keep_alive: 'string | number',
    context: 'array',
    logprobs: 'boolean',
    top_logprobs: 'number',
  },
  watched: ['format', 'think'],
  summary: "Texts as Ollama's clients have them generated, whole or as lines.",
  passes: {
    label: 'ollama',
    needsAll: true,
    row: {
      ...operationRows.completions,
      written: { whole: ['response', 'thinking'], events: ['response', 'thinking'] },
      countsIn: 'last line',
      mostBy: 'options.num_predict',
    },
  },
  // Plain texts and fill-in-the-middle become completions.
  instead: {
    mapping: overChat,
    isMeant: ({ isSet, serves }) => serves('chat') && !((isSet('raw') || isSet('suffix')) && serves('completions')),
  },
  enter(body): Entrance {
    refuse(needsMore, body, onlyCompletes);
    return entranceOverText(body, textIn(body.prompt) ?? '', asResponse);
  },
};
