/** What every built-in model does around its own work: reads the body, turns refusals into answers, writes JSON. */

import { createHash } from 'node:crypto';
import type { MadeAnswer, Maker } from '../../core/family.ts';
import type { Fields } from './fields.ts';
import { createPace, type Pace } from './pace.ts';
import { Refusal } from './refusal.ts';

/** Stands wherever the wire format wants a time: 2026-01-01T00:00:00Z, always, so that equal requests get equal bytes. */
export const createdS = 1_767_225_600;

/** One call to a built-in model. */
export interface Asked {
  readonly fields: Fields;
  /** As the body names it. */
  readonly model: string;
  readonly pace: Pace;
  /** An ID that is the same for the same body. */
  id(prefix: string): string;
}

export function createMaker(defaultModel: string, answer: (asked: Asked) => Promise<MadeAnswer>): Maker {
  return async (body, signal) => {
    try {
      const fields = parseFields(body);
      return await answer({
        fields,
        model: typeof fields.model === 'string' ? fields.model : defaultModel,
        pace: createPace(signal),
        id: (prefix) => prefix + createHash('sha256').update(body).digest('hex').slice(0, 24),
      });
    } catch (error) {
      if (error instanceof Refusal) return refuse(error);
      throw error;
    }
  };
}

function parseFields(body: Buffer): Fields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    // What the parser says quotes the body; what to do is the same whatever it says.
    throw new Refusal('invalid_json', null, 'The body is not valid JSON; send one JSON object.');
  }
  if (!isObject(parsed)) throw new Refusal('invalid_json', null, 'The body must be a JSON object; send one.');
  return parsed;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse({ message, param, code }: Refusal): MadeAnswer {
  return jsonAnswer(
    Buffer.from(JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } })),
    400,
  );
}

function jsonAnswer(body: Buffer, status = 200): MadeAnswer {
  return { status, headers: [['content-type', 'application/json']], body };
}

const chunkCharacters = 65_536;

/** Writes `{...head, [name]: [items], ...tail}` piece by piece: a long list neither fills one string nor holds the event loop. */
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

/** Sends events one by one, the event loop turning between them, and the mark that says the stream is whole. */
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
