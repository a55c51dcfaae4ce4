/** Implements the local model `local/echo`: completions and chat that repeat the input, and edits that follow a few simple instructions. */

import type { MadeAnswer } from '../../core/family.ts';
import { isJsonList, isJsonObject, type Json } from '../../lib/json/json-text.ts';
import { at } from '../wire-formats/reading.ts';
import { usageOf } from '../wire-formats/token-usage.ts';
import { readInstruction } from './edit-instructions.ts';
import {
  type Fields,
  Refusal,
  readFlag,
  readInteger,
  readList,
  readRequired,
  readText,
  readTexts,
  refuseTokens,
} from './fields.ts';
import { type Asked, createdS, createMaker, listAnswer, type Pace, streamAnswer } from './maker.ts';

const maxPrompts = 2048;
const maxMessages = 2048;
const maxN = 128;
const maxChoices = 2048;
const maxEdits = 20;
const maxStops = 4;
/** Limit for all stop sequences together, which are searched for without a pause. */
const maxStopCharacters = 1_000;
const defaultMaxTokens = 16;
/** Limit for one answer, all choices together. Edits process a text without a pause, so theirs is lower. */
const maxCharacters = 1024 * 1024;
const maxEditCharacters = 128 * 1024;

const completionFields = ['prompt', 'n', 'max_tokens', 'stop', 'echo', 'stream', 'stream_options'];

export const completeByEcho = createMaker('local/echo', completionFields, async (asked) => {
  const { fields, pace } = asked;
  refuseTokens(fields.prompt, 'prompt', 'send the prompt as text');
  const prompts = readTexts(fields, 'prompt', 'a text or a list of texts', maxPrompts);
  const n = readN(fields, prompts.length);
  const maxTokens = readInteger(fields, 'max_tokens', { min: 0, absent: defaultMaxTokens });
  const stops = readStops(fields);
  const echo = readFlag(fields, 'echo');
  const stream = readFlag(fields, 'stream');

  const choices: Choice[] = [];
  let promptTokens = 0;
  for (const prompt of prompts) {
    promptTokens += await countWords(prompt, pace);
    const said = await generate(prompt, maxTokens, stops, pace);
    for (let copy = 0; copy < n; copy += 1) choices.push({ ...said, prefix: echo ? prompt : '' });
  }
  refuseLength(
    sumOf(choices, ({ prefix, text }) => prefix.length + text.length),
    maxCharacters,
    'max_tokens',
  );
  const usage = usageOf(
    promptTokens,
    sumOf(choices, ({ tokens }) => tokens),
  );
  return stream ? streamChoices(asked, choices, usage, textForm) : wholeChoices(asked, choices, usage, textForm);
});

const chatFields = ['messages', 'n', 'max_tokens', 'max_completion_tokens', 'stop', 'stream', 'stream_options'];

/** Answers a chat with the user's last message; all of it where the client sends no limit. */
export const chatByEcho = createMaker('local/echo', chatFields, async (asked) => {
  const { fields, pace } = asked;
  const messages = readList(fields, 'messages', 'a list of messages', maxMessages).map(readMessage);
  const last = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1);
  const n = readN(fields, 1);
  const limit = (fields.max_completion_tokens ?? null) === null ? 'max_tokens' : 'max_completion_tokens';
  const maxTokens = readInteger(fields, limit, { min: 0, absent: Number.MAX_SAFE_INTEGER });
  const stops = readStops(fields);
  const stream = readFlag(fields, 'stream');

  const said = await generate(last?.text ?? '', maxTokens, stops, pace);
  refuseLength(said.text.length * n, maxCharacters, 'messages');
  let promptTokens = 0;
  for (const { text } of messages) promptTokens += await countWords(text, pace);
  const choices = Array.from({ length: n }, (): Choice => ({ ...said, prefix: '' }));
  const usage = usageOf(promptTokens, said.tokens * n);
  return stream ? streamChoices(asked, choices, usage, chatForm) : wholeChoices(asked, choices, usage, chatForm);
});

interface Message {
  readonly role: Json | undefined;
  readonly text: string;
}

/** Reads the text of a message; one without content, such as one that calls tools, has none. */
function readMessage(message: Json, index: number): Message {
  const param = `messages[${index}]`;
  if (!isJsonObject(message)) {
    throw new Refusal('invalid_type', param, `"${param}" must be an object with "role" and "content"; change it.`);
  }
  const { role, content = null } = message;
  if (content === null) return { role, text: '' };
  if (!isJsonList(content)) return { role, text: readText(content, `${param}.content`) };
  const texts = content.map((part, position) => readText(part, `${param}.content[${position}]`));
  return { role, text: texts.join('\n') };
}

/** Differences between completions and chat in how an answer's choices are written. */
interface Form {
  readonly idPrefix: string;
  readonly whole: string;
  readonly chunk: string;
  /** The first event of a choice in a stream; undefined where the first event has text already. */
  readonly opening: object | undefined;
  ofWhole(text: string): object;
  ofPiece(piece: string): object;
  readonly closing: object;
}

const textForm: Form = {
  idPrefix: 'cmpl-',
  whole: 'text_completion',
  chunk: 'text_completion',
  opening: undefined,
  ofWhole: (text) => ({ text }),
  ofPiece: (text) => ({ text }),
  closing: { text: '' },
};

const chatForm: Form = {
  idPrefix: 'chatcmpl-',
  whole: 'chat.completion',
  chunk: 'chat.completion.chunk',
  opening: { delta: { role: 'assistant', content: '', refusal: null } },
  ofWhole: (content) => ({ message: { role: 'assistant', content, refusal: null } }),
  ofPiece: (content) => ({ delta: { content } }),
  closing: { delta: {} },
};

interface Choice {
  /** The prompt before the generated text, where the client set `echo`. */
  readonly prefix: string;
  readonly text: string;
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

function readN(fields: Fields, prompts: number): number {
  const n = readInteger(fields, 'n', { min: 1, max: maxN, absent: 1 });
  if (n * prompts <= maxChoices) return n;
  const message = `${prompts} prompts with "n" ${n} make more than ${maxChoices} choices; lower "n" or send fewer prompts.`;
  throw new Refusal('invalid_value', 'n', message);
}

function readStops(fields: Fields): readonly string[] {
  if ((fields.stop ?? null) === null) return [];
  const stops = readTexts(fields, 'stop', 'a text or a list of texts', maxStops).filter((stop) => stop !== '');
  if (stops.every(({ length }) => length <= maxStopCharacters)) return stops;
  const message = `A text of "stop" has more than ${maxStopCharacters} characters; send a shorter one.`;
  throw new Refusal('string_above_max_length', 'stop', message);
}

async function generate(
  prompt: string,
  maxTokens: number,
  stops: readonly string[],
  pace: Pace,
): Promise<Omit<Choice, 'prefix'>> {
  const allowed = await takeWords(prompt, maxTokens, pace);
  const stopAt = await findFirst(stops, allowed, pace);
  const stopped = stopAt !== undefined;
  const text = stopped ? allowed.slice(0, stopAt) : allowed;
  const complete = stopped || allowed.length === prompt.length;
  return { text, tokens: await countWords(text, pace), finishReason: complete ? 'stop' : 'length' };
}

const searchedCharacters = 16_384;

async function findFirst(stops: readonly string[], text: string, pace: Pace): Promise<number | undefined> {
  if (stops.length === 0) return undefined;
  const longest = Math.max(...stops.map(({ length }) => length));
  for (let start = 0; start < text.length; start += searchedCharacters) {
    // A stop sequence that begins in this part may end in the next.
    const part = text.slice(start, start + searchedCharacters + longest - 1);
    const offsets = stops.map((stop) => part.indexOf(stop)).filter((offset) => offset !== -1);
    if (offsets.length > 0) return start + Math.min(...offsets);
    await pace.spend(part.length * stops.length);
  }
  return undefined;
}

function wholeChoices(
  { id, model, pace }: Asked,
  choices: readonly Choice[],
  usage: object,
  { idPrefix, whole, ofWhole }: Form,
): Promise<MadeAnswer> {
  const head = { id: id(idPrefix), object: whole, created: createdS, model };
  const items = choices
    .values()
    .map(({ prefix, text, finishReason }, index) =>
      JSON.stringify({ ...ofWhole(prefix + text), index, logprobs: null, finish_reason: finishReason }),
    );
  return listAnswer(pace, head, 'choices', items, () => ({ usage }));
}

function streamChoices(
  asked: Asked,
  choices: readonly Choice[],
  usage: object,
  { idPrefix, chunk: object, opening, ofPiece, closing }: Form,
): MadeAnswer {
  const withUsage = at(asked.fields, 'stream_options', 'include_usage') === true;
  const head = { id: asked.id(idPrefix), object, created: createdS, model: asked.model };
  const tail = withUsage ? { usage: null } : {};

  function* chunks(): Generator<object> {
    for (const [index, { prefix, text, finishReason }] of choices.entries()) {
      const chunk = (part: object, finished: Choice['finishReason'] | null) => ({
        ...head,
        choices: [{ ...part, index, logprobs: null, finish_reason: finished }],
        ...tail,
      });
      if (opening !== undefined) yield chunk(opening, null);
      for (const part of [prefix, text]) {
        for (const piece of toPieces(part)) yield chunk(ofPiece(piece), null);
      }
      yield chunk(closing, finishReason);
    }
    if (withUsage) yield { ...head, choices: [], usage };
  }
  return streamAnswer(asked.pace, chunks());
}

export const editByInstruction = createMaker('local/echo', ['input', 'instruction', 'n'], async ({ fields, pace }) => {
  const instruction = readText(readRequired(fields, 'instruction', 'what to do, such as "upper case"'), 'instruction');
  const input = readText(fields.input ?? '', 'input');
  const n = readInteger(fields, 'n', { min: 1, max: maxEdits, absent: 1 });
  refuseLength(input.length * n, maxEditCharacters, 'input');

  let text = input;
  for (const edit of readInstruction(instruction, maxEditCharacters)) {
    text = edit(text);
    await pace.turn();
  }
  refuseLength(text.length * n, maxEditCharacters, 'input');
  const usage = usageOf(
    (await countWords(input, pace)) + (await countWords(instruction, pace)),
    (await countWords(text, pace)) * n,
  );
  const choice = JSON.stringify({ text });
  const items = Array.from({ length: n }, (_, index) => `${choice.slice(0, -1)},"index":${index}}`);
  return listAnswer(pace, { object: 'edit', created: createdS }, 'choices', items, () => ({ usage }));
});

function refuseLength(characters: number, most: number, param: string): void {
  if (characters <= most) return;
  const message = `The answer would be longer than ${most} characters; ask for fewer choices or send less text.`;
  throw new Refusal('string_above_max_length', param, message);
}

const sumOf = <T>(list: readonly T[], value: (item: T) => number): number =>
  list.reduce((sum, item) => sum + value(item), 0);

async function takeWords(text: string, limit: number, pace: Pace): Promise<string> {
  if (limit === 0) return '';
  const end = (await findWords(text, limit, pace)).end;
  return /\S/.test(text.slice(end)) ? text.slice(0, end) : text;
}

/** Number of words in a text. White space alone counts as one word: it makes one piece of a stream. */
async function countWords(text: string, pace: Pace): Promise<number> {
  const { words } = await findWords(text, Number.POSITIVE_INFINITY, pace);
  return words === 0 && text !== '' ? 1 : words;
}

async function findWords(text: string, limit: number, pace: Pace): Promise<{ words: number; end: number }> {
  const word = /\S+/g;
  let words = 0;
  let end = 0;
  let paidTo = 0;
  while (words < limit && word.test(text)) {
    words += 1;
    end = word.lastIndex;
    if (end - paidTo < 4_096) continue;
    await pace.spend(end - paidTo);
    paidTo = end;
  }
  return { words, end };
}

/** Yields a text word by word, each with the white space before it; the last word with the remaining text. */
function* toPieces(text: string): Generator<string> {
  const word = /\S+/g;
  let start = 0;
  let end = word.test(text) ? word.lastIndex : text.length;
  while (word.test(text)) {
    yield text.slice(start, end);
    start = end;
    end = word.lastIndex;
  }
  if (start < text.length) yield text.slice(start);
}
