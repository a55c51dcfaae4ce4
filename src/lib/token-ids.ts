/** Text from lists of token IDs. The vocabularies are large, and loaded when the first one is asked for. */

import { Buffer } from 'node:buffer';
import type { TiktokenBPE } from 'js-tiktoken/lite';
import { inTurns } from './turns.ts';

const loaders = {
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  p50k_base: () => import('js-tiktoken/ranks/p50k_base'),
  r50k_base: () => import('js-tiktoken/ranks/r50k_base'),
} as const satisfies Record<string, () => Promise<{ default: TiktokenBPE }>>;

export type Vocabulary = keyof typeof loaders;

/** What clients use who split text by OpenAI's rules: for names that these do not know, too. */
const commonVocabulary: Vocabulary = 'cl100k_base';

/** Which vocabulary a client takes for a model: by OpenAI's own rules, the first that fits. */
const byName: readonly (readonly [name: RegExp, vocabulary: Vocabulary])[] = [
  [/^(?:o[134]|chatgpt-4o|(?:ft:)?gpt-(?:4o|4\.[15]|5|oss))(?=$|[-:])/, 'o200k_base'],
  [/^(?:text-davinci-(?:00[23]|edit-001)|code-(?:davinci|cushman)-\S*|(?:davinci|cushman)-codex)$/, 'p50k_base'],
  [
    /^(?:text-embedding-(?:ada-002|3-(?:small|large))|(?:ft:)?gpt-(?:3\.?5-turbo|4)|(?:babbage|davinci)-002)(?=$|[-:])/,
    'cl100k_base',
  ],
  [/^(?:gpt-?2|ada|babbage|curie|davinci|text-(?:ada|babbage|curie|davinci)-001)$/, 'r50k_base'],
  [/^(?:text-similarity|text-search|code-search)-(?:ada|babbage|curie|davinci)-\S*$/, 'r50k_base'],
];

/** The bytes of each ID, in base64; an ID that stands for nothing has none. */
type Pieces = readonly (string | undefined)[];

const loaded = new Map<Vocabulary, Promise<Pieces>>();

/** Decoding takes its time, and a token may be a hundred bytes long: of one request no more than this. OpenAI takes no more, either. */
export const mostTokenIds = 300_000;

/** Undefined where one of them is no ID of the vocabulary. A character that is cut at either end becomes U+FFFD. */
export async function textOfTokens(vocabulary: Vocabulary, ids: readonly number[]): Promise<string | undefined> {
  return await inTurns(decode(await piecesOf(vocabulary), ids));
}

/** Between two places to stop. */
const idsPerPiece = 2_048;

function* decode(pieces: Pieces, ids: readonly number[]): Generator<undefined, string | undefined, undefined> {
  const parts: Buffer[] = [];
  for (let from = 0; from < ids.length; from += idsPerPiece) {
    // A character for each byte.
    let bytes = '';
    for (const id of ids.slice(from, from + idsPerPiece)) {
      const piece = pieces[id];
      if (piece === undefined) return undefined;
      bytes += atob(piece);
    }
    parts.push(Buffer.from(bytes, 'latin1'));
    yield;
  }
  return Buffer.concat(parts).toString('utf8');
}

/** What text is split by, into tokens. */
export interface Encoding {
  readonly pieces: Pieces;
  /** Matches one word after the other: no token lies over two of them. */
  readonly words: string;
}

export async function encodingOf(vocabulary: Vocabulary): Promise<Encoding> {
  const pieces = await piecesOf(vocabulary);
  const { default: ranks } = await loaders[vocabulary]();
  return { pieces, words: ranks.pat_str };
}

/** The one that goes with the name of a model. */
export function vocabularyOf(model: string): Vocabulary {
  return vocabularyKnownFor(model) ?? commonVocabulary;
}

/** Undefined where the name is none of OpenAI's. */
export function vocabularyKnownFor(model: string): Vocabulary | undefined {
  return byName.find(([name]) => name.test(model))?.[1];
}

function piecesOf(vocabulary: Vocabulary): Promise<Pieces> {
  const known = loaded.get(vocabulary);
  if (known !== undefined) return known;
  const pieces = loaders[vocabulary]().then(({ default: ranks }) => inTurns(toPieces(ranks)));
  loaded.set(vocabulary, pieces);
  // What could not be loaded may be there the next time.
  pieces.catch(() => loaded.delete(vocabulary));
  return pieces;
}

/** A line is a mark, the ID of its first piece, and the pieces from there on. */
function* toPieces({
  bpe_ranks: lines,
  special_tokens: special,
}: TiktokenBPE): Generator<undefined, Pieces, undefined> {
  const pieces: (string | undefined)[] = [];
  for (const line of lines.split('\n')) {
    let at = line.indexOf(' ') + 1;
    let next = wordEnd(line, at);
    let id = Number(line.slice(at, next));
    while (next < line.length) {
      at = next + 1;
      next = wordEnd(line, at);
      pieces[id] = line.slice(at, next);
      id += 1;
      if (id % idsPerPiece === 0) yield;
    }
  }
  for (const [text, id] of Object.entries(special)) pieces[id] = btoa(text);
  return pieces;
}

function wordEnd(line: string, start: number): number {
  const end = line.indexOf(' ', start);
  return end === -1 ? line.length : end;
}

/** A rough count where nobody gave one: four bytes to a token, one at least. */
export function estimateTokens(text: string): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(text) / 4));
}
