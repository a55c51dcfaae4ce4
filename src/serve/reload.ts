/** Applies a changed configuration while running, completely or not at all. */

import { type ConfigurationFeed, createConfigurationFeed, needsRestart } from '../config/live/live.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { clearedCaches, readClearedCaches } from '../core/lists.ts';
import type { Log } from '../core/log.ts';
import { systemClock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import { createReader, type OpenConfiguration } from './configuration.ts';
import type { Gateway } from './gateway.ts';
import type { ReloadHistory } from './reload-history.ts';
import type { Surroundings } from './surroundings.ts';

export function startReloading(
  configuration: OpenConfiguration,
  { app, accounting, metrics }: Gateway,
  log: Log,
  surroundings: Surroundings,
  onSwap: (next: LoadedConfiguration) => void,
  history?: ReloadHistory,
): ConfigurationFeed {
  /** Drops list items cached before their cache was cleared. */
  async function forget(): Promise<void> {
    try {
      app.lists.cleared(readClearedCaches(await configuration.store.settings.get(clearedCaches)));
    } catch (error) {
      log.warn('the store does not say which caches were cleared: it is asked again with its next change', {
        why: reasonOf(error),
      });
    }
  }

  const feed = createConfigurationFeed({
    store: configuration.store,
    clock: systemClock,
    log,
    running: configuration,
    load: createReader(surroundings, configuration.loaded),
    swap(next) {
      const reasons = app.swap(next.snapshot);
      if (reasons.length > 0) return reasons;
      accounting.follow(next.snapshot);
      onSwap(next);
      history?.swapped(next);
      return [];
    },
    keys: app.keys,
    onSettings(names) {
      if (names === undefined || names.includes(clearedCaches)) void forget();
    },
    onReload(faults) {
      metrics.reloaded(faults === undefined);
      history?.reloaded(faults);
    },
  });
  metrics.observe({ postern_config_revision: () => feed.revision });
  return feed;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** For a process that serves no clients, but must know their configuration. */
export function startFollowing(
  configuration: OpenConfiguration,
  surroundings: Surroundings,
  history: ReloadHistory,
  onSwap: (next: LoadedConfiguration) => void,
): ConfigurationFeed {
  let { snapshot } = configuration.loaded;
  return createConfigurationFeed({
    store: configuration.store,
    clock: systemClock,
    // The workers log the result.
    log: silent,
    running: configuration,
    load: createReader(surroundings, configuration.loaded),
    swap(next) {
      const reasons = needsRestart(snapshot, next.snapshot);
      if (reasons.length > 0) return reasons;
      snapshot = next.snapshot;
      onSwap(next);
      history.swapped(next);
      return [];
    },
    onReload: (faults) => history.reloaded(faults),
    keys: { changed: () => undefined, confirmed: () => undefined },
  });
}
