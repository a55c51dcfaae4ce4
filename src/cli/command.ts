/** The type of a command: name, options, input and output. */

import type { ParseArgsConfig } from 'node:util';
import type { ExitCode } from '../core/exit-code.ts';
import type { Surroundings } from '../serve/surroundings.ts';
import type { CommandWords } from './words.ts';

export interface CommandContext extends Surroundings {
  /** The options as `node:util` parsed them by the command's own table. */
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  /** What stands after the command's name and is no option. */
  readonly positionals: readonly string[];
  /** Aborted once nobody reads standard output any more, as behind `| head`: what would go on for ever ends. */
  readonly unread?: AbortSignal;
}

export interface Command extends CommandWords {
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** What it can be told to do, by name; with what follows the command's name. */
  readonly actions?: Readonly<Record<string, { readonly usage: string }>>;
  run(context: CommandContext): Promise<ExitCode>;
}

type Options = Command['options'];

/** Options that take a text, and such as take none. */
export const texts = (...names: readonly string[]): Options =>
  Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
export const flags = (...names: readonly string[]): Options =>
  Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]));

/** For scripts, where they ask for it with `--json`; false where people are to be told. */
export function printJson({ values, stdout }: Pick<CommandContext, 'values' | 'stdout'>, value: unknown): boolean {
  if (values.json === true) stdout(JSON.stringify(value, null, 2));
  return values.json === true;
}

/** A secret, or a link with one, between empty lines. */
export function printSecret(secret: string, stdout: CommandContext['stdout']): void {
  for (const line of ['', `  ${secret}`, '']) stdout(line);
}

/** Every command that reads the configuration takes these. */
export const configOptions = { config: { type: 'string' }, set: { type: 'string', multiple: true } } as const;

export function toConfigSources({
  config,
  set = [],
}: CommandContext['values']): Pick<Surroundings, 'configPath' | 'set'> {
  return {
    configPath: typeof config === 'string' ? config : undefined,
    set: [set].flat().filter((one) => typeof one === 'string'),
  };
}
