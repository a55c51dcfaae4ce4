/** Decodes lists of token IDs to text. Vocabularies are large, and loaded on first use. */

import { Buffer } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { type PackedPieces, type PieceTable, toPieceTable } from './piece-table.ts';
import { threadEnvironment } from './threads.ts';
import { timeSliced } from './time-slices.ts';
import type { Vocabulary } from './vocabulary-thread.ts';

export type { Vocabulary };

/** Vocabulary for unknown model names: most clients that tokenize by OpenAI's rules use it. */
const commonVocabulary: Vocabulary = 'cl100k_base';

/** Vocabularies by model name, after OpenAI's own rules; the first match counts. */
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

const entry = new URL(
  import.meta.url.endsWith('.ts') ? './vocabulary-thread.ts' : './vocabulary-thread.js',
  import.meta.url,
);

const loaded = new Map<Vocabulary, Promise<PieceTable>>();

/** Limit of token IDs in a request, which limits decoding time; a token may be a hundred bytes. OpenAI's limit is the same. */
export const mostTokenIds = 300_000;

/** The text of token IDs; undefined where one is not in the vocabulary. A character that is cut at either end becomes U+FFFD. */
export async function textOfTokens(vocabulary: Vocabulary, ids: readonly number[]): Promise<string | undefined> {
  return await timeSliced(decode(await tableOf(vocabulary), ids));
}

/** Token IDs that are decoded between two points where the work may pause. */
const idsPerPiece = 2_048;

function* decode({ pieceOf }: PieceTable, ids: readonly number[]): Generator<undefined, string | undefined, undefined> {
  const parts: Buffer[] = [];
  for (let from = 0; from < ids.length; from += idsPerPiece) {
    // One character for each byte.
    let bytes = '';
    for (const id of ids.slice(from, from + idsPerPiece)) {
      const piece = pieceOf(id);
      if (piece === undefined) return undefined;
      bytes += piece;
    }
    parts.push(Buffer.from(bytes, 'latin1'));
    yield;
  }
  return Buffer.concat(parts).toString('utf8');
}

export function vocabularyOf(model: string): Vocabulary {
  return vocabularyKnownFor(model) ?? commonVocabulary;
}

/** The vocabulary of a model; undefined for names that are not OpenAI's. */
export function vocabularyKnownFor(model: string): Vocabulary | undefined {
  return byName.find(([name]) => name.test(model))?.[1];
}

/** The vocabulary's table, loaded once, by a thread, as that takes half a second of work. */
export function tableOf(vocabulary: Vocabulary): Promise<PieceTable> {
  const known = loaded.get(vocabulary);
  if (known !== undefined) return known;
  const pieces = load(vocabulary).then(toPieceTable);
  loaded.set(vocabulary, pieces);
  // A failed load is retried the next time.
  pieces.catch(() => loaded.delete(vocabulary));
  return pieces;
}

function load(vocabulary: Vocabulary): Promise<PackedPieces> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(entry, { workerData: vocabulary, name: 'vocabulary', env: threadEnvironment() });
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread that reads a vocabulary ended without a word')));
  });
}

/** A rough estimate of a text's tokens: four bytes per token, at least one. */
export function estimateTokens(text: string): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(text) / 4));
}
