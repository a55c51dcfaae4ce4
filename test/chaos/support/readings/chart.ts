/** A small chart for the terminal: rows of block characters over one time axis, with numbered marks where something happened. */

export interface ChartRow {
  readonly label: string;
  /** One a column, from the left; undefined where nothing is known. Columns that are missing are still to come. */
  readonly values: readonly (number | undefined)[];
  /** What a full block stands for; more is drawn as one too. */
  readonly top: number;
  /** Said at the end of the row: its newest value, with its unit. */
  readonly note: string;
}

export interface ChartMark {
  readonly atMs: number;
  readonly text: string;
}

export interface Chart {
  /** What the whole axis stands for. */
  readonly spanMs: number;
  readonly columns: number;
  readonly rows: readonly ChartRow[];
  /** In the order of time. */
  readonly marks: readonly ChartMark[];
}

/** An area of the terminal whose lines are replaced by the next ones. */
export interface Canvas {
  show(lines: readonly string[]): void;
}

type Terminal = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

const blocks = '▁▂▃▄▅▆▇█';
const zero = '·';
const gap = '  ';
const mostColumns = 72;
const fewestColumns = 24;
/** Used if the terminal does not report its width. */
const usualColumns = 80;

export function drawChart({ spanMs, columns, rows, marks }: Chart): string[] {
  const margin = Math.max(...rows.map(({ label }) => label.length)) + gap.length;
  const indent = ' '.repeat(margin);
  return [
    ...rows.map(({ label, values, top, note }) => {
      const bar = values.map((value) => toBlock(value, top)).join('');
      return `${label.padEnd(margin)}${bar.padEnd(columns)}${gap}${note}`.trimEnd();
    }),
    indent + drawAxis(spanMs, columns, marks),
    `${indent}0 s${toSeconds(spanMs).padStart(columns - '0 s'.length)}`,
    ...marks.map(
      ({ atMs, text }, index) => `${String(index + 1).padStart(margin - gap.length)}${gap}${toSeconds(atMs)}: ${text}`,
    ),
  ];
}

/** How many columns fit beside labels and notes of some length. */
export function fitColumns(terminalColumns: number | undefined, besideCharacters: number): number {
  return Math.max(fewestColumns, Math.min(mostColumns, (terminalColumns || usualColumns) - besideCharacters));
}

/** Anything above zero is visible. */
function toBlock(value: number | undefined, top: number): string {
  if (value === undefined) return ' ';
  if (value <= 0 || top <= 0) return zero;
  const level = Math.min(blocks.length, Math.ceil((value / top) * blocks.length));
  return blocks.charAt(level - 1);
}

/** Where two marks fall on one column, the later one stands beside. */
function drawAxis(spanMs: number, columns: number, marks: readonly ChartMark[]): string {
  const axis = Array.from('─'.repeat(columns));
  let free = 0;
  for (const [index, { atMs }] of marks.entries()) {
    const number = String(index + 1);
    const at = Math.max(free, Math.floor((atMs / spanMs) * columns));
    if (at + number.length > columns) break;
    axis.splice(at, number.length, ...number);
    free = at + number.length;
  }
  return axis.join('');
}

function toSeconds(ms: number): string {
  const seconds = ms / 1000;
  return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
}

const up = (lines: number): string => `\x1b[${lines}A`;
const clearBelow = '\x1b[J';

export function createCanvas(terminal: Terminal): Canvas {
  let shown = 0;
  return {
    show(lines) {
      // A line that wraps would be two, and the way up too short.
      const fitting = lines.map((line) => line.slice(0, (terminal.columns || usualColumns) - 1));
      const back = shown === 0 ? '' : `\r${up(shown)}${clearBelow}`;
      terminal.write(`${back}${fitting.join('\n')}\n`);
      shown = fitting.length;
    },
  };
}
