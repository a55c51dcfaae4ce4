/** A mapping in another gateway's file that records which entries were used, and which are left, with lines. */

import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { UserFault } from '../../core/user-fault.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';

export interface Note {
  readonly line: number | undefined;
  readonly path: string;
  readonly text: string;
}

interface Source {
  /** Undefined without lines. */
  readonly text: { readonly document: Document; readonly lines: LineCounter } | undefined;
  readonly notes: Note[];
}

type Path = readonly (string | number)[];

/** YAML or JSON; what has no counterpart is added to `notes`. */
export function openParts(text: string, file: string, notes: Note[]): Part {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true });
  const [error] = document.errors;
  if (error !== undefined) throw new UserFault(`${file} is neither YAML nor JSON (${error.message.split('\n')[0]})`);
  const tree: unknown = document.toJS();
  const source = { text: { document, lines }, notes };
  return new Part(source, [], isMapping(tree) ? tree : { channels: tree });
}

/** For input from elsewhere than a file. */
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

  /** Numbers are accepted as texts; undefined where it is empty or anything else. */
  text(key: string): string | undefined {
    const value = this.take(key);
    if (typeof value === 'number') return String(value);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  }

  /** An address; credentials in it are left out, with a note. */
  address(key: string): string | undefined {
    const text = this.text(key);
    const url = text === undefined ? null : URL.parse(text);
    if (url === null || (url.username === '' && url.password === '' && url.search === '')) return text;
    this.note('a possible credential in it is left out; put it into api_key', key);
    return `${url.protocol}//${url.host}${url.pathname}`;
  }

  /** Databases store it as 1. */
  flag(key: string): boolean {
    const value = this.take(key);
    return value === true || value === 1;
  }

  number(key: string): number | undefined {
    const value = Number(this.text(key) ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  }

  /** A list of texts, or one text with commas. */
  texts(key: string): string[] {
    const value = this.take(key);
    const list: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
    return list.flatMap((one) => (typeof one === 'string' && one.trim() !== '' ? [one.trim()] : []));
  }

  /** Empty where there is none; a JSON text is parsed. */
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

  /** Ignores keys silently: they do not matter here. */
  pass(...keys: readonly string[]): void {
    for (const key of keys) this.#taken.add(key);
  }

  /** A note on what happens to a key, or to the whole. */
  note(text: string, key?: string): void {
    if (key !== undefined) this.#taken.add(key);
    const path = key === undefined ? this.#path : [...this.#path, key];
    this.#source.notes.push({ line: this.#lineOf(path), path: toText(path), text });
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

function toText(path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
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

/** Other periods do not exist here, which is noted. A budget without a period is spent once. */
export function budgetOf(part: Part, amountKey: string, durationKey: string): Budget | undefined {
  const amount = part.number(amountKey);
  const duration = part.text(durationKey);
  if (amount === undefined) return undefined;
  const every = duration === undefined ? 'total' : periods.find(([written]) => written.test(duration))?.[1];
  if (every === undefined) part.note(`there is no budget of ${duration} here; day, week, month or total`, durationKey);
  return every === undefined || amount <= 0 ? undefined : { every, amount };
}

/** Undefined where it is empty, so that nothing is written. */
export function filled<T extends object>(values: T): T | undefined {
  return Object.values(values).some((value) => value !== undefined) ? values : undefined;
}

/** Replaces characters that are invalid in an ID. */
export function toId(text: string): string {
  return (
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'key'
  );
}
