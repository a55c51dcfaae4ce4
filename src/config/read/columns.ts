/** Stores the values of a configuration text and their positions as number columns, which are small and cheap to pass between threads. */

import { getOrMake } from '../../lib/get-or-make.ts';
import type { Path, Position } from './faults.ts';

/** The columns: one row per value. Children of a list or mapping are adjacent in `children`; a scalar has its row's number in `scalars`. */
export interface Columns {
  /** The kind of each value: 0 a scalar, 1 a list, 2 a mapping. Containers come before their contents. */
  readonly kinds: Uint8Array<ArrayBuffer>;
  readonly offsets: Int32Array<ArrayBuffer>;
  readonly firsts: Int32Array<ArrayBuffer>;
  readonly counts: Int32Array<ArrayBuffer>;
  /** The index, in `names`, of the key under which the value is in its mapping. */
  readonly keys: Int32Array<ArrayBuffer>;
  readonly children: Int32Array<ArrayBuffer>;
  readonly lineStarts: Int32Array<ArrayBuffer>;
  readonly names: readonly string[];
  readonly scalars: readonly Scalar[];
}

export type Positions = Omit<Columns, 'scalars'>;

/** The result of parsing a text, as plain data that threads can exchange. */
export interface SourceText {
  /** The values; undefined where the text cannot be read. */
  readonly columns: Columns | undefined;
  readonly faults: readonly SourceFault[];
}

export interface SourceFault {
  readonly path: Path;
  readonly message: string;
  readonly position?: Position;
}

export type Scalar = string | number | boolean | null;

const scalarKind = 0;
const listKind = 1;
const mappingKind = 2;

const valuesPerStep = 1000;

/** Writes columns from the outside in: lists and mappings are opened, filled, and closed. */
export class ColumnWriter {
  readonly #kinds: number[] = [];
  readonly #offsets: number[] = [];
  readonly #firsts: number[] = [];
  readonly #counts: number[] = [];
  readonly #keys: number[] = [];
  readonly #children: number[] = [];
  readonly #names = new Map<string, number>();
  readonly #scalars: Scalar[] = [];
  readonly #open: { readonly at: number; readonly children: number[]; seen: Set<number> | undefined }[] = [];
  #nextKey = -1;
  #keyOffset = 0;

  get size(): number {
    return this.#kinds.length;
  }

  get depth(): number {
    return this.#open.length;
  }

  /** Sets the key of the next value, which begins at the offset. False where the mapping has the key already. */
  key(name: string, offset: number): boolean {
    const key = getOrMake(this.#names, name, () => this.#names.size);
    const level = this.#open.at(-1);
    if (level === undefined || this.#holds(level, key)) return false;
    this.#nextKey = key;
    this.#keyOffset = offset;
    return true;
  }

  scalar(value: Scalar, offset: number): void {
    this.#add(scalarKind, offset, this.#scalars.length);
    this.#scalars.push(value);
  }

  list(offset: number): void {
    this.#open.push({ at: this.#add(listKind, offset, 0), children: [], seen: undefined });
  }

  mapping(offset: number): void {
    this.#open.push({ at: this.#add(mappingKind, offset, 0), children: [], seen: undefined });
  }

  close(): void {
    const level = this.#open.pop();
    if (level === undefined) return;
    this.#firsts[level.at] = this.#children.length;
    this.#counts[level.at] = level.children.length;
    for (const child of level.children) this.#children.push(child);
  }

  finish(lineStarts: readonly number[]): Columns {
    return {
      kinds: Uint8Array.from(this.#kinds),
      offsets: Int32Array.from(this.#offsets),
      firsts: Int32Array.from(this.#firsts),
      counts: Int32Array.from(this.#counts),
      keys: Int32Array.from(this.#keys),
      children: Int32Array.from(this.#children),
      lineStarts: Int32Array.from(lineStarts),
      names: [...this.#names.keys()],
      scalars: this.#scalars,
    };
  }

  #add(kind: number, offset: number, first: number): number {
    const at = this.#kinds.push(kind) - 1;
    this.#offsets.push(this.#nextKey === -1 ? offset : this.#keyOffset);
    this.#firsts.push(first);
    this.#counts.push(0);
    this.#keys.push(this.#nextKey);
    this.#nextKey = -1;
    this.#open.at(-1)?.children.push(at);
    return at;
  }

  #holds(level: { readonly children: number[]; seen: Set<number> | undefined }, key: number): boolean {
    if (level.children.length < 16) return level.children.some((child) => this.#keys[child] === key);
    level.seen ??= new Set(level.children.map((child) => this.#keys[child] ?? -1));
    if (level.seen.has(key)) return true;
    level.seen.add(key);
    return false;
  }
}

/** Builds the values from columns; it may pause at every `yield`. Mappings inherit no keys. */
export function* toTree(columns: Columns): Generator<undefined, unknown, undefined> {
  const { kinds, firsts, counts, keys, children, names, scalars } = columns;
  const built: unknown[] = new Array(kinds.length).fill(undefined);
  for (let at = kinds.length - 1; at >= 0; at--) {
    if (at % valuesPerStep === 0) yield;
    const first = firsts[at] ?? 0;
    if (kinds[at] === scalarKind) {
      built[at] = scalars[first];
      continue;
    }
    const inner = children.subarray(first, first + (counts[at] ?? 0));
    if (kinds[at] === listKind) {
      built[at] = Array.from(inner, (child) => built[child]);
      continue;
    }
    const mapping = emptyMapping();
    for (const child of inner) mapping[names[keys[child] ?? -1] ?? ''] = built[child];
    built[at] = mapping;
  }
  return built[0];
}

/** The position of the value at a path, or of the nearest value around it. */
export function positionIn(columns: Positions, path: Path): Position | undefined {
  const { firsts, counts, children, keys, names, kinds } = columns;
  if (kinds.length === 0) return undefined;
  let at = 0;
  for (const step of path) {
    const first = firsts[at] ?? 0;
    const count = counts[at] ?? 0;
    const wanted = kinds[at] === (typeof step === 'number' ? listKind : mappingKind) ? count : 0;
    let found: number | undefined;
    if (typeof step === 'number') found = step < wanted ? children[first + step] : undefined;
    else {
      for (let index = first; index < first + wanted && found === undefined; index++) {
        const child = children[index] ?? 0;
        if (names[keys[child] ?? -1] === step) found = child;
      }
    }
    if (found === undefined) break;
    at = found;
  }
  return positionAt(columns.lineStarts, columns.offsets[at] ?? 0);
}

export function positionAt(lineStarts: ArrayLike<number>, offset: number): Position {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/** A mapping that inherits no keys. V8 stores it in a third of the memory of objects without a prototype. */
class Mapping {
  readonly [key: string]: unknown;
}
Object.setPrototypeOf(Mapping.prototype, null);
Reflect.deleteProperty(Mapping.prototype, 'constructor');

export function emptyMapping(): Record<string, unknown> {
  return new Mapping();
}
