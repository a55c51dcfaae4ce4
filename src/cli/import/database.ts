/** Another gateway's database in the shape of its file. */

import { UserFault } from '../../core/user-fault.ts';
import type { ForeignRow } from '../../store/foreign-tables.ts';

/** By format: the tables, and what they are called in its file. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'one-api': { channels: 'channels', tokens: 'tokens' },
  'new-api': { channels: 'channels', tokens: 'tokens' },
  litellm: {
    model_list: 'LiteLLM_ProxyModelTable',
    keys: 'LiteLLM_VerificationToken',
    teams: 'LiteLLM_TeamTable',
  },
};

type Read = (tables: readonly string[]) => Promise<readonly (readonly ForeignRow[])[]>;

/** Loaded for this alone: no other command needs them. */
const drivers = () => import('../../store/foreign-tables.ts');

const sqliteHead = 'SQLite format 3\0';

export const isPostgres = (source: string): boolean => /^postgres(ql)?:\/\//i.test(source);

export const isSqlite = (bytes: Buffer): boolean => bytes.toString('latin1', 0, sqliteHead.length) === sqliteHead;

/** As JSON. `name`: how it is called where people read it, without a password. */
export async function readPostgres(url: string, format: string): Promise<{ text: string; name: string }> {
  const parsed = URL.parse(url);
  if (parsed === null) throw new UserFault('the address of the database is no URL (postgres://USER@HOST/NAME)');
  const name = `${parsed.host}${parsed.pathname}`;
  return {
    text: await toText(format, name, async (wanted) => (await drivers()).readPostgresTables(url, wanted)),
    name,
  };
}

export const readSqlite = (path: string, name: string, format: string): Promise<string> =>
  toText(format, name, async (wanted) => (await drivers()).readSqliteTables(path, wanted));

async function toText(format: string, name: string, read: Read): Promise<string> {
  const wanted = tables[format];
  if (wanted === undefined) {
    throw new UserFault(`what ${format} keeps in a database is not known here: give its file in place of ${name}`);
  }
  const names = Object.values(wanted);
  try {
    const rows = await read(names);
    const tree = Object.fromEntries(Object.keys(wanted).map((key, index) => [key, rows[index] ?? []]));
    return JSON.stringify(tree, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value), 1);
  } catch (error) {
    if (!(error instanceof (await drivers()).ForeignFault)) throw error;
    const { table, message } = error;
    throw new UserFault(
      table === undefined
        ? `${name} cannot be read (${message})`
        : `${name} has no table ${table} that can be read (${message}): of ${format}, ${names.join(', ')} are`,
    );
  }
}
