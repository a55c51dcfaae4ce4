/** Puts a changed configuration in force while running, whole or not at all. */

import { type ConfigurationFeed, createConfigurationFeed } from '../config/live.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { CommandContext } from './command.ts';
import { createReader, type OpenConfiguration } from './configuration.ts';
import type { Gateway } from './gateway.ts';

export function startReloading(
  configuration: OpenConfiguration,
  { app, accounting, metrics }: Gateway,
  log: Log,
  context: CommandContext,
): ConfigurationFeed {
  const feed = createConfigurationFeed({
    store: configuration.store,
    clock: systemClock,
    log,
    running: configuration,
    load: createReader(context, configuration.loaded),
    swap(next) {
      const reasons = app.swap(next.snapshot);
      if (reasons.length === 0) accounting.follow(next.snapshot);
      return reasons;
    },
    keys: app.keys,
    onReload: metrics.reloaded,
  });
  metrics.observe({ configRevision: () => feed.revision });
  return feed;
}
