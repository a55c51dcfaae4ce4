/** `postern import`: converts another gateway's configuration, and reports what has no equivalent. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserFault } from '../../core/user-fault.ts';
import { codeOf } from '../../lib/thrown.ts';
import { type CommandContext, commandOf } from '../command.ts';
import { toTable, writeNew } from '../output.ts';
import { bifrostTables, fromBifrost, toBifrostConfig } from './bifrost.ts';
import { channelTables, channelTypes, fromChannels, fromChannelTables } from './channels.ts';
import { nameOf, readTables, type Tables, toDatabase, type Wanted } from './database.ts';
import { Draft } from './draft.ts';
import { fromLitellm } from './litellm.ts';
import { fromLitellmTables, litellmTables, openLitellmTables } from './litellm-tables.ts';
import { type Note, openParts, type Part, treeParts } from './part.ts';
import { fromPortkey } from './portkey.ts';

interface Format {
  readonly fromFile: (file: Part, draft: Draft) => void;
  /** How to read the gateway's database; undefined where only its makers run that. */
  readonly database?: {
    readonly wanted: Wanted;
    readonly from: (tables: Part, draft: Draft) => void;
    readonly prepare?: (tables: Tables, env: CommandContext['env']) => Readonly<Record<string, unknown>>;
  };
}

/** The format of one-api and new-api. Tokens of a database that cannot be reached are exported into the file with the channels. */
const channels = (types: Readonly<Record<number, string>>): Format => {
  const from = (tables: Part, draft: Draft): void => fromChannelTables(tables, draft, types);
  return {
    fromFile: (file, draft) => (file.has('tokens') ? from(file, draft) : fromChannels(file, draft, types)),
    database: { wanted: channelTables, from },
  };
};

const formats: Readonly<Record<string, Format>> = {
  litellm: {
    fromFile: fromLitellm,
    database: { wanted: litellmTables, from: fromLitellmTables, prepare: openLitellmTables },
  },
  portkey: { fromFile: fromPortkey },
  'new-api': channels(channelTypes['new-api']),
  'one-api': channels(channelTypes['one-api']),
  bifrost: {
    fromFile: fromBifrost,
    database: { wanted: bifrostTables, from: fromBifrost, prepare: toBifrostConfig },
  },
};

export const importCommand = commandOf('import', '--out F --force --diff', run);

async function run(context: CommandContext): Promise<0 | 1> {
  const { values, positionals, cwd, families, stdout, stderr } = context;
  const [name = '', written, ...more] = positionals;
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format === undefined || written === undefined || more.length > 0) {
    throw new UserFault(`write it as "postern ${importCommand.usage}"`);
  }
  const notes: Note[] = [];
  const draft = new Draft(families);
  const database = await toDatabase(written, cwd);
  const file = database === undefined ? written : nameOf(database);
  if (database === undefined) format.fromFile(openParts(await readText(written, cwd), written, notes), draft);
  else if (format.database === undefined) throw new UserFault(`no database of ${name} is read; give a file`);
  else {
    const { wanted, prepare, from } = format.database;
    const tables = await readTables(database, cwd, wanted);
    from(treeParts(prepare?.(tables, context.env) ?? tables, notes), draft);
  }
  notes.push(...draft.settle());
  if (draft.isEmpty) {
    printNotes(stderr);
    throw new UserFault(`${file} has nothing that can be imported`);
  }
  if (values.diff === true) return report('Nothing is written.');
  const out = typeof values.out === 'string' ? values.out : 'postern.yaml';
  const yaml = draft.toYaml(
    `# From ${name}, by postern import. Credentials are in the environment; "postern check" shows the result.\n`,
  );
  const refused = await writeNew(resolve(cwd, out), out, yaml, values.force === true);
  if (refused !== undefined) {
    stderr(`postern: ${refused}`);
    return 1;
  }
  return report(`${out} is written; "postern check" shows the result.`);

  function printNotes(print: (line: string) => void): void {
    for (const { line, path, text } of notes.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))) {
      print(`${file}${line === undefined ? '' : `:${line}`}  ${path}  ${text}`);
    }
  }

  function report(done: string): 0 {
    const { names } = draft;
    stdout(done);
    if (names.length > 0) stdout(`To be set in the environment: ${names.join(', ')}`);
    if (notes.length === 0) stdout('Everything was imported.');
    printNotes(stdout);
    if (values.diff === true) {
      stdout('');
      for (const row of toTable(['MODEL', 'ROUTE', 'THERE', 'HERE'], draft.diff())) stdout(row);
    }
    return 0;
  }
}

async function readText(file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new UserFault(`${file} cannot be read (${codeOf(error) ?? String(error)})`);
  }
}
