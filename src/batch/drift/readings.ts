/** Reads vectors, scores and verdicts from responses, and measures how far two models agree on them; undefined where that is impossible. */

import { Buffer } from 'node:buffer';
import type { AskForOurselves } from '../../core/drift.ts';
import type { Log } from '../../core/log.ts';
import type { SettingStore } from '../../core/store/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { floatsIn } from '../../lib/float-bytes.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { cosine } from '../../lib/unit-length.ts';

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
  const read = readJson(bytes.toString());
  const list = isMapping(read) ? read[name] : read;
  return Array.isArray(list) ? list : undefined;
}

function byIndex<T>(
  list: readonly unknown[] | undefined,
  read: (one: Record<string, unknown>) => T | undefined,
): T[] | undefined {
  if (list === undefined) return undefined;
  const found: T[] = [];
  for (const [position, one] of list.entries()) {
    if (!isMapping(one)) return undefined;
    const { index = position } = one;
    const value = read(one);
    if (value === undefined || typeof index !== 'number') return undefined;
    found[index] = value;
  }
  return found;
}

function toVector(value: unknown): number[] | undefined {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'number') ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const { length: bytes } = Buffer.from(value, 'base64');
  return bytes === 0 || bytes % 4 !== 0 ? undefined : floatsIn(value);
}

export interface DriftDeps {
  readonly ask: AskForOurselves;
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface Pair {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** The share of an item's nearest neighbours that both models agree on; undefined where there are too few. */
export function neighbourOverlap(item: Pair, others: readonly Pair[], count: number): number | undefined {
  if (others.length < 2 * count) return undefined;
  const before = nearest(others, count, (other) => cosine(item.before, other.before));
  const after = nearest(others, count, (other) => cosine(item.after, other.after));
  return [...before].filter((one) => after.has(one)).length / count;
}

function nearest(others: readonly Pair[], count: number, nearness: (other: Pair) => number): Set<Pair> {
  const ranked = others.map((other) => ({ other, near: nearness(other) })).toSorted((a, b) => b.near - a.near);
  return new Set(ranked.slice(0, count).map(({ other }) => other));
}

/** Kendall's tau: concordant minus discordant pairs, as a share of all pairs; undefined where either list has no order. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number | undefined {
  let same = 0;
  let pairs = 0;
  for (let i = 0; i < a.length; i += 1) {
    for (let j = i + 1; j < a.length; j += 1) {
      const order = Math.sign((a[i] ?? 0) - (a[j] ?? 0)) * Math.sign((b[i] ?? 0) - (b[j] ?? 0));
      if (order === 0) continue;
      pairs += 1;
      same += order;
    }
  }
  return pairs === 0 ? undefined : same / pairs;
}
