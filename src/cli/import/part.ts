/** Reads a mapping in another gateway's file, and records which entries were used and which are left, with their lines. */

import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { toPath } from '../../core/field-fault.ts';
import { UserFault } from '../../core/user-fault.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';

export interface Note {
  readonly line: number | undefined;
  readonly path: string;
  readonly text: string;
}

interface Source {
  /** The text with its lines; undefined where the mapping is not from a file. */
  readonly text: { readonly document: Document; readonly lines: LineCounter } | undefined;
  readonly notes: Note[];
}

type Path = readonly (string | number)[];

/** Parses YAML or JSON. Entries that have no counterpart are added to `notes`. */
export function openParts(text: string, file: string, notes: Note[]): Part {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true });
  const [error] = document.errors;
  if (error !== undefined) throw new UserFault(`${file} is neither YAML nor JSON (${error.message.split('\n')[0]})`);
  const tree: unknown = document.toJS();
  const source = { text: { document, lines }, notes };
  return new Part(source, [], isMapping(tree) ? tree : { channels: tree });
}

/** Reads a mapping that is not from a file, such as the tables of a database. */
export function treeParts(tree: Readonly<Record<string, unknown>>, notes: Note[]): Part {
  return new Part({ text: undefined, notes }, [], tree);
}

export class Part {
  readonly #source: Source;
  readonly #path: Path;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #taken = new Set<string>();

  constructor(source: Source, path: Path, values: Readonly<Record<string, unknown>>) {
    this.#source = source;
    this.#path = path;
    this.#values = values;
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    const value = this.#values[key];
    return value !== undefined && value !== null && value !== '';
  }

  take(key: string): unknown {
    this.#taken.add(key);
    return this.#values[key];
  }

  /** The text at a key, also where it is a number; undefined where it is empty or anything else. */
  text(key: string): string | undefined {
    const value = this.take(key);
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  }

  /** The address at a key, without credentials in it, which a note reports. */
  address(key: string): string | undefined {
    const text = this.text(key);
    const url = text === undefined ? null : URL.parse(text);
    if (url === null || (url.username === '' && url.password === '' && url.search === '')) return text;
    this.note('a possible credential in it is left out; put it into api_key', key);
    return `${url.protocol}//${url.host}${url.pathname}`;
  }

  /** The switch at a key; databases store it as 1. */
  flag(key: string): boolean {
    const value = this.take(key);
    return value === true || value === 1;
  }

  number(key: string): number | undefined {
    const value = Number(this.text(key) ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  }

  /** The texts at a key: a list, or one text with commas. */
  texts(key: string): string[] {
    const value = this.take(key);
    const list: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
    return list.flatMap((one) => (typeof one === 'string' && one.trim() !== '' ? [one.trim()] : []));
  }

  /** The mapping at a key, also where it is a JSON text; an empty one where there is none. */
  part(key: string): Part {
    const value = this.take(key);
    const read = typeof value === 'string' ? readJson(value) : value;
    return new Part(this.#source, [...this.#path, key], isMapping(read) ? read : {});
  }

  parts(key: string): Part[] {
    const value = this.take(key);
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    return list.flatMap((one, index) =>
      isMapping(one) ? [new Part(this.#source, [...this.#path, key, index], one)] : [],
    );
  }

  /** Marks keys as used without a note, because they do not matter to Postern. */
  pass(...keys: readonly string[]): void {
    for (const key of keys) this.#taken.add(key);
  }

  /** Adds a note on what happens to a key, or to the whole mapping. */
  note(text: string, key?: string): void {
    if (key !== undefined) this.#taken.add(key);
    const path = key === undefined ? this.#path : [...this.#path, key];
    this.#source.notes.push({ line: this.#lineOf(path), path: toPath(path), text });
  }

  rest(text = 'has no counterpart'): void {
    for (const key of this.keys()) {
      if (!this.#taken.has(key) && this.has(key)) this.note(text, key);
    }
  }

  #lineOf(path: Path): number | undefined {
    const { text } = this.#source;
    for (let length = path.length; text !== undefined && length > 0; length -= 1) {
      const node = text.document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return text.lines.linePos(node.range[0]).line;
    }
    return undefined;
  }
}

export interface Terms {
  readonly models?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expires?: string | undefined;
  readonly project?: string | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
  readonly budgets?: readonly Budget[] | undefined;
}

interface Budget {
  readonly every: string;
  readonly amount: number;
}

const periods: readonly (readonly [written: RegExp, period: string])[] = [
  [/^(1d|24h|daily)$/, 'day'],
  [/^(7d|1w|weekly)$/, 'week'],
  [/^(28d|30d|31d|1mo|1M|monthly)$/, 'month'],
];

/** A budget. One without a period is spent once; a period that Postern does not have is noted, and the budget left out. */
export function budgetOf(part: Part, amountKey: string, durationKey: string): Budget | undefined {
  const amount = part.number(amountKey);
  const duration = part.text(durationKey);
  if (amount === undefined) return undefined;
  const every = duration === undefined ? 'total' : periods.find(([written]) => written.test(duration))?.[1];
  if (every === undefined) part.note(`there is no budget of ${duration} here; day, week, month or total`, durationKey);
  return every === undefined || amount <= 0 ? undefined : { every, amount };
}

/** The values; undefined where all are undefined, so that nothing is written. */
export function filled<T extends object>(values: T): T | undefined {
  return Object.values(values).some((value) => value !== undefined) ? values : undefined;
}

/** An ID made of a text, in which invalid characters are replaced. */
export function toId(text: string): string {
  return (
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'key'
  );
}
