/** Implements the local model `local/bm25`: ranks documents by BM25 over words shared with the query; common letters break ties. */

import { type Json, writeJsonSliced } from '../../lib/json/json-text.ts';
import { eachWord, foldedStretches } from './cut-words.ts';
import { readFlag, readInteger, readList, readRequired, readText, readTexts } from './fields.ts';
import { createTally, eachGram, hashWord, type Tally } from './hash.ts';
import { createMaker, listAnswer, type Pace } from './maker.ts';

const maxDocuments = 10_000;

/** BM25's parameters: saturation of repeated words (k1) and weight of the length (b), with the customary values. */
const k1 = 1.2;
const b = 0.75;

/** Weight of letter similarity in a score, divided by the number of query terms: a small part of one word's weight. */
const likenessShare = 0.01;
const gramLength = 3;
const gramSeed = 0x4;
/** Number of distinct trigrams after which letter similarity ignores the rest of a text. */
const maxGrams = 8_192;

/** Number of distinct words in a query after which further ones are ignored. */
const maxQueryTerms = 512;

/** Scores are rounded to seven decimals. */
const scoreSteps = 1e7;

const fieldNames = ['query', 'documents', 'top_n', 'return_documents'];

export const rerankByBm25 = createMaker('local/bm25', fieldNames, async ({ fields, model, pace, id }) => {
  const query = readText(readRequired(fields, 'query', 'the text to search for'), 'query');
  const documents = readList(fields, 'documents', 'a list of texts', maxDocuments);
  const texts = readTexts(fields, 'documents', 'a list of texts', maxDocuments);
  const returned = readFlag(fields, 'return_documents', { mayBeText: true }) ? documents : undefined;
  const topN = readInteger(fields, 'top_n', { min: 1, absent: maxDocuments });

  const asked = await readQuery(query, pace);
  const grams = createTally(maxGrams);
  const found: Found[] = [];
  for (const text of texts) found.push(await readDocument(text, asked, grams, pace));
  const ranked = (await rank(asked, found, pace)).slice(0, topN);
  const tokens = found.reduce((sum, { words }) => sum + words, asked.words);

  async function* items(): AsyncGenerator<string> {
    for (const { index, score } of ranked) {
      const head = `{"index":${index},"relevance_score":${score}`;
      yield returned === undefined ? `${head}}` : `${head},"document":${await toDocument(returned[index] ?? null)}}`;
    }
  }
  return listAnswer(pace, { id: id('rerank-'), object: 'list', model }, 'results', items(), () => ({
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }));
});

async function toDocument(document: Json): Promise<string> {
  return (await writeJsonSliced(typeof document === 'string' ? { text: document } : document)).toString();
}

interface Query {
  readonly words: number;
  readonly terms: ReadonlyMap<string, number>;
  readonly having: Uint32Array;
  readonly grams: Tally;
}

interface Found {
  readonly counts: Uint32Array;
  readonly length: number;
  readonly words: number;
  readonly likeness: number;
}

async function readQuery(text: string, pace: Pace): Promise<Query> {
  const terms = new Map<string, number>();
  const grams = createTally(maxGrams);
  const words = await readTerms(text, grams, pace, (term) => {
    if (!terms.has(term) && terms.size < maxQueryTerms) terms.set(term, terms.size);
  });
  return { words, terms, having: new Uint32Array(terms.size), grams };
}

async function readDocument(text: string, query: Query, grams: Tally, pace: Pace): Promise<Found> {
  const counts = new Uint32Array(query.terms.size);
  let length = 0;
  const words = await readTerms(text, grams, pace, (term) => {
    length += 1;
    const index = query.terms.get(term);
    if (index === undefined) return;
    const count = counts[index] ?? 0;
    if (count === 0) query.having[index] = (query.having[index] ?? 0) + 1;
    counts[index] = count + 1;
  });
  // Cosine of the two sets of trigrams.
  const different = Math.sqrt(grams.size * query.grams.size);
  let shared = 0;
  grams.drain((gram) => {
    if (query.grams.has(gram)) shared += 1;
  });
  return { counts, length, words, likeness: different === 0 ? 0 : shared / different };
}

/** Visits each word of a text, and each pair of adjacent single-character words; returns the number of words. */
async function readTerms(text: string, grams: Tally, pace: Pace, visit: (term: string) => void): Promise<number> {
  let words = 0;
  for (const stretch of foldedStretches(text)) {
    let previous: string | undefined;
    eachWord(stretch, (word, single) => {
      words += 1;
      visit(word);
      if (!single) eachGram(word, gramLength, gramLength, gramSeed, (gram) => grams.add(gram));
      else {
        grams.add(hashWord(word, gramSeed));
        if (previous !== undefined) {
          grams.add(hashWord(previous + word, gramSeed));
          visit(previous + word);
        }
      }
      previous = single ? word : undefined;
    });
    await pace.spend(stretch.length);
  }
  return words;
}

interface Ranked {
  readonly index: number;
  readonly score: number;
}

async function rank({ having }: Query, found: readonly Found[], pace: Pace): Promise<Ranked[]> {
  const averageLength = found.reduce((sum, { length }) => sum + length, 0) / found.length;
  const weights = Array.from(having, (count) => rarity(count, found.length));
  // Upper bound of every score: infinite repeats of every query word.
  const most = weights.reduce((sum, weight) => sum + weight * (k1 + 1), 0);
  const ranked: Ranked[] = [];
  for (const [index, document] of found.entries()) {
    ranked.push({ index, score: score(document, weights, averageLength, most) });
    await pace.spend(weights.length);
  }
  return ranked.sort((first, second) => second.score - first.score || first.index - second.index);
}

const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5));

/** The document's score in [0, 1): its share of the largest BM25 possible for the query, plus a trace of letter similarity. */
function score(document: Found, weights: readonly number[], averageLength: number, most: number): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index += 1) {
    const count = document.counts[index] ?? 0;
    if (count === 0) continue;
    const damping = k1 * (1 - b + (b * document.length) / averageLength);
    sum += ((weights[index] ?? 0) * count * (k1 + 1)) / (count + damping);
  }
  const trace = likenessShare / Math.max(1, weights.length);
  const whole = (1 - trace) * (most === 0 ? 0 : sum / most) + trace * document.likeness;
  return Math.min(Math.round(whole * scoreSteps), scoreSteps - 1) / scoreSteps;
}
