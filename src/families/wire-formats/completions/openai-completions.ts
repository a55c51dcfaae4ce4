/** Translates completions for upstreams that support only a part of OpenAI's format. Supported requests pass unchanged. */

import type { Usage } from '../../../core/accounting/usage.ts';
import { type StreamReader, type Translation, Unfit } from '../../../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  type JsonObject,
} from '../../../lib/json/json-text.ts';
import { byIndex, listIn, objectIn } from '../reading.ts';
import { soundUsage, toUsage } from '../token-usage.ts';
import { finishReasonIn } from './chat-answers.ts';
import { type CompletionWireFormat, createProgress, translateCompletions } from './completions.ts';

export interface OpenaiCompletionFacts {
  readonly onePromptACall?: boolean;
  /** The upstream would read OpenAI's token IDs as its own, or refuse them. */
  readonly misreadsTokens?: boolean;
}

export function openaiCompletions({
  onePromptACall = false,
  misreadsTokens = false,
}: OpenaiCompletionFacts): Translation {
  const wireFormat: CompletionWireFormat = {
    onePromptACall,
    takesTokens: ({ tokenIds }) => !misreadsTokens || tokenIds === 'pass',
    parameters: ({ body }) => body,
    write: ({ prompt, parameters, asked }) => ({ body: { ...parameters, model: asked.model, prompt } }),
    read: ({ body }) => {
      const { choices, usage, ...head } = objectIn(body, 'the answer');
      return { choices: byIndex(listIn(choices, 'choices'), 'index', 'a choice').map(checked), head, usage };
    },
    stream: ({ choices }) => createChunkReader(choices),
  };
  return {
    ...translateCompletions(wireFormat),
    isNeeded({ fields, tokenIds }) {
      const prompt = fields.get('prompt');
      const first = prompt?.firstElement;
      if (prompt?.kind !== 'array' || first === undefined) return false;
      if (first === 'number') return misreadsTokens && tokenIds !== 'pass';
      return onePromptACall || (first === 'array' && misreadsTokens && tokenIds !== 'pass');
    },
  };
}

function checked(choice: JsonObject): JsonObject {
  if (typeof choice.text !== 'string') throw new Unfit('a choice has no text');
  finishReasonIn(choice);
  if (!isInRange(choice.logprobs)) throw new Unfit('the logprob of a token is no number');
  return choice;
}

function isInRange(value: Json | undefined): boolean {
  if (value instanceof JsonNumber) return Number.isFinite(value.value);
  if (value instanceof JsonNumbers) return value.values().every(Number.isFinite);
  if (isJsonList(value)) return value.every(isInRange);
  return !isJsonObject(value) || Object.values(value).every(isInRange);
}

function createChunkReader(expected: number | undefined): StreamReader {
  const progress = createProgress(expected);
  let counted: Usage | null = null;
  return {
    get isComplete() {
      return progress.isComplete;
    },
    get usage() {
      return counted;
    },
    event(data) {
      const chunk = objectIn(data, 'an event of the stream');
      const { usage, choices } = chunk;
      const isCountAlone = (choices === undefined || choices === null) && isJsonObject(usage);
      for (const element of isCountAlone ? [] : listIn(choices, 'choices')) {
        const choice = checked(objectIn(element, 'a choice'));
        const { position } = progress.begin(choice.index);
        if (finishReasonIn(choice) !== null) progress.finish(position);
      }
      if (!isJsonObject(usage)) return [chunk];
      const sound = soundUsage(usage);
      counted = sound === undefined ? null : toUsage(sound);
      // Clients look for choices in every chunk.
      return [{ ...chunk, ...(isCountAlone && { choices: [] }), usage: sound ?? null }];
    },
    end() {
      progress.checkEnd();
      return [];
    },
  };
}
