/** Converts Ollama's `chat` and `generate` to chat or text completions; bytes pass unchanged to upstreams with Ollama's API. */

import { type ApiMapping, type AskedModel, type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { Unfit } from '../core/translation.ts';
import { limitNameFor } from '../families/wire-formats/completions/completions.ts';
import { at, textIn } from '../families/wire-formats/reading.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf, writeJson } from '../lib/json/json-text.ts';
import {
  ChatReader,
  Lines,
  loadedOf,
  type PieceReader,
  plainly,
  readMessage,
  type Said,
  type WriteSaid,
  writeWhole,
} from './ollama-answers.ts';

/** First characters of an image in base64, which tell its type. */
const imageTypes: readonly (readonly [beginning: string, type: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

function toImagePart(image: Json, field: string): JsonObject {
  if (typeof image !== 'string') throw wrongField(field, 'an array of images in base64');
  const [, type = 'image/png'] = imageTypes.find(([beginning]) => image.startsWith(beginning)) ?? [];
  const url = /^data:image\/[\w.+-]+;base64,/.test(image) ? image : `data:${type};base64,${image}`;
  return { type: 'image_url', image_url: { url } };
}

function contentOf(text: string, images: Json | undefined, field: string): Json {
  if (images === undefined || images === null) return text;
  if (!isJsonList(images)) throw wrongField(field, 'an array of images in base64');
  if (images.length === 0) return text;
  const parts = images.map((image) => toImagePart(image, field));
  return text === '' ? parts : [{ type: 'text', text }, ...parts];
}

/** Assigns IDs to tool calls and results. A result without ID, of an older client, belongs to its tool's first open call, or else the first. */
class CallIds {
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #made = 0;

  forCall(said: Json | undefined, name: string): string {
    const id = typeof said === 'string' && said !== '' ? said : `call_${++this.#made}`;
    this.#open.push({ id, name });
    return id;
  }

  forResult(said: Json | undefined, name: Json | undefined): string {
    const isMeant = ({ id, name: called }: { id: string; name: string }): boolean =>
      typeof said === 'string' && said !== '' ? id === said : called === name;
    const found = this.#open.findIndex(isMeant);
    if (found === -1 && typeof said === 'string' && said !== '') return said;
    const [open] = this.#open.splice(Math.max(found, 0), 1);
    return open?.id ?? `call_${++this.#made}`;
  }
}

function toCall(call: Json, ids: CallIds, field: string): JsonObject {
  const called = at(call, 'function');
  const name = at(called, 'name');
  const input = at(called, 'arguments');
  if (typeof name !== 'string') throw wrongField(`${field}.tool_calls`, 'an array of calls of functions with a name');
  const written = typeof input === 'string' ? input : writeJson(input ?? {}).toString();
  return { id: ids.forCall(at(call, 'id'), name), type: 'function', function: { name, arguments: written } };
}

function toMessage(message: Json, index: number, ids: CallIds): JsonObject {
  const field = `messages[${index}]`;
  if (!isJsonObject(message)) throw wrongField(field, 'an object');
  const { role, content, images, tool_calls: calls, tool_call_id: id, tool_name: tool, name } = message;
  if (typeof role !== 'string') throw wrongField(`${field}.role`, 'a string');
  if (content !== undefined && content !== null && typeof content !== 'string') {
    throw wrongField(`${field}.content`, 'a string');
  }
  const text = content ?? '';
  if (role === 'tool') return { role, tool_call_id: ids.forResult(id, tool ?? name), content: text };
  const said = contentOf(text, images, `${field}.images`);
  if (!isJsonList(calls) || calls.length === 0) return { role, content: said };
  const made = calls.map((call) => toCall(call, ids, field));
  return { role, content: text === '' ? null : said, tool_calls: made };
}

function toTool(tool: Json, index: number, model: Json | undefined): JsonObject {
  const called = at(tool, 'function');
  const type = at(tool, 'type') ?? 'function';
  if (type === 'function' && isJsonObject(called)) return { type, function: called };
  throw refusedField(`tools[${index}]`, model, 'a tool is a function, with "function" in it');
}

function toFormat(format: Json | undefined, model: Json | undefined): JsonObject | undefined {
  if (format === undefined || format === '') return undefined;
  if (format === 'json') return { type: 'json_object' };
  if (isJsonObject(format)) return { type: 'json_schema', json_schema: { name: 'format', schema: format } };
  throw refusedField('format', model, 'it is "json" or a JSON schema');
}

/** The reasoning effort that a level of `think` means; true and false are left to the model. */
function toEffort(think: Json | undefined, model: Json | undefined): Json | undefined {
  if (think === undefined || think === '' || typeof think === 'boolean') return undefined;
  if (think === 'low' || think === 'medium' || think === 'high') return think;
  throw refusedField('think', model, 'it is true, false, "low", "medium" or "high"');
}

/** The upstream request. `asked`: its fields besides the common ones. A request without content loads or unloads a model. */
function entranceOf(
  body: JsonObject,
  asked: JsonObject,
  isNothing: boolean,
  write: WriteSaid,
  pieces: PieceReader,
  read: (choice: JsonObject) => Said,
): Entrance {
  const { model = '' } = body;
  return {
    body: { model, ...asked, stream: body.stream !== false && !isNothing ? true : undefined },
    words: { clientApi: 'ollama', more: {} },
    ...(isNothing && { atOnce: {} }),
    stream: (startedMs) => new Lines(model, write, pieces, startedMs),
    write: (answer) => ({ body: isNothing ? loadedOf(body, write, answer) : writeWhole(model, write, read, answer) }),
  };
}

function entranceOverChat(
  body: JsonObject,
  messages: readonly JsonObject[],
  write: WriteSaid,
  { upstreamNames }: AskedModel,
): Entrance {
  const { model = '', think, tools, logprobs, top_logprobs: alternatives } = body;
  const shown: WriteSaid = think === false ? (said) => write({ ...said, thinking: '' }) : write;
  const asked = {
    messages,
    tools: isJsonList(tools) && tools.length > 0 ? tools.map((tool, index) => toTool(tool, index, model)) : undefined,
    response_format: toFormat(body.format, model),
    reasoning_effort: toEffort(think, model),
    ...(logprobs === true && { logprobs, top_logprobs: alternatives }),
    ...optionsOf(body, limitNameFor([model, ...upstreamNames()])),
  };
  return entranceOf(body, asked, messages.length === 0, shown, new ChatReader(), readMessage);
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === '' || value === false || (isJsonList(value) && value.length === 0);
}

function refuse(fields: readonly string[], body: JsonObject, why: string): void {
  for (const name of fields) if (!isEmpty(body[name])) throw refusedField(name, body.model, why);
}

const onlyCompletes = 'the model completes texts, and takes a prompt alone';

/** The upstream request of `generate` where it becomes a text completion, with the prompt unchanged. */
function entranceOverText(body: JsonObject, prompt: string, write: WriteSaid): Entrance {
  const { suffix } = body;
  const asked = { prompt, suffix: isEmpty(suffix) ? undefined : suffix, ...optionsOf(body) };
  return entranceOf(body, asked, prompt === '', write, pieces, readChoice);
}

/** Reads pieces of a stream of text completions, which may have no text. */
const pieces = { read: (choice: JsonObject): Said => plainly(textIn(choice.text) ?? '') };

function readChoice(choice: JsonObject): Said {
  const text = textIn(choice.text);
  if (text === undefined) throw new Unfit('the first choice has no text');
  return plainly(text);
}

const sameOptions = ['temperature', 'top_p', 'seed', 'stop', 'frequency_penalty', 'presence_penalty'];

function optionsOf(body: JsonObject, limitName = 'max_tokens'): JsonObject {
  const options = isJsonObject(body.options) ? body.options : {};
  const same = sameOptions.flatMap((name) => (options[name] === null ? [] : [[name, options[name]] as const]));
  const { num_predict: most } = options;
  // A negative number means no limit.
  const isLimit = most !== undefined && most !== null && !((numberOf(most) ?? 0) < 0);
  return { ...Object.fromEntries(same), ...(isLimit && { [limitName]: most }) };
}

const asMessage: WriteSaid = ({ content, thinking, calls, logprobs }) => ({
  message: {
    role: 'assistant',
    content,
    thinking: thinking === '' ? undefined : thinking,
    tool_calls: calls.length === 0 ? undefined : calls,
  },
  logprobs,
});

/** Maps `chat` to text completions for models without chat: the texts of the messages are joined by line breaks. */
const overCompletions: ApiMapping = {
  operation: 'completions',
  paths: ['/api/chat'],
  summary: "Chat in Ollama's format, over completions.",
  enter(body) {
    refuse(['tools', 'format', 'think', 'logprobs'], body, onlyCompletes);
    const texts = (isJsonList(body.messages) ? body.messages : []).map((message, index) => {
      const { content } = toMessage(message, index, new CallIds());
      const isPlain = typeof content === 'string' && isEmpty(at(message, 'tool_calls'));
      if (isPlain) return content;
      throw refusedField(`messages[${index}]`, body.model, 'the model completes texts, and takes no images and tools');
    });
    return entranceOverText(body, texts.join('\n\n'), asMessage);
  },
};

const { objectNames: _kept, sdk: _sdk, ...row } = operationRows.chat;

export const chat: ApiMapping = {
  operation: 'chat',
  paths: ['/api/chat'],
  required: { model: 'string' },
  optional: {
    messages: 'array',
    tools: 'array',
    stream: 'boolean',
    options: 'object',
    keep_alive: 'string | number',
    logprobs: 'boolean',
    top_logprobs: 'number',
  },
  watched: ['format', 'think'],
  summary: "Chat in Ollama's format, whole or as lines.",
  instead: { mapping: overCompletions, isMeant: ({ serves }) => !serves('chat') && serves('completions') },
  enter(body, model) {
    const ids = new CallIds();
    const messages = isJsonList(body.messages) ? body.messages : [];
    const written = messages.map((message, index) => toMessage(message, index, ids));
    return entranceOverChat(body, written, asMessage, model);
  },
  passes: {
    label: 'ollama',
    row: {
      ...row,
      beyondText: ['images'],
      written: { whole: ['content', 'thinking'], events: ['content', 'thinking'] },
      countsIn: 'last line',
      mostBy: 'options.num_predict',
    },
  },
};

/** Fields of a request that text completions cannot express, unless they are empty. */
const needsMore = ['system', 'template', 'images', 'format', 'think', 'logprobs'];

const needsText = ['suffix', 'template', 'raw'];

const asResponse: WriteSaid = ({ content, thinking, logprobs }) => ({
  response: content,
  thinking: thinking === '' ? undefined : thinking,
  logprobs,
});

/** Maps `generate` to chat completions: the prompt becomes the only user message, after the system's. */
const overChat: ApiMapping = {
  operation: 'chat',
  paths: ['/api/generate'],
  summary: "Generated text in Ollama's format, over chat.",
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
  summary: "Generated text in Ollama's format, whole or as lines.",
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
