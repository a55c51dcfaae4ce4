/** Reads embeddings requests and answers item by item: the items are inputs, the results one vector each, all of the same width. */

import { Buffer } from 'node:buffer';
import { Unfit } from '../../core/translation.ts';
import { areFinite, bytesPerFloat } from '../../lib/float-bytes.ts';
import type { JsonSpan } from '../../lib/json/json-elements.ts';
import { MINUS, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../lib/json/json-tokens.ts';
import type { JsonWalk } from '../../lib/json/json-walk.ts';
import { type Codec, holdsOnly, numberAt, type ReadAnswer, type Result, sourceOf, type TimeSliced } from './codec.ts';
import { readEnvelope } from './envelope.ts';

export const vectors: Codec = {
  idle: ['user'],

  takes(request) {
    const { list } = request;
    // With late chunking each vector depends on all texts of a request.
    if (sourceOf(request, 'late_chunking') === 'true') return undefined;
    if (list.kind === 'string' || holdsOnly(list, 'number')) return 'one';
    return holdsOnly(list, 'string', 'array', 'object') ? 'each' : undefined;
  },

  *read(bytes, { items: wanted, floats }): TimeSliced<ReadAnswer> {
    const found = new Array<Result | undefined>(wanted).fill(undefined);
    let first: number | undefined;
    const envelope = yield* readEnvelope(bytes, {
      lists: ['data'],
      element(walk, position) {
        const { index = position, ...result } = readVector(walk, position, floats);
        if (!Number.isInteger(index) || index < 0 || index >= wanted) {
          throw new Unfit(`a vector is of input ${index}, and there are ${wanted}`);
        }
        if (found[index] !== undefined) throw new Unfit(`input ${index} has two vectors`);
        first ??= result.width;
        if (result.width !== undefined && result.width !== first)
          throw new Unfit(`vectors of ${first} and of ${result.width} numbers`);
        found[index] = { ...result, index: result.indexAt };
      },
    });
    const results = found.flatMap((result, item) => (result === undefined ? [] : [{ item, result }]));
    if (results.length < wanted) throw new Unfit(`${results.length} vectors for ${wanted} inputs`);
    return { envelope, results };
  },
};

function readVector(walk: JsonWalk, position: number, floats: boolean) {
  const start = walk.at;
  let index: number | undefined;
  let indexAt: JsonSpan | undefined;
  let width: number | undefined;
  let isThere = false;
  walk.object((name) => {
    if (name === 'index') {
      if (indexAt !== undefined) throw new Unfit(`result ${position} has two numbers`);
      walk.peek();
      indexAt = walk.value();
      index = numberAt(walk.bytes, indexAt);
    } else if (name === 'embedding') {
      if (isThere) throw new Unfit(`vector ${position} stands twice`);
      isThere = true;
      width = readNumbers(walk, position, floats);
    } else walk.value();
  });
  if (!isThere) throw new Unfit(`result ${position} has no vector`);
  const bytes = walk.bytes.subarray(start, walk.at);
  return {
    bytes,
    index,
    indexAt: indexAt && { start: indexAt.start - start, end: indexAt.end - start },
    width,
  };
}

/** Reads a vector and returns its width; undefined where only the client knows which kind of numbers it has. */
function readNumbers(walk: JsonWalk, position: number, floats: boolean): number | undefined {
  switch (walk.peek()) {
    case QUOTE: {
      const span = walk.text();
      const text = walk.textOf(span);
      if (text === '') throw new Unfit(`vector ${position} is empty`);
      return floats ? floatsIn(text, position) : text.length;
    }
    case OPEN_BRACKET: {
      const numbers = walk.numbers();
      if (numbers !== undefined) {
        checkFinite(walk.bytes.subarray(numbers.start, numbers.end), position);
        return numbers.length;
      }
      return readLists(walk, position);
    }
    case OPEN_BRACE:
      walk.value();
      return undefined;
    default:
      throw new Unfit(`vector ${position} is no list of numbers`);
  }
}

const exponents = [Buffer.from('e'), Buffer.from('E')];

/** Throws where a number is infinite as a double; only numbers with a positive exponent, or hundreds of digits, can be. */
function checkFinite(numbers: Buffer, position: number): void {
  for (const letter of exponents) {
    for (let at = numbers.indexOf(letter); at !== -1; at = numbers.indexOf(letter, at + 1)) {
      if (numbers[at + 1] === MINUS) continue;
      const values: unknown[] = JSON.parse(numbers.toString('latin1'));
      if (values.every((value) => Number.isFinite(value))) return;
      throw new Unfit(`vector ${position} has something that is no number`);
    }
  }
}

/** Checks a result that is a list of vectors, as some models make one for each token. */
function readLists(walk: JsonWalk, position: number): undefined {
  let count = 0;
  walk.list(() => {
    if (walk.numbers() === undefined) throw new Unfit(`vector ${position} is no list of numbers`);
    count += 1;
  });
  if (count === 0) throw new Unfit(`vector ${position} is empty`);
  return undefined;
}

function floatsIn(text: string, position: number): number {
  const bytes = Buffer.from(text, 'base64');
  const width = bytes.length / bytesPerFloat;
  if (width === 0 || !Number.isInteger(width)) throw new Unfit(`vector ${position} is no base64 of 32-bit floats`);
  if (!areFinite(bytes)) throw new Unfit(`vector ${position} has something that is no number`);
  return width;
}
