/** Reads what is compared out of answers: vectors, scores, verdicts. Whatever is none of these is undefined. */

import { Buffer } from 'node:buffer';
import { isMapping } from '../../lib/is-mapping.ts';

/** By the number of each item. */
export function vectorsIn(bytes: Buffer): number[][] | undefined {
  return byIndex(listIn(bytes, 'data'), ({ embedding }) => toVector(embedding));
}

export function scoresIn(bytes: Buffer): number[] | undefined {
  return byIndex(
    listIn(bytes, 'results') ?? listIn(bytes, 'data'),
    ({ relevance_score: relevance, score = relevance }) => (typeof score === 'number' ? score : undefined),
  );
}

export function verdictsIn(bytes: Buffer): boolean[] | undefined {
  const list = listIn(bytes, 'results');
  return list?.map((one) => isMapping(one) && one.flagged === true);
}

function listIn(bytes: Buffer, name: string): unknown[] | undefined {
  let read: unknown;
  try {
    read = JSON.parse(bytes.toString());
  } catch {
    return undefined; // no answer that could be compared
  }
  const list = isMapping(read) ? read[name] : read;
  return Array.isArray(list) ? list : undefined;
}

function byIndex<T>(
  list: readonly unknown[] | undefined,
  read: (one: Record<string, unknown>) => T | undefined,
): T[] | undefined {
  if (list === undefined) return undefined;
  const found: T[] = [];
  for (const [place, one] of list.entries()) {
    if (!isMapping(one)) return undefined;
    const { index = place } = one;
    const value = read(one);
    if (value === undefined || typeof index !== 'number') return undefined;
    found[index] = value;
  }
  return found;
}

function toVector(value: unknown): number[] | undefined {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'number') ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}
