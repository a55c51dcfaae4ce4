/** Draws the failover demonstration: what each target served, what clients saw, and events. */

import type { LoadWindow } from '../clients/load.ts';
import type { Actor } from '../upstreams/actor.ts';
import { type ChartMark, type ChartRow, createCanvas, drawChart, fitColumns } from './chart.ts';

/** For the labels and the notes. */
const besideColumns = 36;

export interface ScreenOptions {
  readonly actors: readonly Actor[];
  readonly spanMs: number;
  readonly ratePerSecond: number;
  /** Prints events as they happen, and the chart at the end, where the output is no terminal. */
  log(line: string): void;
}

export class Screen {
  readonly windowMs: number;
  readonly #options: ScreenOptions;
  readonly #columns: number;
  readonly #canvas = process.stdout.isTTY ? createCanvas(process.stdout) : undefined;
  readonly #startedMs = performance.now();
  readonly #served: number[][];
  readonly #counted: number[];
  readonly #windows: LoadWindow[] = [];
  readonly #marks: ChartMark[] = [];

  constructor(options: ScreenOptions) {
    const { actors, spanMs } = options;
    this.#options = options;
    this.#columns = fitColumns(process.stdout.columns, besideColumns);
    this.windowMs = spanMs / this.#columns;
    this.#served = actors.map(() => []);
    this.#counted = actors.map(() => 0);
  }

  nowMs(): number {
    return performance.now() - this.#startedMs;
  }

  async until(atMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - this.nowMs())));
  }

  mark(text: string): void {
    const atMs = this.nowMs();
    this.#marks.push({ atMs, text });
    if (this.#canvas === undefined) this.#options.log(`${(atMs / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  }

  add(window: LoadWindow): void {
    this.#windows.push(window);
    for (const [index, { servedAtMs }] of this.#options.actors.entries()) {
      this.#served[index]?.push(servedAtMs.length - (this.#counted[index] ?? 0));
      this.#counted[index] = servedAtMs.length;
    }
    this.#canvas?.show(this.#draw());
  }

  end(): void {
    const lines = this.#draw();
    if (this.#canvas === undefined) for (const line of ['', ...lines]) this.#options.log(line);
    else this.#canvas.show(lines);
  }

  #draw(): string[] {
    const perSecond = (count: number): number => Math.round((count * 1_000) / this.windowMs);
    const targets = this.#options.actors.map(({ name }, index): ChartRow => {
      const values = this.#served[index] ?? [];
      const top = (this.#options.ratePerSecond * this.windowMs) / 1_000;
      return { label: name, values, top, note: `${perSecond(values.at(-1) ?? 0)} requests/s` };
    });
    const errors = this.#windows.map(({ failed }) => failed);
    const p99Ms = this.#windows.map((window) => window.p99Ms);
    const worstMs = Math.max(0, ...p99Ms);
    const rows: readonly ChartRow[] = [
      ...targets,
      {
        label: 'errors',
        values: errors,
        top: Math.max(1, ...errors),
        note: String(errors.reduce((sum, count) => sum + count, 0)),
      },
      {
        label: 'p99',
        values: p99Ms,
        top: worstMs,
        note: `${Math.round(p99Ms.at(-1) ?? 0)} ms, ${Math.round(worstMs)} at worst`,
      },
    ];
    return drawChart({ spanMs: this.#options.spanMs, columns: this.#columns, rows, marks: this.#marks });
  }
}
