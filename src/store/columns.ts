/** Converts stored objects to rows and back: `lastSeenAtMs` is column `last_seen_at`, `memberId` is `member`, undefined is null, lists are JSON. */

import { getOrMake } from '../lib/get-or-make.ts';

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;
export type ColumnOf<Field extends string> = Field extends 'memberId'
  ? 'member'
  : Field extends `${infer Time extends `${string}${'At' | 'Until'}`}Ms`
    ? Snake<Time>
    : Snake<Field>;
type Value<V> = V extends null | undefined ? null : V extends number ? number : string;

export type Columns<T> = {
  readonly [Field in keyof T & string as ColumnOf<Field>]-?: Value<T[Field]>;
};

type Camel<C extends string> = C extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : C;
type FieldOf<C extends string> = C extends 'member'
  ? 'memberId'
  : C extends `${string}_${'at' | 'until'}`
    ? `${Camel<C>}Ms`
    : Camel<C>;
type Fields<R> = {
  readonly [C in keyof R & string as FieldOf<C>]: R[C] extends infer V ? (V extends null ? undefined : V) : never;
};

export function toRow<T extends object>(stored: T): Columns<T> {
  const columns = Object.entries(stored).map(([field, value]) => [columnOf(field), toValue(value)]);
  return Object.fromEntries(columns);
}

const toValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);

export function fromRow<R extends object>(row: R): Fields<R> {
  const fields = Object.entries(row).map(([column, value]) => [fieldOf(column), value ?? undefined]);
  return Object.fromEntries(fields);
}

const columns = new Map<string, string>();
const fields = new Map<string, string>();

/** The column of a field, such as `client_request_id` or `started_at`. */
export const columnOf = (field: string): string =>
  getOrMake(columns, field, () => {
    if (field === 'memberId') return 'member';
    const column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return column.replace(/_(at|until)_ms$/, '_$1');
  });

export const fieldOf = (column: string): string =>
  getOrMake(fields, column, () => {
    if (column === 'member') return 'memberId';
    const field = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return /_(at|until)$/.test(column) ? `${field}Ms` : field;
  });
