/** Puts together what operators work with: the admin API, who may use it, and the console's pages. One for each console listener. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createAdminApi } from './admin/api.ts';
import { nobody } from './admin/caller.ts';
import type { AdminContext, ConfigurationView } from './admin/context.ts';
import { endpoints } from './admin/endpoints/index.ts';
import type { LoadedConfiguration } from './config/load.ts';
import type { Family } from './core/family.ts';
import type { Store } from './core/store.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './telemetry/log.ts';

export interface AdministrationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly families: readonly Family[];
  /** The configuration in force. */
  current(): LoadedConfiguration;
  /** Where clients are served. */
  clientUrl(): string;
}

export interface Administration {
  /** Answers whatever is asked beside the pages of the listener itself. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export function openAdministration(deps: AdministrationDeps): Administration {
  const context: AdminContext = {
    store: deps.store,
    clock: deps.clock,
    log: deps.log,
    version: deps.version,
    families: deps.families,
    configuration: viewOf(deps.current),
    access: { identify: async () => nobody },
    clientUrl: deps.clientUrl,
  };
  const api = createAdminApi(endpoints, context);
  const listener = getRequestListener(
    (request, env) => api.fetch(request, { address: env.incoming.socket.remoteAddress ?? '' }),
    { overrideGlobalObjects: false },
  );
  return {
    answer: (request, response) => void listener(request, response),
    close: async () => undefined,
  };
}

function viewOf(current: () => LoadedConfiguration): ConfigurationView {
  return {
    snapshot: () => current().snapshot,
    file: () => current().file,
    warnings: () => [...current().warnings, ...current().notices],
  };
}
