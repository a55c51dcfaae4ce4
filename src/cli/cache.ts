/** `postern cache`: what is remembered of items of lists, forgotten on every node. */

import { forgetItemsOf } from '../core/lists.ts';
import { UserFault } from '../core/user-fault.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type OpenConfiguration, openLeniently } from '../serve/configuration.ts';
import { type Action, actAs } from './actions.ts';
import { type Command, type CommandContext, configOptions } from './command.ts';
import { words } from './words.ts';

const actions: Readonly<Record<string, Action<OpenConfiguration>>> = {
  clear: { usage: 'clear --model M', needsStore: false, prepare: clear },
};

export const cache: Command = {
  ...words.cache,
  actions,
  options: { ...configOptions, model: { type: 'string' } },
  run: (context) => actAs('cache', actions, context, openLeniently),
};

function clear({ values, stdout }: CommandContext) {
  const { model } = values;
  if (typeof model !== 'string' || model === '') throw new UserFault('say whose: postern cache clear --model M');
  return async ({ store, loaded }: OpenConfiguration) => {
    const known = loaded.snapshot.models.all.find(({ id }) => id === model);
    if (known === undefined)
      throw unknown(
        model,
        loaded.snapshot.models.all.map(({ id }) => id),
      );
    if (known.cache === undefined) {
      throw new UserFault(`the model "${model}" has no cache (models[].cache), so there is nothing to forget`);
    }
    await forgetItemsOf(store.settings, model, 'cli');
    stdout(`What is remembered of the items of "${model}" is forgotten on every node within a second.`);
  };
}

function unknown(model: string, ids: readonly string[]): UserFault {
  const near = nearestName(model, ids);
  return new UserFault(
    `there is no model "${model}"${near === undefined ? '' : `; did you mean "${near}"?`} ("postern models" lists them)`,
  );
}
