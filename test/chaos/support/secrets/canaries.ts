/** Canary texts that must not appear outside their location, and the search for them in any encoding. */

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** A location that was searched. */
export interface Trace {
  readonly location: string;
  readonly bytes: Buffer;
}

interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

const shownBytes = 60;

/** Texts that all hold one mark, so that one search finds any of them, and others that are searched for one by one. */
export class Canaries {
  readonly mark: string;
  readonly #needles: Needle[] = [];
  readonly #isDigested: boolean;
  readonly #breath = new Breath();
  #count = 0;

  /** `mark`: letters and digits only, and long enough to stand nowhere by chance. `isDigested`: digests of the texts are searched for too. */
  constructor(mark: string, { isDigested = true }: { readonly isDigested?: boolean } = {}) {
    this.mark = mark;
    this.#isDigested = isDigested;
    this.#needles.push(...disguisesOf(mark, 'marked text'));
  }

  get count(): number {
    return this.#count;
  }

  /** A text with the mark in it; whatever is made of it as a whole is searched for as well. */
  make(name: string, more = '', { digests = this.#isDigested } = {}): string {
    const text = `${name}-${this.mark}${more}`;
    this.#count += 1;
    if (digests) this.#needles.push(...digestsOf(text, name));
    return text;
  }

  /** A text that holds no mark; what stands in the open of it by design is left out of `part`. */
  add(name: string, text: string, { part = text, digests = true } = {}): string {
    this.#count += 1;
    this.#needles.push(...disguisesOf(part, name));
    if (digests) this.#needles.push(...digestsOf(text, name));
    return text;
  }

  /** Each hit in a line: which text, in which disguise, where. Others go on meanwhile. */
  async find(traces: readonly Trace[]): Promise<string[]> {
    const found: string[] = [];
    for (const { location, bytes } of traces) {
      for (const { name, bytes: wanted } of this.#needles) {
        await this.#breath.take();
        const at = bytes.indexOf(wanted);
        if (at >= 0) found.push(`${name} in ${location}: ${excerpt(bytes, at, wanted.length)}`);
      }
    }
    return found;
  }
}

const longestTurnMs = 20;

/** Yields to other work on the event loop now and then. */
export class Breath {
  #sinceMs = performance.now();

  take(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < longestTurnMs) return undefined;
    return setImmediate().then(() => {
      this.#sinceMs = performance.now();
    });
  }
}

function excerpt(bytes: Buffer, at: number, length: number): string {
  const around = bytes.subarray(Math.max(0, at - shownBytes), at + length + shownBytes).toString('latin1');
  return JSON.stringify(around.replace(/[^\x20-\x7e]+/g, '·'));
}

/** The text as other programs would write it. */
function disguisesOf(text: string, name: string): Needle[] {
  const bytes = Buffer.from(text);
  const each = (write: (byte: number) => string): string => Array.from(bytes, write).join('');
  const hex = bytes.toString('hex');
  const forms: Readonly<Record<string, Buffer | string>> = {
    plain: text,
    'in small letters': text.toLowerCase(),
    'in capitals': text.toUpperCase(),
    reversed: [...text].reverse().join(''),
    'in hex': hex,
    'in capital hex': hex.toUpperCase(),
    'percent-encoded': each((byte) => `%${toHex(byte, 2).toUpperCase()}`),
    'percent-encoded in small letters': each((byte) => `%${toHex(byte, 2)}`),
    'URL-encoded': encodeURIComponent(text),
    'in JSON': JSON.stringify(text).slice(1, -1),
    'in JSON escapes': each((byte) => `\\u${toHex(byte, 4)}`),
    'in JSON escapes, twice': each((byte) => `\\\\u${toHex(byte, 4)}`),
    'in HTML entities': each((byte) => `&#${byte};`),
    'as a list of bytes': Array.from(bytes).join(','),
    'in UTF-16': Buffer.from(text, 'utf16le'),
    'in base64': base64Of(bytes, 0),
    'in base64, a byte further': base64Of(bytes, 1),
    'in base64, two bytes further': base64Of(bytes, 2),
    'in base64url': toUrlAlphabet(base64Of(bytes, 0)),
    'in base64url, a byte further': toUrlAlphabet(base64Of(bytes, 1)),
    'in base64url, two bytes further': toUrlAlphabet(base64Of(bytes, 2)),
  };
  const known = new Set<string>();
  return Object.entries(forms).flatMap(([form, written]) => {
    const needle = Buffer.from(written);
    const shown = needle.toString('latin1');
    if (known.has(shown)) return [];
    known.add(shown);
    return [{ name: `${name} ${form}`, bytes: needle }];
  });
}

/** Digests of the text, which would let a thief check a guess. */
function digestsOf(text: string, name: string): Needle[] {
  return ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(text).digest();
    // Of a digest the first half is known by as well.
    const half = digest.subarray(0, Math.ceil(digest.length / 2));
    return [
      { name: `${name} as ${algorithm}`, bytes: half },
      { name: `${name} as ${algorithm} in hex`, bytes: Buffer.from(half.toString('hex')) },
      { name: `${name} as ${algorithm} in base64`, bytes: Buffer.from(digest.toString('base64').slice(0, 20)) },
      { name: `${name} as ${algorithm} in base64url`, bytes: Buffer.from(digest.toString('base64url').slice(0, 20)) },
    ];
  });
}

/** The characters that do not depend on what is before and after it. */
function base64Of(bytes: Buffer, offset: 0 | 1 | 2): string {
  const written = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const first = Math.ceil((offset * 8) / 6);
  return written.slice(first, Math.floor(((offset + bytes.length) * 8) / 6));
}

const toUrlAlphabet = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

const toHex = (byte: number, digits: number): string => byte.toString(16).padStart(digits, '0');
