/** Wraps a local model: parses the body, converts refusals to error responses, writes JSON, and yields to the event loop. */

import { createHash } from 'node:crypto';
import type { MadeAnswer, Maker } from '../../core/family.ts';
import { isJsonObject, type Json, JsonTextError, JsonTooMuch, parseJsonSliced } from '../../lib/json/json-text.ts';
import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';
import { type Fields, Refusal } from './fields.ts';

/** The time in every answer, 2026-01-01T00:00:00Z in seconds, so that equal requests get equal bytes. */
export const createdS = 1_767_225_600;

export interface Asked {
  readonly fields: Fields;
  readonly model: string;
  readonly pace: Pace;
  /** Makes an ID with a prefix, the same for equal bodies. */
  id(prefix: string): string;
}

/** Makes a local model. `knows` are the fields that it reads; others are reported to the client as ignored. */
export function createMaker(
  defaultModel: string,
  knows: readonly string[],
  answer: (asked: Asked) => Promise<MadeAnswer>,
): Maker {
  const known = new Set(['model', ...knows]);
  return async (body, signal) => {
    try {
      const fields = await readFields(body);
      const made = await answer({
        fields,
        model: typeof fields.model === 'string' ? fields.model : defaultModel,
        pace: createPace(signal),
        id: (prefix) => prefix + createHash('sha256').update(body).digest('hex').slice(0, 24),
      });
      const ignored = Object.keys(fields).filter((name) => !known.has(name) && fields[name] !== null);
      return ignored.length === 0 ? made : { ...made, ignored: [...(made.ignored ?? []), ...ignored] };
    } catch (error) {
      if (error instanceof Refusal) return refuse(error);
      throw error;
    }
  };
}

/** Longest body for a local model: its work is linear in the body, and takes a second or two for this size on a common machine. */
const mostBodyBytes = 8 * 1024 * 1024;
const readingLimits = { maxValues: 500_000, maxElements: 50_000 };

async function readFields(body: Buffer): Promise<Fields> {
  if (body.length > mostBodyBytes) throw tooLarge(`${mostBodyBytes} bytes`);
  const fields = await parse(body);
  if (!isJsonObject(fields)) throw new Refusal('invalid_json', null, 'The body must be a JSON object; send one.');
  return fields;
}

async function parse(body: Buffer): Promise<Json> {
  try {
    return await parseJsonSliced(body, readingLimits);
  } catch (error) {
    if (error instanceof JsonTooMuch) throw tooLarge(error.limit);
    if (!(error instanceof JsonTextError)) throw error;
    throw new Refusal('invalid_json', null, 'The body is not valid JSON; send one JSON object.');
  }
}

function tooLarge(limit: string): Refusal {
  return new Refusal(
    'body_too_large',
    null,
    `The body holds more than ${limit}, too much for a built-in model; send it in smaller requests.`,
  );
}

function refuse({ message, param, code }: Refusal): MadeAnswer {
  return jsonAnswer(
    Buffer.from(JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } })),
    code === 'body_too_large' ? 413 : 400,
  );
}

function jsonAnswer(body: Buffer, status = 200): MadeAnswer {
  return { status, headers: [['content-type', 'application/json']], body };
}

const chunkCharacters = 65_536;

/** Answers with `{...head, [name]: [items], ...tail}` in pieces: a long list neither fills one string nor blocks the event loop. */
export async function listAnswer(
  pace: Pace,
  head: object,
  name: string,
  items: Iterable<string> | AsyncIterable<string>,
  tail: () => object,
): Promise<MadeAnswer> {
  const chunks: Buffer[] = [];
  let text = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const item of items) {
    text += separator + item;
    separator = ',';
    if (text.length < chunkCharacters) continue;
    await pace.spend(text.length);
    chunks.push(Buffer.from(text));
    text = '';
  }
  const rest = JSON.stringify(tail()).slice(1);
  chunks.push(Buffer.from(`${text}]${rest === '}' ? '' : ','}${rest}`));
  return jsonAnswer(Buffer.concat(chunks));
}

/** Answers with a stream of events, yielding to the event loop between them, and the final mark. */
export function streamAnswer(pace: Pace, events: Iterable<object>): MadeAnswer {
  async function* body(): AsyncGenerator<Buffer> {
    for (const event of events) {
      yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
      await pace.turn();
    }
    yield Buffer.from('data: [DONE]\n\n');
  }
  const headers = [
    ['content-type', 'text/event-stream'],
    ['cache-control', 'no-cache'],
  ] as const;
  return { status: 200, headers, body: body() };
}

export type Pace = ReturnType<typeof createPace>;

/** The clock is read after this much work, which mostly takes less than a millisecond on a common machine. */
const pieceCharacters = 4_096;

function createPace(signal: AbortSignal) {
  let spent = 0;
  const turn = async () => {
    await nextSlice();
    signal.throwIfAborted();
  };
  return {
    turn,
    /** Accounts for work, in characters read or written; yields to the event loop where the time slice is used up. */
    async spend(characters: number): Promise<void> {
      spent += characters;
      if (spent < pieceCharacters) return;
      spent = 0;
      if (isSliceOver()) await turn();
    },
  };
}
