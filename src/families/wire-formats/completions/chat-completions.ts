/** Converts responses of a chat upstream to text completions, plain or streamed. */

import type { StreamReader, WireAnswer } from '../../../core/translation.ts';
import { getOrMake } from '../../../lib/get-or-make.ts';
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
import { type CompletionCall, type CompletionResult, completionHead, createProgress } from './completions.ts';

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

function echoOf({ prompt, asked: { body } }: CompletionCall): string {
  return body.echo === true && typeof prompt === 'string' ? prompt : '';
}

const newChoice = () => ({ tokens: new TokenLists(), hasText: false });
type StreamedChoice = ReturnType<typeof newChoice>;

export function createChatStream(call: CompletionCall): StreamReader {
  const { asked } = call;
  const echo = echoOf(call);
  const wantsUsage = at(asked.body, 'stream_options', 'include_usage') === true;
  const progress = createProgress(call.choices);
  const streamed = new Map<number, StreamedChoice>();
  /** The head of all chunks, taken from the first chunk with a choice. */
  let head: JsonObject | undefined;
  let counted: JsonObject | undefined;

  const toChunk = (choices: readonly Json[], usage: JsonObject | null): Json => ({
    ...head,
    choices,
    usage: wantsUsage ? usage : undefined,
  });

  function readChoice(choice: JsonObject): Json[] {
    const { position, isNew } = progress.begin(choice.index);
    const known = getOrMake(streamed, position, newChoice);
    // The last chunk may have no delta.
    const delta = choice.delta === undefined || choice.delta === null ? {} : objectIn(choice.delta, 'a delta');
    const text = textIn(delta);
    if (text !== undefined) known.hasText ||= text !== '';
    const reason = finishReasonIn(choice);
    if (reason !== null) progress.finish(position);
    if ((reason === 'tool_calls' || reason === 'function_call') && !known.hasText) throw toolCalled();
    const said = {
      text: text ?? '',
      index: position,
      logprobs: known.tokens.next(choice.logprobs),
      finish_reason: toCompletionReason(reason),
    };
    const chunks = [toChunk([said], null)];
    if (isNew && echo !== '') {
      chunks.unshift(toChunk([{ text: echo, index: position, logprobs: null, finish_reason: null }], null));
    }
    return chunks;
  }

  return {
    get isComplete() {
      return progress.isComplete;
    },
    get usage() {
      return counted === undefined ? null : toUsage(counted);
    },
    event(data) {
      const chunk = objectIn(data, 'an event of the stream');
      const { choices, usage } = chunk;
      // Some upstreams report usage in every chunk: the last one counts.
      if (isJsonObject(usage)) counted = soundUsage(usage);
      if ((choices === undefined || choices === null) && isJsonObject(usage)) return [];
      const listed = listIn(choices, 'choices');
      if (listed.length > 0) head ??= completionHead(chatHead(chunk), asked);
      return listed.flatMap((choice) => readChoice(objectIn(choice, 'a choice')));
    },
    end() {
      progress.checkEnd();
      return wantsUsage && counted !== undefined ? [toChunk([], counted)] : [];
    },
  };
}
