/** `postern cache`: clears the item cache on every node. */

import { forgetItemsOf } from '../core/lists.ts';
import { UserFault } from '../core/user-fault.ts';
import { nearestName, toHint } from '../lib/nearest-name.ts';
import { type OpenConfiguration, openLeniently } from '../serve/configuration.ts';
import { actionsOf } from './actions.ts';
import type { CommandContext } from './command.ts';

export const cache = actionsOf('cache', openLeniently, {
  clear: { usage: 'clear --model M', prepare: clear, makesStore: () => true },
});

function clear({ values, stdout }: CommandContext) {
  const { model } = values;
  if (typeof model !== 'string' || model === '') throw new UserFault('name the model: postern cache clear --model M');
  return async ({ store, loaded }: OpenConfiguration) => {
    const { all } = loaded.snapshot.models;
    const known = all.find(({ id }) => id === model);
    if (known === undefined) {
      const ids = all.map(({ id }) => id);
      const near = nearestName(model, ids);
      const hint = toHint(near && `"${near}"`);
      throw new UserFault(`there is no model "${model}"${hint} ("postern models" lists them)`);
    }
    if (known.cache === undefined) {
      throw new UserFault(`the model "${model}" has no cache (models[].cache), so there is nothing to clear`);
    }
    await forgetItemsOf(store.settings, model, 'cli');
    stdout(`The cache of "${model}" is cleared on every node within a second.`);
  };
}
