/** Applies a changed configuration while running, completely or not at all. */

import { type ConfigurationFeed, createConfigurationFeed, needsRestart } from '../config/live/live.ts';
import { clearedCaches, readClearedCaches } from '../core/lists.ts';
import { systemClock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import { createReader, type OpenConfiguration } from './configuration.ts';
import type { Gateway } from './gateway.ts';
import type { ReloadHistory } from './reload-history.ts';
import type { Surroundings } from './surroundings.ts';

/** Starts reloading in a process that serves clients. */
export function startReloading(
  configuration: OpenConfiguration,
  { app, accounting, metrics }: Gateway,
  log: ProcessLog,
  surroundings: Surroundings,
  history?: ReloadHistory,
): ConfigurationFeed {
  /** Drops cached list items that are older than the last clearing of their cache. */
  async function forget(): Promise<void> {
    try {
      app.lists.cleared(readClearedCaches(await configuration.store.settings.get(clearedCaches)));
    } catch (error) {
      log.warn('cache clearing delayed', { reason: reasonOf(error) });
    }
  }

  const feed = createConfigurationFeed({
    ...sourceOf(configuration, surroundings),
    log,
    async swap(next) {
      const reasons = app.swap(next.snapshot);
      if (reasons.length > 0) return reasons;
      accounting.follow(next.snapshot);
      log.follow(next.snapshot.log);
      history?.swapped(next);
      await app.adopted();
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

/** Starts reloading in a process that serves no clients, but must know their configuration. */
export function startFollowing(
  configuration: OpenConfiguration,
  log: ProcessLog,
  surroundings: Surroundings,
  history: ReloadHistory,
): ConfigurationFeed {
  return createConfigurationFeed({
    ...sourceOf(configuration, surroundings),
    // The workers log the result.
    log: silent,
    swap(next) {
      const reasons = needsRestart(history.current().snapshot, next.snapshot);
      if (reasons.length > 0) return reasons;
      log.follow(next.snapshot.log);
      history.swapped(next);
      return [];
    },
    onReload: (faults) => history.reloaded(faults),
    keys: { changed: () => undefined, confirmed: () => undefined },
  });
}

const sourceOf = (configuration: OpenConfiguration, surroundings: Surroundings) => ({
  store: configuration.store,
  clock: systemClock,
  running: configuration,
  load: createReader(surroundings, configuration.loaded),
});
