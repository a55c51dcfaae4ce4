/** A thread that reads one token vocabulary and ends: parsing and indexing it take longer than requests may wait. */

import { parentPort, workerData } from 'node:worker_threads';
import type { TiktokenBPE } from 'js-tiktoken/lite';
import { packPieces } from './piece-table.ts';

const loaders = {
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  p50k_base: () => import('js-tiktoken/ranks/p50k_base'),
  r50k_base: () => import('js-tiktoken/ranks/r50k_base'),
} as const satisfies Record<string, () => Promise<{ default: TiktokenBPE }>>;

export type Vocabulary = keyof typeof loaders;

const vocabulary: Vocabulary = workerData;
const packed = packPieces((await loaders[vocabulary]()).default);
parentPort?.postMessage(packed, [packed.bytes.buffer, packed.ends.buffer, packed.buckets.buffer]);
