/** Answers series queries in a thread of its own, because reading a month of data would block requests. */

import { parentPort, workerData } from 'node:worker_threads';
import type { SeriesAnswer, SeriesQuery } from '../../core/store/series.ts';
import type { Store } from '../../core/store/store.ts';
import { yieldToOthers } from '../../lib/threads.ts';

export interface SeriesThreadData {
  readonly url: string;
  readonly cwd: string;
}

/** A query that the thread receives; null ends the thread. */
export interface SeriesQuestion {
  readonly id: number;
  readonly query: SeriesQuery;
}

export type SeriesReport = {
  readonly id: number;
} /** The lines are JSON texts of some lines each, so that thousands of lines are parsed in slices. */ & (
  | { readonly answer: Omit<SeriesAnswer, 'lines'>; readonly lines: readonly string[] }
  | { readonly fault: { readonly name: string; readonly message: string } }
);

const linesPerText = 100;

function toTexts(lines: SeriesAnswer['lines']): string[] {
  const texts: string[] = [];
  for (let at = 0; at < lines.length; at += linesPerText) {
    texts.push(JSON.stringify(lines.slice(at, at + linesPerText)));
  }
  return texts;
}

/** Steps by which this thread has lower priority: viewers can wait, and client requests do not wait for it. */
const stepsBehind = 10;

if (parentPort !== null) await run(parentPort, workerData);

async function run(port: NonNullable<typeof parentPort>, { url, cwd }: SeriesThreadData): Promise<void> {
  yieldToOthers(stepsBehind);
  let opening: Promise<Store> | undefined;
  /** Opens the store once; where that fails, the next query tries again. */
  function open(): Promise<Store> {
    // Loading the store's modules takes half a second of a core, so it waits until this thread has lower priority than requests.
    opening ??= import('../../store/open-store.ts').then(({ openStore }) => openStore(url, { cwd }));
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  }
  async function answer({ id, query }: SeriesQuestion): Promise<SeriesReport> {
    try {
      const { lines, ...answer } = await (await open()).series.read(query);
      return { id, answer, lines: toTexts(lines) };
    } catch (thrown) {
      const { name, message } = thrown instanceof Error ? thrown : new Error(String(thrown));
      return { id, fault: { name, message } };
    }
  }
  port.on('message', (question: SeriesQuestion | null) => {
    if (question === null) {
      port.close();
      void opening?.then((store) => store.close());
      return;
    }
    void answer(question).then((report) => port.postMessage(report));
  });
}
