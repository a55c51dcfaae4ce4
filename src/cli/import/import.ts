/** `postern import`: another gateway's configuration in our words, and what of it has none. */

import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UserFault } from '../../core/user-fault.ts';
import { codeOf } from '../../lib/thrown.ts';
import type { Command, CommandContext } from '../command.ts';
import { fromBifrost } from './bifrost.ts';
import { channelTypes, fromChannels } from './channels.ts';
import { isPostgres, isSqlite, readPostgres, readSqlite } from './database.ts';
import { Draft } from './draft.ts';
import { fromLitellm } from './litellm.ts';
import { type Note, openParts, type Part } from './part.ts';
import { fromPortkey } from './portkey.ts';

const formats: Readonly<Record<string, (file: Part, draft: Draft) => void>> = {
  litellm: fromLitellm,
  portkey: fromPortkey,
  'new-api': (file, draft) => fromChannels(file, draft, channelTypes['new-api']),
  'one-api': (file, draft) => fromChannels(file, draft, channelTypes['one-api']),
  bifrost: fromBifrost,
};

export const importCommand: Command = {
  name: 'import',
  summary: "Writes a configuration from another gateway's, and says what has no counterpart.",
  usage: `import ${Object.keys(formats).join('|')} FILE|DB [--out F] [--force]`,
  options: { out: { type: 'string' }, force: { type: 'boolean' } },
  run,
};

async function run({ values, positionals, cwd, families, stdout, stderr }: CommandContext): Promise<0 | 1> {
  const [format = '', file, ...more] = positionals;
  const read = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (read === undefined || file === undefined || more.length > 0) {
    throw new UserFault(`write it as "postern ${importCommand.usage}"`);
  }
  const { text, name, hasLines } = await readSource(file, cwd, format);
  const notes: Note[] = [];
  const draft = new Draft(families);
  read(openParts(text, name, notes), draft);
  for (const id of draft.settle()) {
    const says = 'its targets have different names for it: no embeddings and no rerank, unless its operations say so';
    notes.push({ line: undefined, path: `model ${id}`, says });
  }
  const out = typeof values.out === 'string' ? values.out : 'postern.yaml';
  const yaml = draft.toYaml(
    `# From ${format}, by postern import. Credentials are in the environment; postern check says what this comes to.\n`,
  );
  try {
    await writeFile(join(resolve(cwd, out)), yaml, { flag: values.force === true ? 'w' : 'wx' });
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    stderr(
      `postern: ${out} ${code === 'EEXIST' ? 'is there already; --force overwrites it' : `cannot be written (${code})`}`,
    );
    return 1;
  }
  const { names } = draft;
  stdout(`${out} is written; postern check shows what it comes to.`);
  if (names.length > 0) stdout(`To be set in the environment: ${names.join(', ')}`);
  if (notes.length === 0) stdout('All of it has a counterpart.');
  for (const { line, path, says } of notes.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))) {
    stdout(`${name}${line === undefined || !hasLines ? '' : `:${line}`}  ${path}  ${says}`);
  }
  return 0;
}

interface Source {
  readonly text: string;
  /** Without a password. */
  readonly name: string;
  readonly hasLines: boolean;
}

/** A file, or a database in the shape of one. */
async function readSource(source: string, cwd: string, format: string): Promise<Source> {
  if (isPostgres(source)) return { ...(await readPostgres(source, format)), hasLines: false };
  const path = resolve(cwd, source);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UserFault(`${source} cannot be read (${codeOf(error) ?? String(error)})`);
  });
  if (!isSqlite(bytes)) return { text: bytes.toString(), name: source, hasLines: true };
  return { text: await readSqlite(path, source, format), name: source, hasLines: false };
}
