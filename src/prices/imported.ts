/** Reads and writes imported price lists as CSV, and keeps their prices by service and model. */

import type { Price } from '../core/accounting/price.ts';
import { nanosPerDollar, parseDollars, toDollars } from '../lib/money.ts';

/** The columns of a price list, which are also the keys of `price` in the configuration. */
export const priceColumns = {
  input: 'input',
  cached_input: 'cachedInput',
  cache_write: 'cacheWrite',
  cache_write_1h: 'cacheWriteHour',
  audio_input: 'audioInput',
  image_input: 'imageInput',
  output: 'output',
  audio_output: 'audioOutput',
  image_output: 'imageOutput',
  search_unit: 'searchUnit',
  request: 'request',
  item: 'item',
  image: 'image',
  minute: 'minute',
  character: 'character',
} as const satisfies Record<string, keyof Price>;
export type PriceColumn = keyof typeof priceColumns;
const priceColumnNames = Object.keys(priceColumns).filter(isPriceColumn);

/** Highest plausible price in dollars; a higher one has a mistaken unit. */
export const highestPrice = 100_000;

/** A price per million tokens below this limit is below every service's cheapest, but plausible as the price of one token. */
const suspectNanos = 1_000_000;
const ofAMillion = ['input', 'cached_input', 'cache_write', 'output', 'character'] as const;

/** Columns with prices per million that look like prices of one token, as other gateways write them: costs would be counted as nearly 0. */
export const pricedByOne = (amounts: Readonly<Partial<Record<PriceColumn, unknown>>>): PriceColumn[] =>
  ofAMillion.filter((column) => {
    const nanos = amounts[column];
    return typeof nanos === 'number' && nanos > 0 && nanos < suspectNanos;
  });

export type PriceAmounts = Partial<Record<PriceColumn, number>>;

export interface PriceRow {
  /** The ID of a family that is called at its own address; else the host name of the service. */
  readonly service: string;
  /** The service's name for the model. */
  readonly model: string;
  readonly amounts: PriceAmounts;
  readonly line: number;
}

/** An imported price list, which overrides the built-in one. */
export interface ImportedPrices {
  readonly asOf: string;
  readonly source: string;
  readonly services: ReadonlyMap<string, ReadonlyMap<string, Price>>;
}

function isPriceColumn(name: string): name is PriceColumn {
  return Object.hasOwn(priceColumns, name);
}

type Report = (line: number, message: string) => void;

/** Reads a price list. It may pause at every `yield`. Faulty rows are reported and left out. */
export function* readingPriceCsv(text: string, report: Report): Generator<undefined, PriceRow[], undefined> {
  const rows: PriceRow[] = [];
  const lines = new Map<string, number>();
  let head: readonly string[] | undefined;
  for (const { line, cells } of csvRecords(text)) {
    yield;
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (head === undefined) {
      head = cells.map((cell) => cell.trim());
      if (!isHead(head, line, report)) return [];
      continue;
    }
    const row = toRow(head, cells, line, report);
    if (row === undefined) continue;
    const name = `${row.service} ${row.model}`;
    const first = lines.get(name);
    if (first === undefined) rows.push(row);
    else report(line, `${row.model} of ${row.service} is on line ${first} already; keep one of the two`);
    lines.set(name, first ?? line);
  }
  if (head === undefined) report(1, `the file is empty; its first line is service,model,input,output`);
  return rows;
}

function isHead(head: readonly string[], line: number, report: Report): boolean {
  const faults = ['service', 'model']
    .filter((name) => !head.includes(name))
    .map((name) => `has no column ${name}; the first line names the columns, separated by commas`);
  for (const [index, name] of head.entries()) {
    if (head.indexOf(name) !== index) faults.push(`names the column ${JSON.stringify(name)} twice`);
    else if (name !== 'service' && name !== 'model' && !isPriceColumn(name)) {
      const known = `service, model, ${priceColumnNames.join(', ')}`;
      faults.push(`${JSON.stringify(name)} is no column of a price list; there are ${known}`);
    }
  }
  for (const fault of faults) report(line, fault);
  return faults.length === 0;
}

function toRow(head: readonly string[], cells: readonly string[], line: number, report: Report): PriceRow | undefined {
  if (cells.length !== head.length) {
    report(line, `has ${cells.length} cells, and the first line ${head.length}; put quotes around texts with commas`);
    return undefined;
  }
  const amounts: PriceAmounts = {};
  const names = { service: '', model: '' };
  let isFit = true;
  const fail = (message: string): void => {
    report(line, message);
    isFit = false;
  };
  for (const [index, name] of head.entries()) {
    const text = (cells[index] ?? '').trim();
    if (name === 'service' || name === 'model') names[name] = text;
    else if (isPriceColumn(name) && text !== '') {
      const nanos = parseDollars(text);
      if (nanos !== undefined && nanos <= highestPrice * nanosPerDollar) amounts[name] = nanos;
      else
        fail(
          `${name} is ${JSON.stringify(text)}; write US dollars from 0 to ${highestPrice} without a currency, such as 0.02`,
        );
    }
  }
  for (const [name, text] of Object.entries(names)) {
    if (text === '') fail(`${name} is empty`);
    else if (/["\p{Cc}\p{Cs}]/u.test(text))
      fail(`${name} holds a quote or a control character; write it as the service does`);
  }
  if (isFit && Object.keys(amounts).length === 0) fail('has no price; fill in one column, or take the line out');
  return isFit ? { service: names.service.toLowerCase(), model: names.model, amounts, line } : undefined;
}

/** Reads the cells of each record as in RFC 4180, with the number of the record's first line. */
function* csvRecords(text: string): Generator<{ readonly line: number; readonly cells: string[] }> {
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n]*))(,|\r\n|\r|\n|$)/y;
  let line = 1;
  let start = 1;
  let cells: string[] = [];
  cell.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (cell.lastIndex < text.length) {
    // The pattern always matches: a cell that is not quoted is a plain one.
    const [whole = '', quoted, plain = '', end = ''] = cell.exec(text) ?? [];
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split(/\r\n|\r|\n/).length - 1;
    if (end === ',' && cell.lastIndex < text.length) continue;
    if (end === ',') cells.push('');
    yield { line: start, cells };
    cells = [];
    start = line;
  }
}

/** Writes a price list in canonical form: rows by name, and only the used columns. */
export function toPriceCsv(rows: readonly PriceRow[]): string {
  const columns = priceColumnNames.filter((name) => rows.some(({ amounts }) => amounts[name] !== undefined));
  const sorted = rows.toSorted((one, other) =>
    `${one.service} ${one.model}` < `${other.service} ${other.model}` ? -1 : 1,
  );
  const lines = sorted.map(({ service, model, amounts }) => [
    service,
    model,
    ...columns.map((name) => {
      const nanos = amounts[name];
      return nanos === undefined ? '' : toDollars(nanos);
    }),
  ]);
  return [['service', 'model', ...columns], ...lines]
    .map(
      (cells) => `${cells.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`,
    )
    .join('');
}

export function* toImportedPrices(
  { asOf, source }: Pick<ImportedPrices, 'asOf' | 'source'>,
  csv: string,
  report: Report,
): Generator<undefined, ImportedPrices, undefined> {
  const services = new Map<string, Map<string, Price>>();
  for (const { service, model, amounts } of yield* readingPriceCsv(csv, report)) {
    const prices = services.get(service) ?? new Map<string, Price>();
    services.set(service, prices.set(model, priceOf(amounts)));
  }
  return { asOf, source, services };
}

export function priceOf(amounts: Readonly<Partial<Record<PriceColumn, number | undefined>>>): Price {
  const columns = priceColumnNames.map((column) => [priceColumns[column], amounts[column]]);
  return Object.freeze(Object.fromEntries(columns) as Record<(typeof priceColumns)[PriceColumn], number | undefined>);
}
