/** Operations of an upstream without list limits: in digits that no number keeps, formatted as in Python. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Operation } from '../../../src/core/operations/index.ts';

export interface Kind {
  readonly operation: Operation;
  /** The field that has the items. */
  readonly field: string;
  bodyFor(items: readonly unknown[], top: number | undefined): Buffer;
  /** What one call for all of it gives. */
  answer(body: Buffer): Buffer;
}

interface Question {
  readonly input?: unknown;
  readonly documents?: readonly string[];
  readonly query?: string;
  readonly top_n?: number;
}

const questionIn = (body: Buffer): Question => JSON.parse(body.toString());

/** Of one item always the same. */
const digitsOf = (item: unknown): string =>
  BigInt(`0x${hash('sha256', JSON.stringify(item), 'hex').slice(0, 16)}`).toString();

/** What an upstream counts that counts as lengths go. */
const countOf = (item: unknown): number =>
  Array.isArray(item) ? item.length : Math.max(1, Buffer.byteLength(JSON.stringify(item)) - 2);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const itemsOf = ({ input }: Question): readonly unknown[] =>
  Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];

export const embedding: Kind = {
  operation: 'embeddings',
  field: 'input',
  bodyFor: (items) => Buffer.from(`{ "input" : ${JSON.stringify(items)} , "user":"u", "model":"m"}`),
  answer(body) {
    const items = itemsOf(questionIn(body));
    const data = items.map(
      (item, index) =>
        `{"object": "embedding", "index": ${index}, "embedding": [0.${digitsOf(item)}, -1e-3, ${digitsOf(item)}]}`,
    );
    const tokens = sum(items.map(countOf));
    return Buffer.from(
      `{"object": "list", "data": [${data.join(', ')}], "model": "m", "usage": {"prompt_tokens": ${tokens}, "total_tokens": ${tokens}}}`,
    );
  },
};

/** The same in base64 of 32-bit floats. */
export const packed: Kind = {
  operation: 'embeddings',
  field: 'input',
  bodyFor: (items) => Buffer.from(`{"encoding_format":"base64","model":"m","input":${JSON.stringify(items)}}`),
  answer(body) {
    const items = itemsOf(questionIn(body));
    const data = items.map((item, index) => {
      const floats = new Float32Array([Number(`0.${digitsOf(item)}`), -1, 0.5]);
      return `{"object": "embedding", "embedding": "${Buffer.from(floats.buffer).toString('base64')}", "index": ${index}}`;
    });
    const tokens = sum(items.map(countOf));
    return Buffer.from(
      `{"data": [${data.join(', ')}], "usage": {"prompt_tokens": ${tokens}, "total_tokens": ${tokens}}}`,
    );
  },
};

export const moderation: Kind = {
  operation: 'moderations',
  field: 'input',
  bodyFor: (items) => Buffer.from(JSON.stringify({ model: 'm', input: items.map(String) })),
  answer(body) {
    const results = itemsOf(questionIn(body)).map(
      (item) => `{"flagged": ${digitsOf(item).endsWith('1')}, "category_scores": {"hate": 0.${digitsOf(item)}}}`,
    );
    return Buffer.from(`{"id": "modr", "model": "m", "results": [${results.join(', ')}]}`);
  },
};

const query = 'which "one"?';

export const reranking: Kind = {
  operation: 'rerank',
  field: 'documents',
  bodyFor: (items, top) => Buffer.from(JSON.stringify({ model: 'm', top_n: top, documents: items.map(String), query })),
  answer(body) {
    const { documents = [], top_n: top } = questionIn(body);
    // Scores are often equal.
    const scored = documents.map((document, index) => ({ index, score: `0.${digitsOf(document).slice(-1)}0` }));
    const results = scored
      .toSorted((a, b) => Number(b.score) - Number(a.score) || a.index - b.index)
      .slice(0, top)
      .map(({ index, score }) => `{"index": ${index}, "relevance_score": ${score}}`);
    const tokens = sum(documents.map((document) => countOf(document) + JSON.stringify(query).length));
    return Buffer.from(`{"results": [${results.join(', ')}], "usage": {"total_tokens": ${tokens}}}`);
  },
};
