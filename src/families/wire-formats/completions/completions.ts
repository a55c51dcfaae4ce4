/** Translates completions between OpenAI's and other formats: one call per prompt, and all choices in one list. */

import {
  type Asked,
  type Reply,
  type StreamReader,
  type Translation,
  Unfit,
  type WireAnswer,
  type WireRequest,
} from '../../../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumbers,
  type JsonObject,
  numberOf,
} from '../../../lib/json/json-text.ts';
import { inSlices } from '../../../lib/time-slices.ts';
import { countIn } from '../reading.ts';
import { mostCalls, type Texts, toPlainTexts } from '../texts.ts';
import { sumOfUsage, toUsage } from '../token-usage.ts';

export interface CompletionCall {
  /** The prompt as sent: a text or token IDs, or a list of either. */
  readonly prompt: Json;
  /** Number of expected choices; undefined where the client's `n` is invalid, which the upstream then refuses. */
  readonly choices: number | undefined;
  readonly parameters: JsonObject;
  readonly asked: Asked;
}

export interface CompletionResult {
  readonly choices: readonly JsonObject[];
  /** Fields beside the choices: `id`, `created`, `model`, `system_fingerprint`; missing ones are generated. */
  readonly head: JsonObject;
  readonly usage: Json | undefined;
}

export interface CompletionWireFormat {
  /** A call takes one prompt; undefined: all prompts. */
  readonly onePromptACall?: boolean;
  /** The upstream has no `n`: each call returns one choice. */
  readonly oneChoice?: boolean;
  /** Whether token IDs may be sent unchanged; else they are decoded. */
  takesTokens?(asked: Asked): boolean;
  /** Converts the parameters, which are sent with every prompt. Throws a `GatewayError` for what cannot be served. */
  parameters(asked: Asked): JsonObject;
  write(call: CompletionCall): WireRequest;
  /** Reads an answer. Throws `Unfit`. */
  read(answer: WireAnswer, call: CompletionCall): CompletionResult;
  stream(call: CompletionCall): StreamReader;
}

export function translateCompletions(wireFormat: CompletionWireFormat): Translation {
  return {
    async ask(asked) {
      const parameters = wireFormat.parameters(asked);
      const prompts = await promptsOf(asked, wireFormat);
      const n = wireFormat.oneChoice ? 1 : choicesEach(asked);
      const calls = prompts.map(({ prompt, count }): CompletionCall => {
        return { prompt, choices: n === undefined ? undefined : n * count, parameters, asked };
      });
      const [first, second] = calls;
      const isStream = asked.body.stream === true;
      if (isStream && second !== undefined) {
        throw asked.refusal('prompt', 'takes one prompt a call, so several make no one stream', 'send each by itself');
      }
      return {
        requests: calls.map((call) => wireFormat.write(call)),
        read: async (answers) =>
          toReply(
            await inSlices(calls.entries(), ([index, call]) => readResult(wireFormat, call, answers[index])),
            asked,
          ),
        counted(answer, index) {
          const call = calls[index];
          const usage = call && sumOfUsage([readResult(wireFormat, call, answer).usage]);
          return usage === undefined ? null : toUsage(usage);
        },
        ...(isStream && first !== undefined && { stream: wireFormat.stream(first) }),
      };
    },
  };
}

export function choicesEach({ body }: Asked): number | undefined {
  if (body.n === undefined) return 1;
  const n = numberOf(body.n);
  return n !== undefined && Number.isSafeInteger(n) && n >= 1 ? n : undefined;
}

/** For each parameter, a test for values that change nothing, so that the parameter can be left out. */
const harmless: Readonly<Record<string, (value: Json) => boolean>> = {
  n: isOne,
  best_of: isOne,
  echo: isFalse,
  logprobs: isFalse,
  suffix: (value) => value === '',
  presence_penalty: isZero,
  frequency_penalty: isZero,
  logit_bias: (value) => isJsonObject(value) && Object.keys(value).length === 0,
};

export function asksForNothing(parameter: string, value: Json | undefined): boolean {
  return value === undefined || harmless[parameter]?.(value) === true;
}

function isOne(value: Json): boolean {
  return numberOf(value) === 1;
}

function isZero(value: Json): boolean {
  return numberOf(value) === 0;
}

function isFalse(value: Json): boolean {
  return value === false;
}

/** Matches OpenAI's reasoning models, which know `max_tokens` by another name only (unverified). */
const namesLimitAnew = /(?:^|\/)(?:o[1-9]|gpt-[5-9])/;

/** The name of the field that bounds the output, for a model with any of these names. */
export function limitNameFor(names: readonly unknown[]): string {
  const isNew = names.some((name) => typeof name === 'string' && namesLimitAnew.test(name));
  return isNew ? 'max_completion_tokens' : 'max_tokens';
}

interface Prompts {
  readonly prompt: Json;
  readonly count: number;
}

/** The prompts, grouped by call. An empty list is sent to an upstream that takes lists, and the upstream refuses it. */
async function promptsOf(
  asked: Asked,
  { onePromptACall = false, takesTokens }: CompletionWireFormat,
): Promise<Prompts[]> {
  if (onePromptACall) checkCount(asked);
  const { items, isSingle } = takesTokens?.(asked) ? asTheyAre(asked) : await toPlainTexts(asked, 'prompt');
  if (items.length === 0 || !(onePromptACall || isSingle)) return [{ prompt: items, count: items.length }];
  return items.map((prompt) => ({ prompt, count: 1 }));
}

/** Refuses a list that is too long where each prompt is a call of its own, before token IDs are decoded. */
function checkCount(asked: Asked): void {
  const { prompt } = asked.body;
  if (!isJsonList(prompt)) return;
  if (prompt.length === 0) throw asked.refusal('prompt', 'wants one prompt at the least');
  if (prompt.length > mostCalls) {
    throw asked.refusal('prompt', `takes one prompt a call, and ${mostCalls} of them in a request at most`);
  }
}

function asTheyAre(asked: Asked): Texts {
  const { prompt = '' } = asked.body;
  const items = isJsonList(prompt) ? prompt : [prompt];
  if (items.every((item) => typeof item === 'string' || item instanceof JsonNumbers)) {
    return { items, isSingle: !isJsonList(prompt) };
  }
  throw asked.refusal('prompt', 'takes texts and token IDs only');
}

function readResult(
  wireFormat: CompletionWireFormat,
  call: CompletionCall,
  answer: WireAnswer | undefined,
): CompletionResult {
  if (answer === undefined) throw new TypeError('a call without an answer');
  const result = wireFormat.read(answer, call);
  const { length } = result.choices;
  if (length === 0) throw new Unfit('there are no choices');
  if (call.choices !== undefined && length !== call.choices) {
    throw new Unfit(`${length} choices where ${call.choices} were asked for`);
  }
  return result;
}

function toReply(results: readonly CompletionResult[], asked: Asked): Reply {
  const usage = sumOfUsage(results.map((result) => result.usage));
  const choices = results.flatMap((result) => result.choices);
  const head = completionHead(results[0]?.head ?? {}, asked);
  return {
    body: { ...head, choices: choices.map((choice, index) => ({ ...choice, index })), usage },
    usage: usage === undefined ? null : toUsage(usage),
  };
}

/** The fields beside the choices, the same in every completion and every chunk. */
export function completionHead(
  { id, created, model, system_fingerprint: print }: JsonObject,
  asked: Asked,
): JsonObject {
  return {
    id: typeof id === 'string' && id !== '' ? id : `cmpl-${asked.id}`,
    object: 'text_completion',
    created: countIn(created) === undefined ? asked.nowS : created,
    model: typeof model === 'string' && model !== '' ? model : asked.model,
    system_fingerprint: typeof print === 'string' ? print : undefined,
  };
}

/** Follows the choices of a stream. `expected`: how many there will be; undefined for any number. */
export function createProgress(expected: number | undefined) {
  const begun = new Set<number>();
  const finished = new Set<number>();
  return {
    get isComplete(): boolean {
      return begun.size > 0 && finished.size >= (expected ?? begun.size);
    },

    /** Notes a choice's chunk; returns its position, and whether it is new. Throws `Unfit` for a choice that was not requested. */
    begin(index: Json | undefined): { readonly position: number; readonly isNew: boolean } {
      const position = countIn(index);
      if (position === undefined) throw new Unfit('a choice has no index');
      if (expected !== undefined && position >= expected) {
        throw new Unfit(`a choice has the index ${position}, and ${expected} were asked for`);
      }
      const isNew = !begun.has(position);
      begun.add(position);
      return { position, isNew };
    },

    finish: (position: number) => void finished.add(position),

    /** Checks at the upstream's end mark that all choices are complete: a proxy may send one after a truncated stream, too. */
    checkEnd(): void {
      if (begun.size === 0) throw new Unfit('the stream holds no choice');
      if (expected !== undefined && begun.size < expected) {
        throw new Unfit(`the stream holds ${begun.size} choices where ${expected} were asked for`);
      }
      if (!this.isComplete) throw new Unfit('the stream ended before each choice had its finish_reason');
    },
  };
}
