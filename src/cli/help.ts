/** Prints `postern COMMAND --help`, and messages about unknown options. */

import { nearestName } from '../lib/nearest-name.ts';
import { codeOf, reasonOf } from '../lib/thrown.ts';
import type { Command } from './command.ts';

/** Every action of the command with all that it takes, or the command's options. */
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

/** The words of `parseArgs` are for those who wrote the program; these are for those who use it. */
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

/** What one letter means elsewhere; else the first that begins with it. */
const habits: Readonly<Record<string, string>> = { n: 'limit' };

function nearOption(option: string, known: readonly string[]): string | undefined {
  const written = option.replace(/^-+/, '');
  if (written.length > 1) return nearestName(written, known);
  const habit = habits[written];
  return known.find((name) => name === habit) ?? known.find((name) => name.startsWith(written));
}

function usageOf({ name, usage, actions = {} }: Command, args: readonly string[]): string {
  const first = args.find((arg) => !arg.startsWith('-'));
  const action = first !== undefined && Object.hasOwn(actions, first) ? actions[first] : undefined;
  return action === undefined ? usage : `${name} ${action.usage}`;
}
