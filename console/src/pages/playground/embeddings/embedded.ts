/** What an answer on embeddings holds: each text with its vector. */

import { type Answer, read, readList } from '../call.ts';
import { toShownText } from '../texts.ts';
import { decodeVector, type Vector } from './vectors.ts';

export interface Embedded {
  readonly model: string;
  readonly texts: readonly string[];
  readonly vectors: readonly Vector[];
  readonly width: number;
  /** As the gateway says; undefined where it does not. */
  readonly space: string | undefined;
  readonly encoding: 'float' | 'base64';
}

/** A sentence where the answer cannot be drawn; undefined where there is no answer to draw. */
export function toEmbedded(answer: Answer | undefined): Embedded | string | undefined {
  if (answer === undefined || answer.ending !== 'answered') return undefined;
  const { input } = answer.call.body;
  const texts = (Array.isArray(input) ? input : [input]).map(toShownText);
  const byIndex = new Map(readList(answer.json, 'data').map((item) => [read(item, 'index'), read(item, 'embedding')]));
  const vectors: Vector[] = [];
  for (const index of texts.keys()) {
    const vector = decodeVector(byIndex.get(index));
    if (vector === undefined) return `The answer holds no vector that can be read for text ${index + 1}.`;
    vectors.push(vector);
  }
  const width = vectors[0]?.length ?? 0;
  if (vectors.some(({ length }) => length !== width))
    return 'The vectors are of different widths: they cannot be compared.';
  return {
    model: answer.call.model,
    texts,
    vectors,
    width,
    space: answer.headers['x-postern-space'],
    encoding: typeof byIndex.get(0) === 'string' ? 'base64' : 'float',
  };
}

/** Why numbers of the two must not be mixed; undefined where they may be, as far as anybody knows. */
export function toMismatch(one: Embedded, other: Embedded): string | undefined {
  if (one.space !== undefined && other.space !== undefined && one.space !== other.space) {
    return `They place texts in different vector spaces, ${one.space} and ${other.space}.`;
  }
  if (one.width !== other.width) return `Their vectors have different widths, ${one.width} and ${other.width}.`;
  if (one.space === other.space && one.space !== undefined) return undefined;
  return one.model === other.model ? undefined : 'Nobody said that they share a vector space.';
}
