/** Converts chat responses to text completions, plain or streamed. */

import type { Usage } from '../../../core/accounting/usage.ts';
import type { Asked, StreamReader, WireAnswer } from '../../../core/translation.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json/json-text.ts';
import { at, listIn, objectIn } from '../reading.ts';
import { soundUsage, toUsage } from '../token-usage.ts';
import {
  chatHead,
  finishReasonIn,
  readChat,
  TokenLists,
  textIn,
  toCompletionReason,
  toolCalled,
} from './chat-answers.ts';
import { ChoiceProgress, type CompletionCall, type CompletionResult, completionHead } from './completions.ts';

/** Throws `Unfit`. */
export function readChatCompletion({ body }: WireAnswer, call: CompletionCall): CompletionResult {
  const { choices, head, usage } = readChat(body);
  const before = echoOf(call);
  return {
    choices: choices.map(({ text, finishReason, logprobs }) => ({
      text: before + text,
      index: 0,
      logprobs: new TokenLists().next(logprobs),
      finish_reason: finishReason,
    })),
    head,
    usage,
  };
}

/** The prompt, where the client set `echo`. */
function echoOf({ prompt, asked: { body } }: CompletionCall): string {
  return body.echo === true && typeof prompt === 'string' ? prompt : '';
}

interface StreamedChoice {
  readonly tokens: TokenLists;
  hasText: boolean;
}

export class ChatStream implements StreamReader {
  readonly #asked: Asked;
  readonly #echo: string;
  readonly #wantsUsage: boolean;
  readonly #progress: ChoiceProgress;
  readonly #choices = new Map<number, StreamedChoice>();
  /** The first chunk with a choice supplies the head of all. */
  #head: JsonObject | undefined = undefined;
  #counted: JsonObject | undefined = undefined;

  constructor(call: CompletionCall) {
    this.#asked = call.asked;
    this.#echo = echoOf(call);
    this.#wantsUsage = at(call.asked.body, 'stream_options', 'include_usage') === true;
    this.#progress = new ChoiceProgress(call.choices);
  }

  get isComplete(): boolean {
    return this.#progress.isComplete;
  }

  get usage(): Usage | null {
    return this.#counted === undefined ? null : toUsage(this.#counted);
  }

  event(data: Json): readonly Json[] {
    const chunk = objectIn(data, 'an event of the stream');
    const { choices, usage } = chunk;
    // Some report usage in every chunk: the last one counts.
    if (isJsonObject(usage)) this.#counted = soundUsage(usage);
    if ((choices === undefined || choices === null) && isJsonObject(usage)) return [];
    const listed = listIn(choices, 'choices');
    if (listed.length > 0) this.#head ??= completionHead(chatHead(chunk), this.#asked);
    return listed.flatMap((choice) => this.#choice(objectIn(choice, 'a choice')));
  }

  /** Usage is the last chunk, on its own. */
  end(): readonly Json[] {
    this.#progress.checkEnd();
    return this.#wantsUsage && this.#counted !== undefined ? [this.#chunk([], this.#counted)] : [];
  }

  #choice(choice: JsonObject): Json[] {
    const { position, isNew } = this.#progress.begin(choice.index);
    const known = this.#choices.get(position) ?? { tokens: new TokenLists(), hasText: false };
    this.#choices.set(position, known);
    // A last chunk may have none.
    const delta = choice.delta === undefined || choice.delta === null ? {} : objectIn(choice.delta, 'a delta');
    const text = textIn(delta);
    if (text !== undefined) known.hasText ||= text !== '';
    const reason = finishReasonIn(choice);
    if (reason !== null) this.#progress.finish(position);
    if ((reason === 'tool_calls' || reason === 'function_call') && !known.hasText) throw toolCalled();
    const said = {
      text: text ?? '',
      index: position,
      logprobs: known.tokens.next(choice.logprobs),
      finish_reason: toCompletionReason(reason),
    };
    const chunks = [this.#chunk([said], null)];
    if (isNew && this.#echo !== '') {
      chunks.unshift(this.#chunk([{ text: this.#echo, index: position, logprobs: null, finish_reason: null }], null));
    }
    return chunks;
  }

  #chunk(choices: readonly Json[], usage: JsonObject | null): Json {
    return { ...this.#head, choices, usage: this.#wantsUsage ? usage : undefined };
  }
}
