/** `postern serve`: runs the gateway until it is told to stop. */

import { ensureFirstKey, UnfitKeyError } from '../admission/first-key.ts';
import { createApp } from '../app.ts';
import { loadConfiguration } from '../config/load.ts';
import { watchConfiguration } from '../config/watch.ts';
import { systemClock } from '../lib/clock.ts';
import { openStore } from '../store/open-store.ts';
import { StoreError } from '../store/store-error.ts';
import { createLog } from '../telemetry/log.ts';
import { createProxyRule, type ProxyRule } from '../upstream/proxy-rule.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { printFaults } from './faults.ts';
import { UserFault } from './user-fault.ts';
import { firstKeyLines } from './welcome.ts';

const watchIntervalMs = 500;

export const serve: Command = {
  name: 'serve',
  summary: 'Runs the gateway; the default.',
  usage: 'serve [--config F]',
  options: { config: { type: 'string' } },
  run,
};

async function run(context: CommandContext): Promise<ExitCode> {
  const { env, cwd, families, stdout, stderr } = context;
  const configPath = typeof context.values.config === 'string' ? context.values.config : undefined;
  const loaded = await loadConfiguration({ configPath, env, cwd, families });
  if (!loaded.ok) {
    printFaults(loaded, stderr);
    return 1;
  }
  const { snapshot } = loaded;
  const proxyFor = readProxies(env);
  const store = await openStore(snapshot.store, { cwd }).catch((error: unknown) => {
    throw toUserFault(error);
  });
  const log = createLog(1);
  const app = createApp({ snapshot, store, log, clock: systemClock, proxyFor });
  const address = await app.listen().catch(async (error: unknown) => {
    await store.close();
    throw toListenError(error, snapshot.server.host, snapshot.server.port);
  });

  // After the port is ours: a key made before a failed start would have been shown to nobody.
  const firstKey = await ensureFirstKey({
    store: store.keys,
    fileKeyCount: snapshot.keys.size,
    posternKey: env.POSTERN_KEY,
  }).catch(async (error: unknown) => {
    await app.close();
    throw toUserFault(error);
  });

  const scheme = snapshot.server.tls === undefined ? 'http' : 'https';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const baseUrl = `${scheme}://${host}:${address.port}${snapshot.server.basePath}`;
  if (firstKey.kind === 'created') for (const line of firstKeyLines(baseUrl, firstKey.secret, snapshot)) stdout(line);
  log.info('listening', {
    address: address.address,
    port: address.port,
    base_url: baseUrl,
    config: loaded.file ?? 'embedded',
  });
  if (firstKey.kind === 'from-environment' && firstKey.weak) {
    log.warn('POSTERN_KEY is shorter than 24 characters: good enough to try things out, too weak to keep');
  }
  for (const notice of [...loaded.warnings, ...loaded.notices]) log.warn(notice);

  let { files } = loaded;
  // The same file to the end: where it is deleted, that is a fault, and the running configuration stays.
  const reload = async (): Promise<void> => {
    const next = await loadConfiguration({ configPath: loaded.file ?? configPath, env, cwd, families });
    if (!next.ok) {
      log.error('configuration not reloaded: the running one stays in force', { faults: next.faults });
      return;
    }
    const reasons = app.swap(next.snapshot);
    if (reasons.length > 0) {
      log.error('configuration not reloaded: restart to change these settings', { settings: reasons });
      return;
    }
    files = next.files;
    log.info('configuration reloaded', { models: next.snapshot.models.all.length });
    for (const notice of [...next.warnings, ...next.notices]) log.warn(notice);
  };
  // One after another: the one that was asked for last is the one in force.
  let reloading = Promise.resolve();
  const onChange = (): void => {
    reloading = reloading.then(reload);
  };
  const watch = watchConfiguration({ files: () => files, intervalMs: watchIntervalMs, onChange });
  process.on('SIGHUP', () => watch.check());

  const signal = await nextSignal();
  watch.stop();
  log.info('draining', { signal });
  void nextSignal().then((second) => {
    log.warn('stopping at once', { signal: second });
    log.flush();
    process.exit(1);
  });
  const complete = await app.drain();
  log.info('stopped', { complete });
  await app.close();
  log.flush();
  return 0;
}

function readProxies(env: CommandContext['env']): ProxyRule {
  try {
    return createProxyRule(env);
  } catch (error) {
    throw new UserFault(error instanceof Error ? error.message : String(error));
  }
}

function toUserFault(error: unknown): unknown {
  return error instanceof StoreError || error instanceof UnfitKeyError ? new UserFault(error.message) : error;
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

function toListenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new UserFault(
        `port ${port} on ${host} is taken; stop what listens there, or set server.port to another one`,
      );
    case 'EACCES':
      return new UserFault(`port ${port} on ${host} may not be used by this user; set server.port to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserFault(`${host} is no address of this machine; set server.host to one that is`);
    default:
      return error;
  }
}
