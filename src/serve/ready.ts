/** What a start says once clients are served: the first key, the link to the console, where, and what the configuration has been noticed for. */

import { createLinks } from '../admin/access/links.ts';
import { ensureFirstKey, UnfitKeyError } from '../admission/first-key.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../core/store/store.ts';
import { UserFault } from '../core/user-fault.ts';
import type { Listening } from '../http/listener.ts';
import { systemClock } from '../lib/clock.ts';
import type { AdminListening } from './admin-listener.ts';
import type { Surroundings } from './surroundings.ts';
import { toClientUrl, toReachable } from './to-url.ts';
import { firstKeyLines, setUpLines } from './welcome.ts';

interface Start {
  readonly loaded: LoadedConfiguration;
  readonly store: Store;
  readonly listening: Listening;
  readonly admin: AdminListening;
  /** Processes that serve, where there are several. */
  readonly workers?: number;
}

/** Called when the port is ours: a key made before a failed start would have been shown to nobody. */
export async function sayReady(
  { loaded, store, listening, admin, workers }: Start,
  log: Log,
  { env, stdout }: Pick<Surroundings, 'env' | 'stdout'>,
): Promise<void> {
  const { snapshot } = loaded;
  const firstKey = await ensureFirstKey({
    store: store.keys,
    fileKeyCount: snapshot.keys.size,
    posternKey: env.POSTERN_KEY,
  }).catch((error: unknown) => {
    throw error instanceof UnfitKeyError ? new UserFault(error.message) : error;
  });
  const baseUrl = toClientUrl(snapshot, listening);
  if (firstKey.kind === 'created') {
    for (const line of firstKeyLines(toReachable(baseUrl), firstKey.secret, snapshot)) stdout(line);
  }
  if (admin.url !== undefined) {
    const base = snapshot.console.url ?? toReachable(admin.url);
    const setUp = await createLinks(store.invitations, systemClock).setUp(base, 'first start');
    if (setUp !== undefined) for (const line of setUpLines(setUp.link)) stdout(line);
  }
  log.info('listening', {
    address: listening.tcp?.address,
    port: listening.tcp?.port,
    socket: listening.socket,
    base_url: baseUrl,
    console: admin.url,
    workers,
    config: loaded.file ?? 'embedded',
  });
  if (firstKey.kind === 'from-environment' && firstKey.weak) {
    log.warn('POSTERN_KEY is shorter than 24 characters: good enough to try things out, too weak to keep');
  }
  for (const warning of loaded.warnings) log.warn(warning);
}
