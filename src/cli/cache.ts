/** `postern cache`: clears the item cache on every node. */

import { forgetItemsOf } from '../core/lists.ts';
import type { Model } from '../core/snapshot.ts';
import { UserFault } from '../core/user-fault.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { type OpenConfiguration, openLeniently } from '../serve/configuration.ts';
import { type Action, commandOf } from './actions.ts';
import { type CommandContext, texts } from './command.ts';
import { words } from './words.ts';

const actions: Readonly<Record<string, Action<OpenConfiguration>>> = {
  clear: { usage: 'clear --model M', needsStore: false, prepare: clear },
};

export const cache = commandOf(words.cache, actions, texts('model'), openLeniently);

function clear({ values, stdout }: CommandContext) {
  const { model } = values;
  if (typeof model !== 'string' || model === '') throw new UserFault('say whose: postern cache clear --model M');
  return async ({ store, loaded }: OpenConfiguration) => {
    const { all } = loaded.snapshot.models;
    const known = all.find(({ id }) => id === model);
    if (known === undefined) throw unknown(model, all);
    if (known.cache === undefined) {
      throw new UserFault(`the model "${model}" has no cache (models[].cache), so there is nothing to forget`);
    }
    await forgetItemsOf(store.settings, model, 'cli');
    stdout(`What is remembered of the items of "${model}" is forgotten on every node within a second.`);
  };
}

function unknown(model: string, all: readonly Model[]): UserFault {
  const near = nearestName(
    model,
    all.map(({ id }) => id),
  );
  return new UserFault(
    `there is no model "${model}"${near === undefined ? '' : `; did you mean "${near}"?`} ("postern models" lists them)`,
  );
}
