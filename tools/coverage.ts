/** Reads which source locations a run covered (`NODE_V8_COVERAGE`). */

import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] }[];
}

export class Coverage {
  /** By process and file. */
  readonly #ranges = new Map<string, Range[][]>();

  /** Of the processes that wrote there. */
  constructor(directory: string) {
    for (const path of globSync(`${directory}/*.json`)) {
      const { result } = JSON.parse(readFileSync(path, 'utf8')) as Report;
      for (const { url, functions } of result) {
        const ranges = functions.flatMap((one) => one.ranges);
        this.#ranges.set(url, [...(this.#ranges.get(url) ?? []), ranges]);
      }
    }
  }

  reaches(file: string, offset: number): boolean {
    const byProcess = this.#ranges.get(pathToFileURL(file).href) ?? [];
    return byProcess.some((ranges) => countAt(ranges, offset) > 0);
  }
}

/** The count of the smallest range around it. */
function countAt(ranges: readonly Range[], offset: number): number {
  const [smallest] = ranges
    .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
    .sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
  return smallest?.count ?? 0;
}
