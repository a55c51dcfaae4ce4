/** Ollama's `generate`: as it comes where all upstreams of a model speak it, else over completions, whole or as lines, with no template around the text. */

import { performance } from 'node:perf_hooks';
import { type DoorStream, type DoorWay, type Entrance, refusedField } from '../core/door.ts';
import { operationRows } from '../core/operations/index.ts';
import { Unfit } from '../core/translation.ts';
import { at, countIn, listIn, objectIn, textIn } from '../families/dialects/reading.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf } from '../lib/json/json-text.ts';

const nsPerMs = 1e6;

/** Its options that completions have a name for. */
const sameOptions = ['temperature', 'top_p', 'seed', 'stop', 'frequency_penalty', 'presence_penalty'];

/** What a text alone cannot say, where it is there and not empty. */
const needsMore = ['system', 'template', 'images', 'format', 'think', 'logprobs'];

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === '' || value === false || (isJsonList(value) && value.length === 0);
}

function toCompletion(body: JsonObject): JsonObject {
  const { model, prompt, suffix } = body;
  const options = isJsonObject(body.options) ? body.options : {};
  for (const name of needsMore) {
    if (!isEmpty(body[name])) throw refusedField(name, model, 'completions take a prompt alone');
  }
  const same = sameOptions.flatMap((name) => (options[name] === null ? [] : [[name, options[name]] as const]));
  const { num_predict: most } = options;
  // Less than nothing is as much as it likes.
  const isLimit = most !== undefined && most !== null && !((numberOf(most) ?? 0) < 0);
  return {
    model,
    prompt: prompt ?? '',
    suffix: isEmpty(suffix) ? undefined : suffix,
    ...Object.fromEntries(same),
    max_tokens: isLimit ? most : undefined,
    stream: body.stream === false ? undefined : true,
  };
}

const reasonOf = (finish: Json | undefined): string => (finish === 'length' ? 'length' : 'stop');

const countsOf = (usage: Json | undefined): JsonObject => ({
  prompt_eval_count: countIn(at(usage, 'prompt_tokens')),
  eval_count: countIn(at(usage, 'completion_tokens')),
});

class Lines implements DoorStream {
  readonly contentType = 'application/x-ndjson';
  readonly #model: Json;
  readonly #startedMs = performance.now();
  #finish: Json | undefined = undefined;
  #usage: Json | undefined = undefined;

  constructor(model: Json) {
    this.#model = model;
  }

  event(data: Json): readonly Json[] {
    const { usage, choices } = objectIn(data, 'an event');
    if (isJsonObject(usage)) this.#usage = usage;
    const [choice] = isJsonList(choices) ? choices : [];
    const finish = at(choice, 'finish_reason');
    if (finish !== undefined && finish !== null) this.#finish = finish;
    const text = textIn(at(choice, 'text'));
    return text === undefined || text === '' ? [] : [{ ...this.#head(), response: text, done: false }];
  }

  end(): readonly Json[] {
    if (this.#finish === undefined) throw new Unfit('the stream ended before it was complete');
    const last = {
      ...this.#head(),
      response: '',
      done: true,
      done_reason: reasonOf(this.#finish),
      total_duration: Math.round((performance.now() - this.#startedMs) * nsPerMs),
      ...countsOf(this.#usage),
    };
    return [last];
  }

  error(message: string): Json {
    return { error: message };
  }

  #head(): JsonObject {
    return { model: this.#model, created_at: new Date().toISOString() };
  }
}

export const generate: DoorWay = {
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
  },
  watched: ['format', 'think'],
  summary: "Completions as Ollama's clients ask for them, whole or as lines.",
  passes: {
    label: 'ollama',
    where: 'all do',
    row: {
      ...operationRows.completions,
      written: { whole: ['response', 'thinking'], events: ['response', 'thinking'] },
      countsIn: 'last line',
      mostBy: 'options.num_predict',
    },
  },
  enter(body): Entrance {
    const { model = '' } = body;
    const isNothing = isEmpty(body.prompt);
    return {
      body: toCompletion(isNothing ? { ...body, stream: false } : body),
      words: { door: 'ollama', more: {} },
      demands: [],
      // Its clients load and unload models by it.
      ...(isNothing && { atOnce: {} }),
      stream: () => new Lines(model),
      write({ body: answer, nowMs, tookMs }) {
        const head = { model, created_at: new Date(nowMs).toISOString() };
        if (isNothing) {
          const reason = numberOf(body.keep_alive) === 0 ? 'unload' : 'load';
          return { body: { ...head, response: '', done: true, done_reason: reason } };
        }
        const { choices, usage } = objectIn(answer, 'the answer');
        const [choice] = listIn(choices, 'choices');
        const response = textIn(at(choice, 'text'));
        if (response === undefined) throw new Unfit('the first choice has no text');
        return {
          body: {
            ...head,
            response,
            done: true,
            done_reason: reasonOf(at(choice, 'finish_reason')),
            total_duration: Math.round(tookMs * nsPerMs),
            ...countsOf(usage),
          },
        };
      },
    };
  },
};
