/** Puts a changed configuration in force while running, whole or not at all. */

import { type ConfigurationFeed, createConfigurationFeed } from '../config/live/live.ts';
import { needsRestart } from '../config/live/restart.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import { systemClock } from '../lib/clock.ts';
import { createReader, type OpenConfiguration } from './configuration.ts';
import type { Gateway } from './gateway.ts';
import type { Surroundings } from './surroundings.ts';

export function startReloading(
  configuration: OpenConfiguration,
  { app, accounting, metrics }: Gateway,
  log: Log,
  surroundings: Surroundings,
  onSwap: (next: LoadedConfiguration) => void = () => undefined,
): ConfigurationFeed {
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
      return [];
    },
    keys: app.keys,
    onReload: metrics.reloaded,
  });
  metrics.observe({ configRevision: () => feed.revision });
  return feed;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** For a process that serves no clients, and has to know what those that do go by. */
export function startFollowing(
  configuration: OpenConfiguration,
  surroundings: Surroundings,
  onSwap: (next: LoadedConfiguration) => void,
): ConfigurationFeed {
  let { snapshot } = configuration.loaded;
  return createConfigurationFeed({
    store: configuration.store,
    clock: systemClock,
    // The workers say what becomes of it.
    log: silent,
    running: configuration,
    load: createReader(surroundings, configuration.loaded),
    swap(next) {
      const reasons = needsRestart(snapshot, next.snapshot);
      if (reasons.length > 0) return reasons;
      snapshot = next.snapshot;
      onSwap(next);
      return [];
    },
    keys: { changed: () => undefined, confirmed: () => undefined },
  });
}
