/** Counts the generated text in a response while it is relayed, plain or streamed, without parsing the rest. */

import { Buffer } from 'node:buffer';
import type { Pictures, Written } from '../../core/accounting/usage.ts';
import { EventStream } from '../../lib/event-stream.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { endOfText } from '../../lib/json/json-elements.ts';
import { COLON, QUOTE, SPACE } from '../../lib/json/json-tokens.ts';

const sampleBytes = 4 * 1024;
const mostKeptBytes = 64 * 1024;

/** An error as the first event of a stream, as OpenAI and Anthropic write it. */
const errorEvent = /^\s*(?:event:\s*error\s+)?data:\s*\{\s*"(?:error"\s*:\s*\{|type"\s*:\s*"error")/;

export interface TextReader {
  push(chunk: Buffer): void;
  written(): Written;
  pictures?(): Pictures | undefined;
}

/** Creates a reader. `names`: of the strings with text. `isMany`: the events of a stream may belong to several choices. */
export function createTextReader(isStream: boolean, isMany: boolean, names: readonly string[]): TextReader {
  return isStream && isMany ? new EventChoices(names) : new PlainTexts(isStream, names);
}

/** Reads texts of one choice at a time. It only keeps references to the beginning and reads it on demand, as upstreams count most answers. */
class PlainTexts implements TextReader {
  readonly #isStream: boolean;
  readonly #names: readonly string[];
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #allBytes = 0;

  constructor(isStream: boolean, names: readonly string[]) {
    this.#isStream = isStream;
    this.#names = names;
  }

  push(chunk: Buffer): void {
    this.#allBytes += chunk.length;
    if (this.#keptBytes >= mostKeptBytes) return;
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
  }

  /** The facts of the kept part, extrapolated to the whole answer. */
  written(): Written {
    const seen: Texts = { texts: 0, bytes: 0, sample: '' };
    const kept = Buffer.concat(this.#kept);
    for (const name of this.#names) readTexts(kept, Buffer.from(`"${name}"`), seen);
    const times = this.#keptBytes === 0 ? 1 : this.#allBytes / this.#keptBytes;
    return {
      texts: Math.round(seen.texts * times),
      bytes: Math.round(seen.bytes * times),
      sample: seen.sample,
      choices: this.#isStream ? Math.min(seen.texts, 1) : seen.texts,
      isError: this.#isStream && seen.texts === 0 && errorEvent.test(kept.toString('latin1', 0, sampleBytes)),
    };
  }
}

interface Texts {
  texts: number;
  bytes: number;
  sample: string;
}

function readTexts(json: Buffer, key: Buffer, found: Texts): void {
  for (let at = json.indexOf(key); at !== -1; at = json.indexOf(key, at)) {
    at += key.length;
    while (at < json.length && ((json[at] ?? 0) <= SPACE || json[at] === COLON)) at += 1;
    if (json[at] !== QUOTE) continue;
    const start = at + 1;
    at = endOfText(json, start);
    if (at === start) continue;
    found.texts += 1;
    found.bytes += at - start;
    const missing = sampleBytes - found.sample.length;
    if (missing > 0) found.sample += json.toString('latin1', start, Math.min(at, start + missing));
  }
}

/** Reads each event whole, for streams in which the events of several choices alternate. */
class EventChoices implements TextReader {
  readonly #names: readonly string[];
  readonly #events = new EventStream();
  readonly #choices = new Set<unknown>();
  #texts = 0;
  #bytes = 0;
  #sample = '';
  #isBroken = false;
  #hasError = false;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  push(chunk: Buffer): void {
    if (this.#isBroken) return;
    try {
      for (const { data } of this.#events.push(chunk)) this.#read(data);
    } catch {
      this.#isBroken = true; // no events: what was read of them counts
    }
  }

  written(): Written {
    const isError = this.#texts === 0 && this.#hasError;
    return { texts: this.#texts, bytes: this.#bytes, sample: this.#sample, choices: this.#choices.size, isError };
  }

  #read(data: string): void {
    if (!data.startsWith('{')) return;
    const { choices, error } = JSON.parse(data);
    this.#hasError ||= isMapping(error);
    if (!Array.isArray(choices)) return;
    for (const choice of choices) {
      const { index, delta } = choice ?? {};
      for (const name of this.#names) this.#readText(index, choice?.[name] ?? delta?.[name]);
    }
  }

  #readText(index: unknown, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.#choices.add(index);
    this.#texts += 1;
    const bytes = Buffer.from(JSON.stringify(text).slice(1, -1));
    this.#bytes += bytes.length;
    if (this.#sample.length < sampleBytes)
      this.#sample += bytes.toString('latin1', 0, sampleBytes - this.#sample.length);
  }
}
