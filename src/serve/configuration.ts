/** Loads the configuration of a command: file and store combined. */

import type { RunningConfiguration } from '../config/live/live.ts';
import {
  type FaultyConfiguration,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfiguration,
} from '../config/load.ts';
import type { Element } from '../config/store/resources.ts';
import type { Resource } from '../core/store/resources.ts';
import type { Change, Store } from '../core/store/store.ts';
import { UserFault } from '../core/user-fault.ts';
import { migrations } from '../store/migrations.ts';
import { openStore, parseStoreUrl, readMissingMigrations, storeExists } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';
import type { Surroundings } from './surroundings.ts';

type Sources = Pick<Surroundings, 'configPath' | 'set' | 'env' | 'cwd' | 'families' | 'loadTakenPaths'> &
  Pick<LoadOptions, 'refusesUnknownVariables'>;

export interface OpenConfiguration extends RunningConfiguration {
  readonly ok: true;
  readonly store: Store;
}

/** An open store, and the configuration of store and file together; it may have faults, which the command is about to fix. */
export interface OpenResources {
  readonly ok: true;
  readonly store: Store;
  readonly whole: LoadedConfiguration | FaultyConfiguration;
  readonly resources: readonly Resource[];
  /** The store's last change before its resources were read. */
  readonly lastChange: Change | undefined;
}

export type OpenStore = (url: string) => Promise<Store>;

/** Opens a store for commands that only read: where there is none, none is created, and a UserFault says where it would be. */
export function openExisting({ cwd }: Pick<Surroundings, 'cwd'>): OpenStore {
  return async (url) => {
    const location = parseStoreUrl(url, cwd);
    if (location.kind === 'memory') {
      throw new UserFault('The store is in memory and ends with its process; other commands cannot look into it.');
    }
    if (location.kind === 'file' && !storeExists(url, { cwd })) {
      throw new UserFault(
        `There is no store at "${location.path}"; the first "postern serve" makes it. Is this the directory, and --config the file, of your gateway?`,
      );
    }
    return openCurrent(url, cwd);
  };
}

/** Opens a store without running migrations, as gateways of a former version may use it. A new store gets all tables. */
async function openCurrent(url: string, cwd: string): Promise<Store> {
  const missing = storeExists(url, { cwd }) ? await readMissingMigrations(url, { cwd }) : [];
  if (missing.length > 0 && missing.length < Object.keys(migrations).length) {
    throw new UserFault(
      `The store lacks the step "${missing[0]}" of this version; run "postern migrate", or use the version that serves from it.`,
    );
  }
  return openStore(url, { cwd });
}

/** Opens store and file; the caller closes the store. A missing store is created, unless the file has faults. Throws a StoreError. */
export async function openResources(
  surroundings: Sources,
  open: OpenStore = (url) => openCurrent(url, surroundings.cwd),
): Promise<OpenResources | FaultyConfiguration> {
  const alone = await loadWith(surroundings, []);
  if (alone.ok) return joinStore(surroundings, alone, alone.snapshot.store, open);
  // The store may hold what the file lacks.
  return isThere(alone.store, surroundings) ? joinStore(surroundings, alone, alone.store, open) : alone;
}

/** Opens store and file for commands that need a configuration without faults; `instead` may replace one that has some. */
export async function openConfiguration(
  surroundings: Sources,
  open?: OpenStore,
  instead = async (faulty: FaultyConfiguration): Promise<LoadedConfiguration | FaultyConfiguration> => faulty,
): Promise<OpenConfiguration | FaultyConfiguration> {
  const found = await openResources(surroundings, open);
  if (!found.ok) return found;
  const { store, whole, resources, lastChange } = found;
  const loaded = whole.ok ? whole : await instead(whole);
  if (loaded.ok) return { ok: true, store, loaded, resources, lastChange };
  await store.close();
  return loaded;
}

/** For commands that only read. Where store and file do not fit together, the file alone is used, so that keys can still be revoked. */
export function openLeniently(
  surroundings: Sources & Pick<Surroundings, 'stderr'>,
  open?: OpenStore,
): Promise<OpenConfiguration | FaultyConfiguration> {
  return openConfiguration(surroundings, open, async (whole) => {
    const alone = await loadWith(surroundings, []);
    if (!alone.ok) return whole;
    const [first] = whole.faults;
    const location = [first?.origin, first?.path].filter((part) => part !== undefined && part !== '').join(' ');
    surroundings.stderr(
      `postern: the resources in the store do not fit the file and are left out (${location}: ${first?.message})`,
    );
    return alone;
  });
}

/** Opens store and file for commands that only read; a missing store is not created, and the file is used alone. */
export async function openIfThere(
  surroundings: Sources,
): Promise<(RunningConfiguration & { readonly ok: true; readonly store?: Store }) | FaultyConfiguration> {
  const alone = await loadWith(surroundings, []);
  if (alone.ok && !isThere(alone.snapshot.store, surroundings))
    return { ok: true, loaded: alone, resources: [], lastChange: undefined };
  return openConfiguration(surroundings);
}

/** Reads the configuration again from the same file, which must exist. Started without a file, a new one in the working directory is used. */
export function createReader(
  surroundings: Sources,
  loaded: Pick<LoadedConfiguration, 'file'>,
): (resources: readonly Resource[], added?: readonly Element[]) => Promise<LoadedConfiguration | FaultyConfiguration> {
  let { file } = loaded;
  return async (resources, added) => {
    const next = await loadWith(surroundings, resources, file, added);
    if (next.ok) file ??= next.file;
    return next;
  };
}

async function joinStore(
  surroundings: Sources,
  alone: LoadedConfiguration | FaultyConfiguration,
  url: string,
  open: OpenStore,
): Promise<OpenResources> {
  const store = await open(url);
  try {
    // The last change first, so that none between the two is missed.
    const lastChange = await store.changes.latest();
    const resources = await store.resources.list();
    const whole = resources.length === 0 ? alone : await loadWith(surroundings, resources);
    return { ok: true, store, whole, resources, lastChange };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function isThere(url: string | undefined, { cwd }: Pick<Surroundings, 'cwd'>): url is string {
  try {
    return url !== undefined && storeExists(url, { cwd });
  } catch (error) {
    // An invalid store URL is a fault of the file, which reports it.
    if (error instanceof StoreError) return false;
    throw error;
  }
}

function loadWith(
  sources: Sources,
  resources: readonly Resource[],
  file = sources.configPath,
  added?: readonly Element[],
): Promise<LoadedConfiguration | FaultyConfiguration> {
  return loadConfiguration({ ...sources, configPath: file, resources, ...(added && { added }) });
}
