/** Commands with several actions on the store: `postern keys list`, `postern resources apply`. */

import type { FaultyConfiguration } from '../config/load.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { Store } from '../core/store/store.ts';
import { UserFault } from '../core/user-fault.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type OpenStore, openExisting } from '../serve/configuration.ts';
import { type Command, type CommandContext, configOptions } from './command.ts';
import { faultless } from './faults.ts';
import type { CommandWords } from './words.ts';

export interface Action<Ground> {
  /** What follows the command's name, which says what it takes: `show ID [--json]` is one operand and an option. */
  readonly usage: string;
  /** There is nothing for it to do where no store was made yet: it says so, and makes none. */
  readonly needsStore: boolean | ((values: CommandContext['values']) => boolean);
  /** Reads its options before the store is opened, and gives back what is to be done with it. */
  prepare(context: CommandContext): ((ground: Ground) => Promise<void>) | Promise<(ground: Ground) => Promise<void>>;
}

/** Who stands in the audit log. */
export const actor = 'command line';

interface StoreGround {
  readonly ok: true;
  readonly store: Store;
}

type Open<Ground> = (context: CommandContext, openStore?: OpenStore) => Promise<Ground | FaultyConfiguration>;

/** A command of several actions on what `open` opens. */
export const commandOf = <Ground extends StoreGround>(
  words: CommandWords,
  actions: Readonly<Record<string, Action<Ground>>>,
  options: Command['options'],
  open: Open<Ground>,
): Command => ({
  ...words,
  actions,
  options: { ...configOptions, ...options },
  run: (context) => actAs(words.name, actions, context, open),
});

/** Finds the action, checks what it is given, and lets it act on what `open` opens. */
async function actAs<Ground extends StoreGround>(
  command: string,
  actions: Readonly<Record<string, Action<Ground>>>,
  context: CommandContext,
  open: Open<Ground>,
): Promise<ExitCode> {
  const action = findAction(command, actions, context);
  const act = await action.prepare(context);
  const { needsStore } = action;
  const looksOnly = typeof needsStore === 'function' ? needsStore(context.values) : needsStore;
  const ground = faultless(await (looksOnly ? open(context, openExisting(context)) : open(context)));
  try {
    await act(ground);
  } finally {
    await ground.store.close();
  }
  return 0;
}

function findAction<Ground>(
  command: string,
  actions: Readonly<Record<string, Action<Ground>>>,
  { positionals, values }: Pick<CommandContext, 'positionals' | 'values'>,
): Action<Ground> {
  const [name = '', ...operands] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    if (name === '') {
      const usages = Object.values(actions).map(({ usage }) => `"postern ${command} ${usage}"`);
      throw new UserFault(`say what to do with ${command}: ${usages.join(', ')}`);
    }
    const names = Object.keys(actions);
    const near = nearestName(name, names);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new UserFault(`there is no "${command} ${name}"${hint} (there are ${names.join(', ')})`);
  }
  const { options, operandCount } = takenBy(action.usage);
  const foreign = Object.keys(values).find((option) => option !== 'config' && !options.has(option));
  if (foreign !== undefined) {
    throw new UserFault(`"${command} ${name}" takes no --${foreign} (usage: ${command} ${action.usage})`);
  }
  if (operands.length !== operandCount) {
    throw new UserFault(`write it as "postern ${command} ${action.usage}"`);
  }
  return action;
}

function takenBy(usage: string): { readonly options: ReadonlySet<string | undefined>; readonly operandCount: number } {
  const [, operands = ''] = /^\S+((?: [A-Z]+)*)(?: |$)/.exec(usage) ?? [];
  const options = new Set([...usage.matchAll(/--([a-z-]+)/g)].map(([, name]) => name));
  return { options, operandCount: operands.split(' ').length - 1 };
}
