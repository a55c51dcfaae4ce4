/** Draws the accounting demonstration: requests per second by node, spent budget, and refusals. */

import type { Answer } from '../clients/spenders.ts';
import { type ChartMark, type ChartRow, createCanvas, drawChart, fitColumns } from './chart.ts';

export interface MoneyScreenOptions {
  readonly spanMs: number;
  readonly budgetNanos: number;
  /** Those of all clients, as they grow. */
  readonly answers: readonly (readonly Answer[])[];
  readonly nodes: readonly { readonly name: string; has(port: number): boolean }[];
  spentNanos(): Promise<number>;
  /** Prints events as they happen, and the chart at the end, where the output is no terminal. */
  log(line: string): void;
}

/** For the labels and the notes. */
const besideColumns = 40;

export class MoneyScreen {
  readonly #options: MoneyScreenOptions;
  readonly #columns: number;
  readonly #windowMs: number;
  readonly #canvas = process.stdout.isTTY ? createCanvas(process.stdout) : undefined;
  readonly #startedMs = performance.now();
  readonly #served: number[][];
  readonly #refused: number[] = [];
  readonly #spent: number[] = [];
  readonly #marks: ChartMark[] = [];
  /** How many answers of each list were counted. */
  readonly #counted: number[];
  readonly #sampling: Promise<void>;
  #isOver = false;

  constructor(options: MoneyScreenOptions) {
    this.#options = options;
    this.#columns = fitColumns(process.stdout.columns, besideColumns);
    this.#windowMs = options.spanMs / this.#columns;
    this.#served = options.nodes.map(() => []);
    this.#counted = options.answers.map(() => 0);
    this.#sampling = this.#sample();
  }

  async until(atMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - this.#nowMs())));
  }

  mark(text: string): void {
    const atMs = this.#nowMs();
    this.#marks.push({ atMs, text });
    if (this.#canvas === undefined) this.#options.log(`${(atMs / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  }

  /** Nothing is asked of the store any more when it resolves. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#sampling;
    const lines = this.#draw();
    if (this.#canvas === undefined) for (const line of ['', ...lines]) this.#options.log(line);
    else this.#canvas.show(lines);
  }

  async #sample(): Promise<void> {
    for (let column = 1; column <= this.#columns && !this.#isOver; column += 1) {
      await this.until(column * this.#windowMs);
      this.#count();
      this.#spent.push(await this.#options.spentNanos());
      this.#canvas?.show(this.#draw());
    }
  }

  #count(): void {
    const { nodes, answers } = this.#options;
    const served = nodes.map(() => 0);
    let refused = 0;
    for (const [list, all] of answers.entries()) {
      for (const { port, status } of all.slice(this.#counted[list])) {
        const node = nodes.findIndex(({ has }) => has(port));
        if (status === 429) refused += 1;
        else served[node] = (served[node] ?? 0) + 1;
      }
      this.#counted[list] = all.length;
    }
    for (const [node, count] of served.entries()) this.#served[node]?.push(count);
    this.#refused.push(refused);
  }

  #draw(): string[] {
    const { nodes, budgetNanos, spanMs } = this.#options;
    const perSecond = (count: number): number => Math.round((count * 1_000) / this.#windowMs);
    const most = Math.max(1, ...this.#served.flat(), ...this.#refused);
    const spent = this.#spent.at(-1) ?? 0;
    const rows: readonly ChartRow[] = [
      ...nodes.map(({ name }, node): ChartRow => {
        const values = this.#served[node] ?? [];
        return { label: name, values, top: most, note: `${perSecond(Math.max(0, ...values))} requests/s at most` };
      }),
      {
        label: 'refused',
        values: this.#refused,
        top: most,
        note: `${this.#refused.reduce((sum, n) => sum + n, 0)} with 429`,
      },
      {
        label: 'spent',
        values: this.#spent,
        top: budgetNanos,
        note: `$${(spent / 1e9).toFixed(4)} of $${(budgetNanos / 1e9).toFixed(2)}`,
      },
    ];
    return drawChart({ spanMs, columns: this.#columns, rows, marks: this.#marks });
  }

  #nowMs(): number {
    return performance.now() - this.#startedMs;
  }
}
