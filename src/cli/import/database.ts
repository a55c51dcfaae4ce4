/** Reads the tables of another gateway's database as a document in the form of its configuration files. */

import { Buffer } from 'node:buffer';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserFault } from '../../core/user-fault.ts';
import type { ForeignRow } from '../../store/foreign-tables.ts';

export type Tables = Readonly<Record<string, readonly ForeignRow[]>>;

export interface Wanted {
  /** Tables that must exist; without one of them it is another program's database. */
  readonly needed: readonly string[];
  /** Tables that only some versions have. */
  readonly more: readonly string[];
}

const magic = 'SQLite format 3\0';
const prefix = 'sqlite:';

const isPostgres = (url: string): boolean => /^postgres(?:ql)?:\/\//.test(url);

/** The name of a database without its credentials, for messages. */
export function nameOf(url: string): string {
  if (!isPostgres(url)) return url;
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  return `postgres://${host}${pathname}`;
}

/** The URL or path of a database; undefined where the argument is a file of another kind. */
export async function toDatabase(written: string, cwd: string): Promise<string | undefined> {
  if (isPostgres(written)) return written;
  if (/^(?:mysql|mariadb):|@tcp\(/.test(written)) {
    throw new UserFault(
      'MySQL is not read: write its tables as JSON, {"channels": [...], "tokens": [...]}, and give that file (docs/guides/migrate.md)',
    );
  }
  if (written.startsWith(prefix)) return written.slice(prefix.length);
  return (await startOf(resolve(cwd, written))) === magic ? written : undefined;
}

async function startOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined); // the reader of the text reports what is wrong with it
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return ''; // a folder
  } finally {
    await file.close();
  }
}

export async function readTables(url: string, cwd: string, { needed, more }: Wanted): Promise<Tables> {
  // No other command needs the drivers.
  const { openForeignTables } = await import('../../store/foreign-tables.ts');
  const tables = await openForeignTables(isPostgres(url) ? url : resolve(cwd, url), nameOf(url));
  try {
    const read: Record<string, readonly ForeignRow[]> = {};
    for (const name of [...needed, ...more]) {
      const rows = await tables.rows(name);
      if (rows !== undefined) read[name] = rows.map(toPlainRow);
      else if (needed.includes(name))
        throw new UserFault(`${nameOf(url)} has no table ${name}: is it the database of that gateway?`);
    }
    return read;
  } finally {
    await tables.close();
  }
}

/** A row without its null columns, as documents omit absent fields. */
function toPlainRow(row: ForeignRow): ForeignRow {
  const entries = Object.entries(row).map(([name, value]): [string, unknown] => [name, toPlain(value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function toPlain(value: unknown): unknown {
  if (value === null || value === false || value === '' || value === '{}' || value === '[]') return undefined;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return Number(value);
  const isEmpty = typeof value === 'object' && Object.keys(value).length === 0;
  return isEmpty ? undefined : value;
}
