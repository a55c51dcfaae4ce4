/** Defines the type of a command: reads its options from its usage text, and writes what `--help` and a wrong option print. */

import type { ParseArgsConfig } from 'node:util';
import { type ExitCode, UserFault } from '../core/user-fault.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { codeOf, reasonOf } from '../lib/thrown.ts';
import type { Surroundings } from '../serve/surroundings.ts';
import { type CommandName, type CommandWords, words } from './words.ts';

export interface CommandContext extends Surroundings {
  /** The options, as `node:util` parsed them by the command's table. */
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
  /** Aborted when nobody reads standard output any more, as after `| head`, to end a command that would run for ever. */
  readonly unread?: AbortSignal;
}

export interface Command extends CommandWords {
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** The command's actions by name, with their usage. */
  readonly actions?: Readonly<Record<string, { readonly usage: string }>>;
  run(context: CommandContext): Promise<ExitCode>;
}

/** The options of every command that reads the configuration. */
export const configUsage = '--config F --set KEY=VALUE...';

/** Defines a command. `usage` names all of its options; its line in the help may show fewer. */
export const commandOf = (name: CommandName, usage: string, run: Command['run']): Command => ({
  ...words[name],
  options: optionsIn(usage),
  run: async (context) => {
    const [operand] = context.positionals;
    const line = words[name].usage;
    if (operand === undefined || !line.startsWith(`${name} [--`)) return run(context);
    throw new UserFault(`${name} takes no argument "${operand}" (usage: postern ${line})`);
  },
});

const optionForm =
  /--([a-z][a-z-]*)(?:\|-([a-z]))?( [^\s[\]|-][^\s\]]*?(?=\]|\.{2,}(?:\s|$)|\s|$))?(?:\]?(\.{2,})(?=\s|$))?/g;

/** The options in a usage text: `--limit N` takes a text, `--json` none; `--follow|-f` has a letter; `...` means repeatable. */
export function optionsIn(usage: string): Command['options'] {
  const written = usage.matchAll(optionForm);
  return Object.fromEntries(
    [...written].map(([, name = '', short, value, repeated]) => {
      const type = value === undefined ? 'boolean' : 'string';
      return [name, { type, ...(short !== undefined && { short }), ...(repeated !== undefined && { multiple: true }) }];
    }),
  );
}

export function toConfigSources({
  config,
  set = [],
}: CommandContext['values']): Pick<Surroundings, 'configPath' | 'set'> {
  if (config === '') throw new UserFault('--config is empty; name a file, or leave it out');
  return {
    configPath: typeof config === 'string' ? config : undefined,
    set: [set].flat().filter((one) => typeof one === 'string'),
  };
}

/** The help of one command: each action with its arguments, or else the command's options. */
export function toHelp({ name, usage, summary, actions, options }: Command): string[] {
  const lines = [`postern ${usage}`, '', summary];
  if (actions !== undefined) {
    lines.push('', ...Object.values(actions).map((action) => `  postern ${name} ${action.usage}`));
    if ('config' in options)
      lines.push('', 'Each takes --config F, the configuration file, and --set KEY=VALUE, a setting, as well.');
  } else if (Object.keys(options).length > 0) {
    lines.push('', 'Options:', ...Object.keys(options).map((option) => `  ${toOption(option, options)}`));
  }
  return lines;
}

function toOption(option: string, options: Command['options']): string {
  const { short, type } = options[option] ?? {};
  const written = `--${option}${type === 'string' ? ' VALUE' : ''}`;
  return short === undefined ? written : `${written}, -${short}`;
}

/** The message for a wrong option, reworded for users: those of `parseArgs` are for programmers. */
export function toOptionFault(error: unknown, command: Command, args: readonly string[]): string {
  const message = reasonOf(error);
  const [, option = ''] = /'(?:-\w, )?(-{1,2}[^\s'=<]+)/.exec(message) ?? [];
  return `${inOurWords(codeOf(error), option, message, command)} (usage: postern ${usageOf(command, args)})`;
}

function inOurWords(code: unknown, option: string, message: string, { options }: Command): string {
  if (option === '') return message;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const near = nearOption(option, Object.keys(options));
    return `unknown option ${option}${near === undefined ? '' : `; did you mean --${near}?`}`;
  }
  if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return message;
  if (message.includes('does not take an argument')) return `${option} takes no value`;
  return `${option} needs a value; write one that begins with - as ${option}=-...`;
}

function nearOption(option: string, known: readonly string[]): string | undefined {
  const written = option.replace(/^-+/, '');
  if (written.length > 1) return nearestName(written, known);
  // As other programs call it.
  const habit = written === 'n' ? 'limit' : undefined;
  return known.find((name) => name === habit) ?? known.find((name) => name.startsWith(written));
}

function usageOf({ name, usage, actions = {} }: Command, args: readonly string[]): string {
  const first = args.find((arg) => !arg.startsWith('-'));
  const action = first !== undefined && Object.hasOwn(actions, first) ? actions[first] : undefined;
  return action === undefined ? usage : `${name} ${action.usage}`;
}
