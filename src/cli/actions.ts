/** Runs commands that have several actions on the store, such as `postern keys list` and `postern resources apply`. */

import type { FaultyConfiguration } from '../config/load.ts';
import type { Store } from '../core/store/store.ts';
import { type ExitCode, UserFault } from '../core/user-fault.ts';
import { nearHint } from '../lib/nearest-name.ts';
import { type OpenStore, openExisting } from '../serve/configuration.ts';
import { type Command, type CommandContext, commandOf, configUsage, optionsIn } from './command.ts';
import { faultless } from './output.ts';
import type { CommandName } from './words.ts';

interface Action<Ground> {
  /** The action's name and arguments; `show ID [--json]` has one operand and one option. */
  readonly usage: string;
  /** Reads the action's options before the store is opened, and returns the action itself. */
  prepare(context: CommandContext): ((ground: Ground) => Promise<void>) | Promise<(ground: Ground) => Promise<void>>;
  /** Whether the action creates a missing store; other actions report that there is none. */
  readonly makesStore?: (values: CommandContext['values']) => boolean;
}

export const actor = 'command line';

interface StoreGround {
  readonly ok: true;
  readonly store: Store;
}

type Actions<Ground> = Readonly<Record<string, Action<Ground>>>;
type Open<Ground> = (context: CommandContext, openStore?: OpenStore) => Promise<Ground | FaultyConfiguration>;

export function actionsOf<Ground extends StoreGround>(
  name: CommandName,
  open: Open<Ground>,
  actions: Actions<Ground>,
): Command {
  const usage = Object.values(actions).map((action) => action.usage);
  return { ...commandOf(name, [...usage, configUsage].join(' '), run), actions };

  async function run(context: CommandContext): Promise<ExitCode> {
    const { prepare, makesStore } = findAction(name, actions, context);
    const act = await prepare(context);
    const makes = makesStore?.(context.values) === true;
    const ground = faultless(await (makes ? open(context) : open(context, openExisting(context))));
    try {
      await act(ground);
    } finally {
      await ground.store.close();
    }
    return 0;
  }
}

function findAction<Ground>(
  command: string,
  actions: Actions<Ground>,
  { positionals, values }: Pick<CommandContext, 'positionals' | 'values'>,
): Action<Ground> {
  const [name = '', ...operands] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const names = Object.keys(actions);
    if (name === '') {
      throw new UserFault(`${command} needs an action: ${names.join(', ')} ("postern ${command} --help" shows each)`);
    }
    throw new UserFault(`there is no "${command} ${name}"${nearHint(name, names)} (there are ${names.join(', ')})`);
  }
  const taken = optionsIn(`${action.usage} ${configUsage}`);
  const foreign = Object.keys(values).find((option) => !Object.hasOwn(taken, option));
  if (foreign !== undefined) {
    throw new UserFault(`"${command} ${name}" takes no --${foreign} (usage: ${command} ${action.usage})`);
  }
  const [, wanted = ''] = /^\S+((?: [A-Z]+)*)(?: |$)/.exec(action.usage) ?? [];
  if (operands.length !== wanted.split(' ').length - 1) {
    throw new UserFault(`write it as "postern ${command} ${action.usage}"`);
  }
  return action;
}
