/** Implements the local model `local/hash-embed`: unit vectors of hashed words, word pairs and letter sequences. Similar texts are near. */

import { dimensionNames } from '../../core/dimension-names.ts';
import { floatsToBytes } from '../../lib/float-bytes.ts';
import { isJsonList, type Json, JsonNumbers } from '../../lib/json/json-text.ts';
import { mostTokenIds, textOfTokens, vocabularyOf } from '../../lib/token-ids.ts';
import { formatSaid, type VectorFormat } from '../wire-formats/embeddings/vectors.ts';
import { eachWord, foldedStretches } from './cut-words.ts';
import { type Fields, Refusal, readInteger, readList, readTexts } from './fields.ts';
import { createTally, eachGram, hashPair, hashWord } from './hash.ts';
import { createMaker, listAnswer, type Pace } from './maker.ts';

const maxInputs = 2048;
const maxDimensions = 4096;
const defaultDimensions = 512;

/** Seeds of the hash for each kind of feature (words, pairs, letter sequences), so that different kinds do not collide. */
const wordSeed = 0x1;
const pairSeed = 0x2;
const gramSeed = 0x3;
const shortestGram = 3;
const longestGram = 5;

const wordWeight = 1;
const gramWeight = 0.35;
const pairWeight = 0.5;
/** Weights in scripts without spaces: a character weighs as much as a word, and so does a pair of adjacent ones. */
const singlePairWeight = 1;
/** Factor for the weight of function words: the commonest of English, and words of one or two letters. */
const glueFactor = 0.3;
const glue = new Set(
  (
    'the and for are was were but not you your all any can could will would had has have his her him she its our out they them ' +
    'their this that these those there then than with from into what when where which who why how does did just about'
  ).split(' '),
);

/** Rounds vectors to seven decimals: short in JSON, and precise enough that both encodings have the same 32-bit floats. */
const steps = 1e7;

const fieldNames = ['input', 'encoding_format', ...dimensionNames];

export const embedByHash = createMaker('local/hash-embed', fieldNames, async ({ fields, model, pace, id }) => {
  const texts = await readInput(fields, model);
  // Of several names, the first that is present counts.
  const [name = 'dimensions', ...others] = dimensionNames.filter((one) => (fields[one] ?? null) !== null);
  const dimensions = readInteger(fields, name, { min: 1, max: maxDimensions, absent: defaultDimensions });
  const format = readFormat(fields);
  const encode = format === 'base64' ? toBase64 : toJson;
  let tokens = 0;

  async function* items(): AsyncGenerator<string> {
    for (const [index, text] of texts.entries()) {
      const { vector, words } = await embed(text, dimensions, pace);
      tokens += words;
      yield `{"object":"embedding","index":${index},"embedding":${encode(vector)}}`;
    }
  }
  const usage = () => ({ usage: { prompt_tokens: tokens, total_tokens: tokens } });
  const ignored = format === 'none' ? [...others, 'encoding_format'] : others;
  return { ...(await listAnswer(pace, { id: id('embd-'), object: 'list', model }, 'data', items(), usage)), ignored };
});

async function readInput(fields: Fields, model: string): Promise<readonly string[]> {
  const { input } = fields;
  const wanted = 'a text or a list of texts';
  const items = input instanceof JsonNumbers ? [input] : input;
  if (!(isJsonList(items) && items.some(isTokens))) return readTexts(fields, 'input', wanted, maxInputs);
  checkTokenCount(items.filter(isTokens));
  const texts: Json[] = [];
  let characters = 0;
  for (const item of readList({ input: items }, 'input', wanted, maxInputs)) {
    if (!isTokens(item)) {
      texts.push(item);
      continue;
    }
    const text = await textOfIds(item, model);
    characters += text.length;
    checkDecodedLength(characters);
    texts.push(text);
  }
  return readTexts({ input: texts }, 'input', wanted, maxInputs);
}

const isTokens = (item: Json): item is JsonNumbers => item instanceof JsonNumbers;

function checkTokenCount(lists: readonly JsonNumbers[]): void {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  if (count <= mostTokenIds) return;
  const message = `"input" holds ${count} token IDs, and this model reads ${mostTokenIds} a request; split it, or send text.`;
  throw new Refusal('array_above_max_length', 'input', message);
}

/** Limit for decoded token IDs, as one token may decode to a hundred characters. */
const mostDecodedCharacters = 4 * 1024 * 1024;

function checkDecodedLength(characters: number): void {
  if (characters <= mostDecodedCharacters) return;
  const message = `The token IDs stand for more than ${mostDecodedCharacters} characters, too much for a built-in model; split them.`;
  throw new Refusal('body_too_large', 'input', message);
}

async function textOfIds(ids: JsonNumbers, model: string): Promise<string> {
  const vocabulary = vocabularyOf(model);
  const text = await textOfTokens(vocabulary, ids.values());
  if (text !== undefined) return text;
  const message = `"input" holds a number that is no token ID of ${vocabulary}; send text, or the IDs of that vocabulary.`;
  throw new Refusal('invalid_value', 'input', message);
}

function readFormat(fields: Fields): VectorFormat | 'none' {
  const format = formatSaid(fields.encoding_format ?? 'float');
  if (format !== undefined) return format;
  const message = '"encoding_format" must be "float" or "base64"; change it or leave it out.';
  throw new Refusal('invalid_value', 'encoding_format', message);
}

const toJson = (vector: Float64Array): string => `[${vector.join(',')}]`;

const toBase64 = (vector: Float64Array): string => `"${floatsToBytes(vector).toString('base64')}"`;

/** Sums the features of one text; shared by all calls, as it is empty whenever one of them yields to the event loop. */
const tally = createTally(32_768);

async function embed(text: string, dimensions: number, pace: Pace): Promise<{ vector: Float64Array; words: number }> {
  const vector = new Float64Array(dimensions);
  let words = 0;
  let previous: { hash: number; single: boolean; factor: number } | undefined;

  // Adds the square root of each sum of squares: a repeat counts less than the one before.
  const fold = () => tally.drain((key, squares) => addFeature(vector, key, Math.sqrt(squares)));
  const add = (key: number, weight: number) => {
    if (tally.add(key, weight * weight)) return;
    fold();
    tally.add(key, weight * weight);
  };

  for (const stretch of foldedStretches(text)) {
    eachWord(stretch, (word, single) => {
      words += 1;
      const hash = hashWord(word, wordSeed);
      const factor = !single && (word.length <= 2 || glue.has(word)) ? glueFactor : 1;
      add(hash, wordWeight * factor);
      if (previous !== undefined) {
        const weight = single && previous.single ? singlePairWeight : pairWeight;
        add(hashPair(previous.hash, hash, pairSeed), weight * Math.min(factor, previous.factor));
      }
      if (!single) {
        eachGram(word, shortestGram, longestGram, gramSeed, (gram) => add(gram, gramWeight * factor));
      }
      previous = { hash, single, factor };
    });
    fold();
    await pace.spend(stretch.length);
  }
  await pace.spend(dimensions);
  return { vector: toUnitLength(vector), words };
}

/** Adds a feature to a vector. Several features share one axis; random signs cancel on average. */
function addFeature(vector: Float64Array, key: number, weight: number): void {
  const axis = (key >>> 1) % vector.length;
  vector[axis] = (vector[axis] ?? 0) + (key & 1 ? weight : -weight);
}

function toUnitLength(vector: Float64Array): Float64Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) {
    // An empty text has no direction: the first axis.
    vector[0] = 1;
    return vector;
  }
  const scale = steps / Math.sqrt(sum);
  // Adding 0 turns -0 into 0, as JSON has no -0.
  return vector.map((value) => Math.round(value * scale) / steps + 0);
}
