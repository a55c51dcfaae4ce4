/** Copies the store into a file while it is in use. */

import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseStoreUrl, type StoreLocation } from './open-store.ts';
import { toStoreError } from './sqlite/sqlite-faults.ts';
import { copyInto, makeOwnFile, open } from './sqlite/sqlite-file.ts';
import { StoreError } from './store-error.ts';

export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

/** Copies the store into a new file; never overwrites one. Throws a StoreError. */
export function backupStore(url: string, target: string, { cwd }: StoreLocation): Backup {
  const location = parseStoreUrl(url, cwd);
  const file = resolve(cwd, target);
  switch (location.kind) {
    case 'memory':
      throw new StoreError('The store is in memory and ends with its process; there is nothing to back up.');
    case 'postgres':
      throw new StoreError(`PostgreSQL has a tool of its own for this; run: ${toDumpCommand(location.url, target)}`);
    case 'file':
      return copyFile(location.path, file);
  }
}

function copyFile(path: string, file: string): Backup {
  if (!existsSync(path)) throw new StoreError(`There is no store at "${path}"; nothing to back up.`);
  makeNew(file);
  try {
    const database = open(path, { timeout: 5_000 });
    try {
      copyInto(database, file);
    } finally {
      database.close();
    }
    checkSoundness(file);
    return { file, bytes: statSync(file).size };
  } catch (thrown) {
    rmSync(file, { force: true });
    throw toStoreError(thrown, `The copy of "${path}" to "${file}"`);
  }
}

/** Makes the file, readable by its owner only, as it will hold all of the store. */
function makeNew(file: string): void {
  try {
    if (!makeOwnFile(file)) throw new StoreError(`"${file}" is there already; name a file that is not.`);
  } catch (thrown) {
    throw toStoreError(thrown, `"${file}"`);
  }
}

function checkSoundness(file: string): void {
  const copy = open(file, { readOnly: true });
  try {
    const said = copy.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    if (said !== 'ok') {
      throw new StoreError(`The copy is not sound (${String(said)}): the store is damaged; restore an older backup.`);
    }
  } finally {
    copy.close();
  }
}

/** The command for a PostgreSQL copy, without the password: pg_dump asks for it, or finds it in PGPASSWORD or ~/.pgpass. */
function toDumpCommand(url: string, target: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return `pg_dump --format=custom --file=${toArgument(target)} DATABASE`;
  const { hostname, port, username, pathname, searchParams } = parsed;
  const options = [
    ['host', searchParams.get('host') ?? decode(hostname)],
    ['port', searchParams.get('port') ?? port],
    ['username', searchParams.get('user') ?? decode(username)],
  ] as const;
  const written = options.flatMap(([name, value]) => (value === '' ? [] : [`--${name}=${toArgument(value)}`]));
  const database = decode(pathname.slice(1));
  return [
    'pg_dump --format=custom',
    `--file=${toArgument(target)}`,
    ...written,
    ...(database === '' ? [] : [toArgument(database)]),
  ].join(' ');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
