/** The shape of a command: what it is called, which options it takes, what it is given and what it gives back. */

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
