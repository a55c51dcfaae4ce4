/** Parses JSON documents: the parameters of requests, and responses in an upstream's own wire format. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import { Unfit } from '../../core/translation.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  JsonTextError,
  JsonTooMuch,
  parseJsonSliced,
} from '../../lib/json/json-text.ts';
import { whatIsNoJson } from '../../lib/json/no-json.ts';
import type { ParsingMemory } from '../../plan/parsing-memory.ts';

/** Limits of a document, above any real request: fifty thousand inputs, or ten thousand documents of fifty fields. */
const readingLimits = { maxValues: 500_000, maxElements: 50_000 };

/** Parses the fields of a request and drops nulls. `why`: what the limits are for, in the message of the error. */
export async function readParameters(body: Buffer, memory: ParsingMemory, why: string): Promise<Record<string, Json>> {
  const parameters: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(await readRequest(body, memory, why))) {
    if (value !== undefined && value !== null) parameters[name] = value;
  }
  return parameters;
}

async function readRequest(body: Buffer, memory: ParsingMemory, why: string): Promise<JsonObject> {
  try {
    const read = await parseJsonSliced(body, readingLimits, memory.take);
    if (isJsonObject(read)) return read;
  } catch (error) {
    if (!(error instanceof JsonTooMuch)) throw error;
    throw new GatewayError('body_too_large', {
      message: `The body holds more than ${error.limit}, ${why}; send it in smaller requests.`,
    });
  }
  throw new TypeError('a question is an object');
}

/** Parses a response. Returns an `Unfit` with a message where it is no JSON. */
export async function toDocument(bytes: Buffer): Promise<Json | Unfit> {
  try {
    return await parseJsonSliced(bytes);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return new Unfit(whatIsNoJson(bytes, error.message));
  }
}
