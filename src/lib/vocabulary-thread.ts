/** Loads one token vocabulary in a thread of its own and ends, because parsing it would block requests. */

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { packPieces } from './piece-table.ts';

export type Vocabulary = 'cl100k_base' | 'o200k_base' | 'p50k_base' | 'r50k_base';

const vocabulary: Vocabulary = workerData;
// Written by tools/vocabularies.ts.
const file = readFileSync(new URL(`./vocabularies/${vocabulary}.json.br`, import.meta.url));
const packed = packPieces(JSON.parse(brotliDecompressSync(file).toString()));
parentPort?.postMessage(packed, [packed.bytes.buffer, packed.ends.buffer, packed.buckets.buffer]);
