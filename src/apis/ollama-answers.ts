/** Converts chat and text completions to Ollama's responses: one object, or a stream of lines. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { ApiAnswer, ApiStream } from '../core/client-api.ts';
import { Unfit } from '../core/translation.ts';
import { finishReasonIn, textIn as saidIn } from '../families/wire-formats/completions/chat-answers.ts';
import { at, countIn, listIn, objectIn, textIn } from '../families/wire-formats/reading.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  JsonTextError,
  numberOf,
  parseJson,
} from '../lib/json/json-text.ts';

const nsPerMs = 1e6;

/** The content of an answer, or of one piece of a stream. */
export interface Said {
  readonly content: string;
  readonly thinking: string;
  readonly calls: readonly JsonObject[];
  readonly logprobs: readonly Json[] | undefined;
}

export type WriteSaid = (said: Said) => JsonObject;

const nothingSaid: Said = { content: '', thinking: '', calls: [], logprobs: undefined };

export const plainly = (content: string): Said => ({ ...nothingSaid, content });

const headOf = (model: Json, nowMs: number): JsonObject => ({ model, created_at: new Date(nowMs).toISOString() });

const toNs = (ms: number): number => Math.round(ms * nsPerMs);

interface Took {
  readonly totalMs: number;
  /** Time to the first text; undefined where the answer came in one piece. */
  readonly firstMs?: number | undefined;
}

function endOf(finish: string | null, usage: Json | undefined, { totalMs, firstMs }: Took): JsonObject {
  return {
    done: true,
    done_reason: finish === 'length' ? 'length' : 'stop',
    total_duration: toNs(totalMs),
    load_duration: 0,
    prompt_eval_count: countIn(at(usage, 'prompt_tokens')),
    prompt_eval_duration: firstMs === undefined ? undefined : toNs(firstMs),
    eval_count: countIn(at(usage, 'completion_tokens')),
    eval_duration: toNs(totalMs - (firstMs ?? 0)),
  };
}

/** The answer to a request without a prompt, with which clients load and unload a model. */
export function loadedOf(
  { model = '', keep_alive: keepAlive }: JsonObject,
  write: WriteSaid,
  { nowMs }: ApiAnswer,
): JsonObject {
  const reason = numberOf(keepAlive) === 0 ? 'unload' : 'load';
  return { ...headOf(model, nowMs), ...write(nothingSaid), done: true, done_reason: reason };
}

/** The whole answer as one object. Throws `Unfit` where it has no first choice. */
export function writeWhole(
  model: Json,
  write: WriteSaid,
  read: (choice: JsonObject) => Said,
  { body, nowMs, tookMs }: ApiAnswer,
): JsonObject {
  const { choices, usage } = objectIn(body, 'the answer');
  const choice = objectIn(listIn(choices, 'choices')[0], 'the first choice');
  const end = endOf(finishReasonIn(choice), usage, { totalMs: tookMs });
  return { ...headOf(model, nowMs), ...write(read(choice)), ...end };
}

export interface PieceReader {
  /** The content of one choice. `isLast`: this one has the finish reason. Throws `Unfit` where the choice has no valid content. */
  read(choice: JsonObject, isLast: boolean): Said;
}

/** Converts a stream: each event becomes a line immediately, and the last line follows when the upstream's stream ends. */
export class Lines implements ApiStream {
  readonly contentType = 'application/x-ndjson';
  readonly #model: Json;
  readonly #write: WriteSaid;
  readonly #reader: PieceReader;
  readonly #startedMs: number;
  #firstMs: number | undefined = undefined;
  #finish: string | null = null;
  #usage: JsonObject | undefined = undefined;

  constructor(model: Json, write: WriteSaid, reader: PieceReader, startedMs: number) {
    this.#model = model;
    this.#write = write;
    this.#reader = reader;
    this.#startedMs = startedMs;
  }

  event(data: Json): readonly Json[] {
    const { usage, choices } = objectIn(data, 'an event');
    if (isJsonObject(usage)) this.#usage = usage;
    const [choice] = isJsonList(choices) ? choices : [];
    if (!isJsonObject(choice)) return [];
    const finish = finishReasonIn(choice);
    const said = this.#reader.read(choice, finish !== null);
    this.#finish = finish ?? this.#finish;
    const { content, thinking, calls, logprobs } = said;
    if (content === '' && thinking === '' && calls.length === 0 && logprobs === undefined) return [];
    this.#firstMs ??= performance.now() - this.#startedMs;
    return [{ ...headOf(this.#model, Date.now()), ...this.#write(said), done: false }];
  }

  end(): readonly Json[] {
    if (this.#finish === null) throw new Unfit('the stream ended before it was complete');
    const took = { totalMs: performance.now() - this.#startedMs, firstMs: this.#firstMs };
    const end = endOf(this.#finish, this.#usage, took);
    return [{ ...headOf(this.#model, Date.now()), ...this.#write(nothingSaid), ...end }];
  }

  error(message: string): Json {
    return { error: message };
  }
}

/** The content of a delta or a message, with those tool calls that are complete. */
function readSaid(message: JsonObject, calls: readonly JsonObject[], logprobs: Json | undefined): Said {
  const tokens = at(logprobs, 'content');
  return {
    content: saidIn(message) ?? '',
    thinking: textIn(message.reasoning_content) ?? textIn(message.reasoning) ?? '',
    calls,
    logprobs: isJsonList(tokens) ? tokens : undefined,
  };
}

/** A tool call in Ollama's form, which has its arguments as an object. */
function writeCall({ id, name, text }: Called, index: number): JsonObject {
  let input: Json;
  try {
    input = text.trim() === '' ? {} : parseJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new Unfit('the arguments of a tool call are no JSON');
  }
  return { id, function: { index: index, name, arguments: objectIn(input, 'the arguments of a tool call') } };
}

interface Called {
  readonly id: string | undefined;
  readonly name: string;
  readonly text: string;
}

const mostCallCharacters = 8 * 1024 * 1024;

/** Reads the deltas of a chat stream. A tool call comes in pieces; the client gets it when it is complete. */
export class ChatReader implements PieceReader {
  #open: (Called & { readonly index: number }) | undefined = undefined;
  #written = 0;

  read(choice: JsonObject, isLast: boolean): Said {
    const { delta } = choice;
    const said = isJsonObject(delta) ? delta : {};
    const calls = isJsonList(said.tool_calls) ? said.tool_calls.flatMap((piece) => this.#add(piece)) : [];
    const whole = isLast ? [...calls, ...this.#close()] : calls;
    return readSaid(said, whole, choice.logprobs);
  }

  /** Adds a piece of a tool call; returns the previous call where this piece begins another one. */
  #add(piece: Json): JsonObject[] {
    const called = at(piece, 'function');
    const name = textIn(at(called, 'name')) ?? '';
    const index =
      countIn(at(piece, 'index')) ?? (name === '' ? this.#open?.index : undefined) ?? (this.#open?.index ?? -1) + 1;
    const before = this.#open === undefined || this.#open.index === index ? [] : this.#close();
    const { id, name: known = '', text = '' } = this.#open ?? {};
    this.#open = {
      index,
      id: textIn(at(piece, 'id')) || id,
      name: known + name,
      text: text + (textIn(at(called, 'arguments')) ?? ''),
    };
    if (this.#open.text.length > mostCallCharacters) throw new Unfit('a tool call is too long');
    return before;
  }

  #close(): JsonObject[] {
    if (this.#open === undefined) return [];
    const call = writeCall(this.#open, this.#written++);
    this.#open = undefined;
    return [call];
  }
}

export function readMessage(choice: JsonObject): Said {
  const message = objectIn(choice.message, 'the message of a choice');
  const calls = isJsonList(message.tool_calls) ? message.tool_calls.map(wholeCall) : [];
  return readSaid(message, calls, choice.logprobs);
}

function wholeCall(call: Json, index: number): JsonObject {
  const called = objectIn(at(call, 'function'), 'a tool call');
  const { name, arguments: text } = called;
  return writeCall({ id: textIn(at(call, 'id')), name: textIn(name) ?? '', text: textIn(text) ?? '' }, index);
}
