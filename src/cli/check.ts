/** `postern check`: every fault of a configuration at once, or what it comes to. */

import { isAbsolute, relative } from 'node:path';
import { type LoadedConfiguration, loadConfiguration } from '../config/load.ts';
import { operations } from '../core/operation.ts';
import type { Timeouts, Upstream } from '../core/snapshot.ts';
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
      store: snapshot.store,
    },
    upstreams: [...snapshot.upstreams.values()].map((upstream) => ({
      id: upstream.id,
      family: upstream.family.id,
      base_url: upstream.origin === undefined ? null : upstream.origin + upstream.pathPrefix,
      credentials: credentialCounts.get(upstream.id) ?? 0,
      timeouts: toTimeouts(upstream),
    })),
    models: snapshot.models.all.map((model) => ({
      id: model.id,
      aliases: model.aliases,
      operations: model.operations,
      visible: model.visible,
      space: model.space ?? null,
      targets: model.targets.map(({ upstream, model: name }) => `${upstream.id}: ${name}`),
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
  const { timeouts, drain, ...single } = server;
  const settings = [
    ...Object.entries(single),
    ...Object.entries(timeouts).map(([name, value]) => [`timeouts.${name}`, value]),
    ...Object.entries(drain).map(([name, value]) => [`drain.${name}`, value]),
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
          String(credentials),
          ...(base_url === null ? [] : [connect, first_byte, idle, total]),
        ],
      ),
    ),
    ...section(
      ['MODEL', 'ALIASES', 'OPERATIONS', 'VISIBLE', 'SPACE', 'TARGETS'],
      models.map((model) => [
        model.id,
        inWords(model.aliases),
        inWords(model.operations),
        model.visible ? 'yes' : 'no',
        model.space ?? '-',
        inWords(model.targets),
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

const inWords = (items: readonly string[]): string => items.join(', ') || '-';

function section(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', ...toTable(head, rows)];
}
