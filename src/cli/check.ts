/** `postern check`: every fault of a configuration at once, or what it comes to. */

import { isAbsolute, relative } from 'node:path';
import { type LoadedConfiguration, loadConfiguration } from '../config/load.ts';
import { operations } from '../core/operation.ts';
import type { Model, ServerSettings, Timeouts, Upstream } from '../core/snapshot.ts';
import { fromBytes, fromMilliseconds } from '../lib/quantities.ts';
import type { Command } from './command.ts';
import { printFaults } from './faults.ts';
import { toTable } from './table.ts';

export const check: Command = {
  name: 'check',
  summary: 'Validates the configuration and prints what it comes to.',
  usage: 'check [--config F] [--json]',
  options: { config: { type: 'string' }, json: { type: 'boolean' } },
  async run({ values, env, cwd, families, stdout }) {
    const configPath = typeof values.config === 'string' ? values.config : undefined;
    const loaded = await loadConfiguration({ configPath, env, cwd, families });
    const file = loaded.file && fromHere(loaded.file, cwd);
    if (values.json === true) {
      const { ok } = loaded;
      const report = ok
        ? { ok, file: file ?? null, ...toPlan(loaded) }
        : { ok, file: file ?? null, faults: loaded.faults };
      stdout(JSON.stringify(report, null, 2));
    } else if (loaded.ok) {
      stdout(
        file === undefined ? 'There is no configuration file; the built-in configuration holds.' : `${file} is valid.`,
      );
      for (const line of toLines(toPlan(loaded))) stdout(line);
    } else {
      printFaults({ file, faults: loaded.faults }, stdout);
    }
    return loaded.ok ? 0 : 1;
  },
};

function fromHere(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

type Plan = ReturnType<typeof toPlan>;

/** What is configured, without secrets. */
function toPlan({ snapshot, warnings, notices, credentialCounts }: LoadedConfiguration) {
  const { server } = snapshot;
  return {
    server: {
      address: `${server.tls === undefined ? 'http' : 'https'}://${hostInUrl(server.host)}:${server.port}${server.basePath}`,
      body_limit: fromBytes(server.bodyLimitBytes),
      max_header_size: fromBytes(server.maxHeaderBytes),
      max_connections: server.maxConnections,
      timeouts: {
        headers: fromMilliseconds(server.headersTimeoutMs),
        request: fromMilliseconds(server.requestTimeoutMs),
        keep_alive: fromMilliseconds(server.keepAliveTimeoutMs),
      },
      drain: { delay: fromMilliseconds(server.drain.delayMs), deadline: fromMilliseconds(server.drain.deadlineMs) },
      shedding: toShedding(server),
      store: snapshot.store,
    },
    upstreams: [...snapshot.upstreams.values()].map((upstream) => ({
      id: upstream.id,
      family: upstream.family.id,
      options: toOptions(upstream),
      base_url: upstream.origin === undefined ? null : upstream.origin + upstream.pathPrefix,
      credentials: credentialCounts.get(upstream.id) === 0 ? [] : upstream.credentials.map(toCredential),
      timeouts: toTimeouts(upstream),
      limits: {
        concurrency: upstream.limits.concurrency,
        queue: upstream.limits.queue,
        queue_timeout: fromMilliseconds(upstream.limits.queueTimeoutMs),
      },
      tls: toTlsParts(upstream),
      health_check: toHealthCheck(upstream),
    })),
    models: snapshot.models.all.map((model) => ({
      id: model.id,
      aliases: model.aliases,
      operations: model.operations,
      visible: model.visible,
      space: toSpace(model),
      balance: model.balance,
      retry: model.retry,
      hedge: toHedge(model),
      targets: model.targets.map(({ upstream, model: name, bridge, priority, weight }) => ({
        upstream: upstream.id,
        model: name,
        bridge: bridge ?? null,
        priority,
        weight,
      })),
    })),
    keys: [...snapshot.keys.values()].map((key) => ({
      id: key.id,
      models: key.models,
      operations: key.operations ?? null,
      addresses: key.addresses ?? null,
      expires: key.expiresAtMs === undefined ? null : new Date(key.expiresAtMs).toISOString(),
    })),
    default_model: snapshot.defaultModels,
    warnings,
    notices,
  };
}

/** In whole MiB: what a percentage comes to is no round number. */
function toShedding({ shedding: { loopDelayMs, memoryBytes } }: ServerSettings) {
  return { loop_delay: fromMilliseconds(loopDelayMs), memory: `${Math.floor(memoryBytes / 1024 ** 2)}MiB` };
}

/** Those of the family; `base64` has a key of its own. */
function toOptions({ options: { base64: _, ...options } }: Upstream): Readonly<Record<string, string>> {
  return options;
}

const toCredential = ({ id, weight }: Upstream['credentials'][number]) => ({ id, weight });

/** Which parts are set; null where the platform's way is enough. */
function toTlsParts({ tls }: Upstream) {
  if (tls === undefined) return null;
  const { ca, cert, key, serverName } = tls;
  return { ca: ca !== undefined, cert: cert !== undefined, key: key !== undefined, server_name: serverName ?? null };
}

/** Without a query, which may hold a key. */
function toHealthCheck({ healthCheck }: Upstream) {
  if (healthCheck === undefined) return null;
  const [path = '', query] = healthCheck.path.split('?', 2);
  return {
    path: query === undefined ? path : `${path}?...`,
    interval: fromMilliseconds(healthCheck.intervalMs),
    timeout: fromMilliseconds(healthCheck.timeoutMs),
  };
}

/** An embeddings model without one is a pattern. */
function toSpace({ space, operations }: Model): string | null {
  return space ?? (operations.includes('embeddings') ? 'each name its own' : null);
}

function toHedge({ hedge }: Model) {
  if (hedge === undefined) return null;
  return { after: hedge.afterMs === 'p95' ? hedge.afterMs : fromMilliseconds(hedge.afterMs) };
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** One spelling for each phase; operations that differ from the others are named. */
function toTimeouts({ timeouts }: Upstream): Record<'connect' | 'first_byte' | 'idle' | 'total', string> {
  const spell = (phase: keyof Timeouts): string => {
    const common = timeouts.embeddings[phase];
    const others = operations.filter((operation) => timeouts[operation][phase] !== common);
    const differing = others.map((operation) => `; ${operation} ${fromMilliseconds(timeouts[operation][phase])}`);
    return fromMilliseconds(common) + differing.join('');
  };
  return {
    connect: spell('connectMs'),
    first_byte: spell('firstByteMs'),
    idle: spell('idleMs'),
    total: spell('totalMs'),
  };
}

function toLines({ server, upstreams, models, keys, default_model, warnings, notices }: Plan): string[] {
  const { timeouts, drain, shedding, ...single } = server;
  const settings = [
    ...Object.entries(single),
    ...Object.entries(timeouts).map(([name, value]) => [`timeouts.${name}`, value]),
    ...Object.entries(drain).map(([name, value]) => [`drain.${name}`, value]),
    ...Object.entries(shedding).map(([name, value]) => [`shedding.${name}`, value]),
    ...Object.entries(default_model).map(([operation, model]) => [`default_model.${operation}`, model]),
  ];
  return [
    ...section(
      ['SETTING', 'VALUE'],
      settings.map((row) => row.map(String)),
    ),
    ...section(
      ['UPSTREAM', 'FAMILY', 'BASE URL', 'CREDENTIALS', 'CONNECT', 'FIRST BYTE', 'IDLE', 'TOTAL'],
      upstreams.map(({ id, family, base_url, credentials, timeouts: { connect, first_byte, idle, total } }) =>
        // What needs no address has nothing to wait for.
        [
          id,
          family,
          base_url ?? '-',
          inNumbers(credentials),
          ...(base_url === null ? [] : [connect, first_byte, idle, total]),
        ],
      ),
    ),
    ...section(
      ['UPSTREAM', 'OPTIONS', 'CONCURRENCY', 'QUEUE', 'QUEUE TIMEOUT', 'TLS', 'HEALTH CHECK'],
      upstreams.map(({ id, options, limits: { concurrency, queue, queue_timeout }, tls, health_check: health }) => [
        id,
        inWords(Object.entries(options).map(([name, value]) => `${name} ${value}`)),
        String(concurrency),
        String(queue),
        queue_timeout,
        inWords(Object.entries(tls ?? {}).flatMap(([part, value]) => (value ? [part] : []))),
        health === null ? '-' : `${health.path} every ${health.interval}, within ${health.timeout}`,
      ]),
    ),
    ...section(
      ['MODEL', 'ALIASES', 'OPERATIONS', 'VISIBLE', 'SPACE', 'BALANCE', 'RETRY', 'HEDGE', 'TARGETS'],
      models.map((model) => [
        model.id,
        inWords(model.aliases),
        inWords(model.operations),
        model.visible ? 'yes' : 'no',
        model.space ?? '-',
        model.balance,
        `${model.retry.scope}, ${model.retry.attempts} attempts`,
        model.hedge === null ? '-' : `after ${model.hedge.after}`,
        inWords(model.targets.map(toTargetText)),
      ]),
    ),
    ...section(
      ['KEY', 'MODELS', 'OPERATIONS', 'ADDRESSES', 'EXPIRES'],
      keys.map((key) => [
        key.id,
        inWords(key.models),
        inWords(key.operations ?? ['all']),
        inWords(key.addresses ?? ['any']),
        key.expires ?? 'never',
      ]),
    ),
    ...(warnings.length + notices.length === 0 ? [] : ['']),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...notices.map((notice) => `notice: ${notice}`),
  ];
}

/** The weights only where they say something. */
function inNumbers(credentials: Plan['upstreams'][number]['credentials']): string {
  const weights = credentials.map(({ weight }) => weight);
  return `${weights.length}${new Set(weights).size > 1 ? ` (weights ${weights.join(', ')})` : ''}`;
}

function toTargetText({
  upstream,
  model,
  bridge,
  priority,
  weight,
}: Plan['models'][number]['targets'][number]): string {
  const unusual = [
    ...(bridge === null ? [] : [`bridge ${bridge}`]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
  ];
  return `${upstream}: ${model}${unusual.length === 0 ? '' : ` (${unusual.join(', ')})`}`;
}

const inWords = (items: readonly string[]): string => items.join(', ') || '-';

function section(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', ...toTable(head, rows)];
}
