/** Reports, once clients are served: the first key, the set-up link of the console, the addresses, and warnings. */

import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createLinks } from '../admin/access/links.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Store } from '../core/store/store.ts';
import { UserFault } from '../core/user-fault.ts';
import type { Listening } from '../http/listener.ts';
import { ensureFirstKey, UnfitKeyError } from '../keys/first-key.ts';
import { systemClock } from '../lib/clock.ts';
import { reasonOf } from '../lib/thrown.ts';
import { parseStoreUrl } from '../store/open-store.ts';
import type { AdminListening } from './admin.ts';
import { toClientUrl, toReachable } from './listen-address.ts';
import type { Surroundings } from './surroundings.ts';
import { firstKeyLines, setUpFileLines, setUpLines } from './welcome.ts';

interface Start {
  readonly loaded: LoadedConfiguration;
  readonly store: Store;
  readonly listening: Listening;
  readonly admin: AdminListening;
  readonly workers?: number;
}

type Outlets = Pick<Surroundings, 'cwd' | 'env' | 'stdout' | 'terminal'>;

const keyAdvice = '"postern keys create" makes another one';

/** Reports a successful start. Called when the port is open: a key created before a failed start would never have been shown. */
export async function reportReady(
  { loaded, store, listening, admin, workers }: Start,
  log: Log,
  outlets: Outlets,
): Promise<void> {
  const { env } = outlets;
  const { snapshot } = loaded;
  const firstKey = await ensureFirstKey({
    store: store.keys,
    fileKeyCount: snapshot.keys.size,
    posternKey: env.POSTERN_KEY,
  }).catch((error: unknown) => {
    throw error instanceof UnfitKeyError ? new UserFault(error.message) : error;
  });
  const baseUrl = toClientUrl(snapshot, listening);
  const folder = secretsFolder(snapshot, outlets.cwd);
  const keyFile = join(folder, 'first-key');
  if (firstKey.kind === 'created') {
    await showFirstKey(firstKey.secret, { keyFile, baseUrl: toReachable(baseUrl), snapshot }, log, outlets);
  } else if (firstKey.kind === 'none' && snapshot.keys.size === 0) {
    const firstKeyFile = existsSync(keyFile) ? keyFile : undefined;
    log.info('API keys found in store', { first_key_file: firstKeyFile, advice: keyAdvice });
  }
  if (admin.url !== undefined) {
    const base = snapshot.console.url ?? toReachable(admin.url);
    const setUp = await createLinks(store.invitations, systemClock).setUp(base, 'first start');
    await showSetUp(setUp?.link, join(folder, 'setup-link'), log, outlets);
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
  if (firstKey.kind === 'from-environment' && firstKey.weak) log.warn('POSTERN_KEY too short', { min_length: 24 });
  for (const warning of loaded.warnings) log.warn('configuration warning', { warning });
}

/** The folder for files with secrets, which the process writes to anyway: that of the store's file, else that around the journal. */
function secretsFolder({ store, ledger }: Pick<Snapshot, 'store' | 'ledger'>, cwd: string): string {
  const location = parseStoreUrl(store, cwd);
  return location.kind === 'file' ? dirname(location.path) : resolve(cwd, ledger.directory, '..');
}

interface FirstKeyOutput {
  readonly keyFile: string;
  readonly baseUrl: string;
  readonly snapshot: Snapshot;
}

/** Prints the first key; where the output is collected in a log, which many can read for long, writes it into a file. */
async function showFirstKey(
  secret: string,
  { keyFile, baseUrl, snapshot }: FirstKeyOutput,
  log: Log,
  { env, stdout, terminal }: Outlets,
): Promise<void> {
  // systemd sets both for all processes of a session: a terminal shows that a person reads.
  const isCollected = terminal === undefined && (env.INVOCATION_ID ?? env.JOURNAL_STREAM) !== undefined;
  const { firstKey = isCollected ? 'file' : 'print' } = snapshot.server;
  if (firstKey === 'print') {
    for (const line of firstKeyLines({ secret }, baseUrl, snapshot)) stdout(line);
    return;
  }
  try {
    await writeSecret(keyFile, secret);
    for (const line of firstKeyLines({ file: keyFile }, baseUrl, snapshot)) stdout(line);
  } catch (error) {
    log.error('first API key not written', { reason: reasonOf(error), advice: keyAdvice });
  }
}

/** Shows the set-up link. If `link` is undefined, it was used already, and its file is deleted. */
async function showSetUp(
  link: string | undefined,
  file: string,
  log: Log,
  { stdout, terminal }: Outlets,
): Promise<void> {
  try {
    if (link === undefined) {
      await rm(file, { force: true });
      return;
    }
    await writeSecret(file, link);
    for (const line of setUpFileLines(file)) stdout(line);
  } catch (error) {
    const advice = '"postern members setup-link" makes a link';
    if (link !== undefined) log.error('console set-up link not written', { reason: reasonOf(error), advice });
  }
  if (link !== undefined && terminal !== undefined) for (const line of setUpLines(link)) terminal(line);
}

/** Writes a file that only its owner can read. An existing file is deleted first: it may have another mode, or be a link. */
async function writeSecret(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await rm(file, { force: true });
  await writeFile(file, `${text}\n`, { flag: 'wx', mode: 0o600 });
}
