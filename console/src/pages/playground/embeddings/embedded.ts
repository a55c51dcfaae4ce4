/** Reads an embeddings response: each text's vector, and the similarity of two. */

import { type Answer, read, readList } from '../call.ts';
import { toShownText } from '../texts.ts';

export interface Embedded {
  readonly model: string;
  readonly texts: readonly string[];
  readonly vectors: readonly Vector[];
  readonly width: number;
  /** The vector space, from a header of the gateway; undefined without one. */
  readonly space: string | undefined;
  readonly encoding: 'float' | 'base64';
}

/** The vectors of an answer; an error text if it cannot be drawn, undefined if there is no answer. */
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

/** Why the vectors of two answers must not be compared; undefined if no reason is known. */
export function toMismatch(one: Embedded, other: Embedded): string | undefined {
  if (one.space !== undefined && other.space !== undefined && one.space !== other.space) {
    return `They place texts in different vector spaces, ${one.space} and ${other.space}.`;
  }
  if (one.width !== other.width) return `Their vectors have different widths, ${one.width} and ${other.width}.`;
  if (one.space === other.space && one.space !== undefined) return undefined;
  return one.model === other.model ? undefined : 'Nobody said that they share a vector space.';
}

export type Vector = Float64Array;

/** The vector from an array of numbers, or from base64 of little-endian 32-bit floats; undefined if it is neither. */
export function decodeVector(embedding: unknown): Vector | undefined {
  if (typeof embedding === 'string') return decodeBase64(embedding);
  if (!Array.isArray(embedding)) return undefined;
  return embedding.every((number) => typeof number === 'number') ? Float64Array.from(embedding) : undefined;
}

function decodeBase64(text: string): Vector | undefined {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // it is not base64: the caller says so
  }
  if (bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(index * 4, true));
}

/** The similarity of two vectors. 1: the same direction; 0: orthogonal; -1: opposite. NaN if a length is 0, or the dimensions differ. */
export function cosine(a: Vector, b: Vector): number {
  if (a.length !== b.length) return Number.NaN;
  let dot = 0;
  let sizeA = 0;
  let sizeB = 0;
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    sizeA += x * x;
    sizeB += y * y;
  }
  const size = Math.sqrt(sizeA * sizeB);
  return size === 0 ? Number.NaN : Math.max(-1, Math.min(1, dot / size));
}

/** Compares all texts, row by row, each after `pause`, so that the page stays responsive with many long vectors. */
export async function compareAll(
  vectors: readonly Vector[],
  pause: () => Promise<void>,
  signal?: AbortSignal,
): Promise<number[][]> {
  const rows: number[][] = [];
  for (const [i, one] of vectors.entries()) {
    await pause();
    signal?.throwIfAborted();
    // Values below the diagonal were computed above it.
    rows.push(vectors.map((other, j) => (j < i ? (rows[j]?.[i] ?? Number.NaN) : cosine(one, other))));
  }
  return rows;
}
