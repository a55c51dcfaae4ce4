/** Reads which parts of the source files a run covered (`NODE_V8_COVERAGE`), as spans of offsets. */

import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Begin and end of each covered part, alternating and ascending. */
export type Spans = readonly number[];

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] }[];
}

/** The covered parts by source file, over all processes and threads that wrote into the directory. */
export function readCoverage(directory: string): Map<string, Spans> {
  const covered = new Map<string, Uint8Array>();
  for (const path of globSync(`${directory}/*.json`)) {
    const { result } = JSON.parse(readFileSync(path, 'utf8')) as Report;
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? relative('.', fileURLToPath(url)) : '';
      if (!file.startsWith('src/') || file.endsWith('.test.ts')) continue;
      const here = countedIn(functions.flatMap(({ ranges }) => ranges));
      const before = covered.get(file);
      covered.set(file, before === undefined ? here : here.map((is, offset) => is | (before[offset] ?? 0)));
    }
  }
  return new Map(covered.entries().map(([file, bytes]) => [file, spansOf(bytes)]));
}

export function isWithin(spans: Spans, offset: number): boolean {
  return spans.findLastIndex((edge) => edge <= offset) % 2 === 0;
}

export function lengthOf(spans: Spans): number {
  return spans.reduce((sum, edge, index) => (index % 2 === 0 ? sum - edge : sum + edge), 0);
}

/** For each offset whether it was run: the smallest range around it decides. */
function countedIn(ranges: readonly Range[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  const widestFirst = ranges.toSorted((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  for (const { startOffset, endOffset, count } of widestFirst) bytes.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return bytes;
}

function spansOf(bytes: Uint8Array): number[] {
  const edges: number[] = [];
  for (let at = 0; at <= bytes.length; at += 1) if ((bytes[at] ?? 0) !== (bytes[at - 1] ?? 0)) edges.push(at);
  return edges;
}
