/** Describes the effective configuration, without secrets, as `postern check` shows it. */

import { describeCaps } from '../../config/elements/caps.ts';
import type { LoadedConfiguration } from '../../config/load.ts';
import type { Price } from '../../core/accounting/price.ts';
import type { CustomModelSource } from '../../core/custom-route.ts';
import { type Label, labels } from '../../core/label.ts';
import { limitsOf, listOperations } from '../../core/lists.ts';
import { companionsOf, operationRows, operations } from '../../core/operations/index.ts';
import {
  type Model,
  offerKey,
  type ServerSettings,
  type Snapshot,
  type SocketSettings,
  type Target,
  type Timeouts,
  type Upstream,
} from '../../core/snapshot.ts';
import { toDollars } from '../../lib/money.ts';
import { fromBytes, fromMilliseconds } from '../../lib/quantities.ts';
import { priceColumns } from '../../prices/imported.ts';
import { ageText, listOf, type PriceOrigin } from '../../prices/listed.ts';
import { toExplicitTerms } from '../keys/key-words.ts';

export type Plan = ReturnType<typeof toPlan>;

export function toPlan({ snapshot, warnings, credentialCounts }: LoadedConfiguration) {
  const { server, ledger, log, console, alerts } = snapshot;
  return {
    server: {
      ...toAddresses(server),
      body_limit: fromBytes(server.bodyLimitBytes),
      body_memory: inMebibytes(server.bodyMemoryBytes),
      upload_limit: fromBytes(server.uploadLimitBytes),
      upload_disk: fromBytes(server.uploadDiskBytes),
      body_wait: fromMilliseconds(server.bodyWaitMs),
      max_header_size: fromBytes(server.maxHeaderBytes),
      max_connections: server.maxConnections,
      max_connections_per_address: server.maxConnectionsPerAddress ?? null,
      timeouts: {
        headers: fromMilliseconds(server.headersTimeoutMs),
        request: fromMilliseconds(server.requestTimeoutMs),
        keep_alive: fromMilliseconds(server.keepAliveTimeoutMs),
      },
      drain: { delay: fromMilliseconds(server.drain.delayMs), deadline: fromMilliseconds(server.drain.deadlineMs) },
      shedding: {
        loop_delay: fromMilliseconds(server.shedding.loopDelayMs),
        memory: inMebibytes(server.shedding.memoryBytes),
      },
      workers: server.workers,
      store: withoutSecrets(snapshot.store),
      redis: snapshot.redis === undefined ? null : withoutSecrets(snapshot.redis),
    },
    ledger: {
      journal: ledger.directory,
      durability: ledger.durability,
      journal_wait: ledger.journalWaitMs === undefined ? null : fromMilliseconds(ledger.journalWaitMs),
      retention: fromMilliseconds(ledger.retentionMs),
    },
    log: { level: log.level, format: log.format, fields: log.fields, access: toAccess(log), file: log.file ?? null },
    console: { address: `http://${hostInUrl(console.host)}:${console.port}`, token: console.token !== undefined },
    alerts: {
      // The path of a webhook is often a secret.
      webhooks: alerts.webhooks.map(({ url, secret }) => ({
        host: URL.parse(url)?.host ?? '',
        signed: secret !== undefined,
      })),
    },
    upstreams: [...snapshot.upstreams.values()].map((upstream) => ({
      id: upstream.id,
      family: upstream.family.id,
      options: toOptions(upstream),
      base_url: upstream.origin === undefined ? null : upstream.origin + upstream.pathPrefix,
      credentials:
        credentialCounts.get(upstream.id) === 0 ? [] : upstream.credentials.map(({ id, weight }) => ({ id, weight })),
      timeouts: toTimeouts(upstream),
      limits: {
        concurrency: upstream.limits.concurrency,
        ...(upstream.limits.auto && { min_concurrency: upstream.limits.auto.min }),
        queue: upstream.limits.queue,
        queue_timeout: fromMilliseconds(upstream.limits.queueTimeoutMs),
        ...describeCaps(upstream.caps).limits,
      },
      budgets: describeCaps(upstream.caps).budgets,
      tls: toTlsParts(upstream),
      health_check: toHealthCheck(upstream),
      endpoints: upstream.endpoints?.from ?? null,
      endpoint_zone: upstream.endpoints?.zone ?? [],
      screen: upstream.screen,
      not_screened: upstream.unscreened,
    })),
    models: snapshot.models.all.map((model) => ({
      id: model.id,
      aliases: model.aliases,
      operations: model.operations,
      visible: model.visible,
      space: model.space ?? (model.operations.includes('embeddings') ? 'each name its own' : null),
      scores: model.scores ?? (model.operations.includes('rerank') ? 'unknown' : null),
      balance: model.balance,
      retry: model.retry,
      hedge: toHedge(model),
      lists: toListPlan(model),
      usage: model.asksUsage ? 'ask' : 'pass',
      shape: model.shape ?? null,
      ...describeCaps(model.caps),
      targets: model.targets.map(({ upstream, model: name, bridge, priority, weight, price, scores }) => ({
        upstream: upstream.id,
        model: name,
        bridge: bridge ?? null,
        priority,
        weight,
        scores: scores === undefined ? null : (scores.scale ?? 'unknown'),
        price: toPrice(price, upstream, snapshot.createdAtS * 1000),
      })),
    })),
    routes: snapshot.customRoutes.map(({ path, method, offer, model, label }) => ({
      path,
      method,
      to: offer.path,
      model: toModelField(model),
      label,
    })),
    projects: [...snapshot.projects.values()].map((project) => ({
      id: project.id,
      name: project.name ?? null,
      ...describeCaps(project.caps),
    })),
    keys: [...snapshot.keys.values()].map((key) => ({
      id: key.id,
      expires: key.expiresAtMs === undefined ? null : new Date(key.expiresAtMs).toISOString(),
      ...toExplicitTerms(key),
    })),
    default_model: snapshot.defaultModels,
    notes: toNotes(snapshot),
    warnings,
  };
}

/** Suggests operations that go with those of a model, and that its targets offer although it does not serve them. */
function toNotes({ models }: Snapshot): string[] {
  const byNote = new Map<string, string[]>();
  for (const { id, operations: served, targets } of models.all) {
    const companions = companionsOf(served, (operation) =>
      targets.some(({ offers }) => labels.some((label) => offers.has(offerKey(label, operation)))),
    );
    for (const [of, missing] of Map.groupBy(companions, (one) => operationRows[one].companionOf)) {
      const note = `${of} without ${missing.join(' and ')}, which the targets offer; name them under operations where clients ask for them`;
      byNote.set(note, [...(byNote.get(note) ?? []), id]);
    }
  }
  return Array.from(
    byNote,
    ([note, ids]) =>
      `the model${ids.length === 1 ? '' : 's'} ${ids.join(', ')} serve${ids.length === 1 ? 's' : ''} ${note}`,
  );
}

/** Where the server listens: an address, a socket, or both. */
function toAddresses({ tls, host, port, basePath, socket }: ServerSettings) {
  const scheme = tls === undefined ? 'http' : 'https';
  return {
    ...(port !== undefined && { address: `${scheme}://${hostInUrl(host)}:${port}${basePath}` }),
    ...(socket !== undefined && { socket: toSocketText(socket) }),
  };
}

function toSocketText({ path, mode, owner, group, isTrusted }: SocketSettings): string {
  const facts = [
    `mode ${mode.toString(8).padStart(4, '0')}`,
    ...(owner === undefined ? [] : [`owner ${owner}`]),
    ...(group === undefined ? [] : [`group ${group}`]),
    ...(isTrusted ? ['trusted'] : []),
  ];
  return `${path}, ${facts.join(', ')}`;
}

/** A price in dollars, with its source; null where there is none. */
function toPrice(price: Price | undefined, upstream: Upstream, nowMs: number) {
  if (price === undefined) return null;
  const list = listOf(price);
  const amounts = Object.entries(priceColumns).flatMap(([name, field]): [string, string][] => {
    const nanos = price[field];
    return nanos === undefined ? [] : [[name, toDollars(nanos)]];
  });
  for (const [kind, nanos] of Object.entries(price.tools ?? {})) amounts.push([`tools.${kind}`, toDollars(nanos)]);
  const isFree = amounts.every(([, amount]) => amount === '0');
  return {
    ...(isFree ? { free: true } : Object.fromEntries(amounts)),
    source:
      list === undefined ? (upstream.origin === undefined ? 'made here' : 'configured') : datedSource(list, nowMs),
  };
}

const datedSource = ({ from, asOf }: PriceOrigin, nowMs: number): string =>
  `${from}, as of ${asOf}${ageText(asOf, nowMs)}`;

function withoutSecrets(address: string): string {
  const [scheme] = /^[a-z]+:\/\//i.exec(address) ?? [];
  if (scheme === undefined) return address;
  const url = URL.parse(address);
  // An invalid URL may have a password anywhere.
  return url === null ? `${scheme}...` : `${url.protocol}//${url.host}${url.pathname}`;
}

/** A size in whole MiB: limits that are a share of the memory are no round numbers. */
const inMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)}MiB`;

function toAccess({ access: { errors, share, slowMs } }: Snapshot['log']): string {
  if (share === 1) return 'all';
  if (!errors) return 'off';
  const further = [
    ...(slowMs === undefined ? [] : [`what takes ${fromMilliseconds(slowMs)}`]),
    ...(share === 0 ? [] : [`${share} of the others`]),
  ];
  return ['errors', ...further].join(', ');
}

function toOptions({ options: { base64: _, ...options } }: Upstream): Readonly<Record<string, string>> {
  return options;
}

/** Which TLS settings an upstream has; null where the platform's defaults apply. */
function toTlsParts({ tls }: Upstream) {
  if (tls === undefined) return null;
  const { ca, cert, key, serverName } = tls;
  return { ca: ca !== undefined, cert: cert !== undefined, key: key !== undefined, server_name: serverName ?? null };
}

/** The health check of an upstream, without its query, which may contain a key. */
function toHealthCheck({ healthCheck }: Upstream) {
  if (healthCheck === undefined) return null;
  const [path = '', query] = healthCheck.path.split('?', 2);
  return {
    path: query === undefined ? path : `${path}?...`,
    interval: fromMilliseconds(healthCheck.intervalMs),
    timeout: fromMilliseconds(healthCheck.timeoutMs),
  };
}

function toHedge({ hedge }: Model) {
  if (hedge === undefined) return null;
  return { after: hedge.afterMs === 'p95' ? hedge.afterMs : fromMilliseconds(hedge.afterMs) };
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The upstream's timeout for each phase of a call; operations with another value are named behind it. */
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

function toModelField(model: CustomModelSource): string {
  switch (model.from) {
    case 'field':
      return `field ${model.name}`;
    case 'header':
      return `header ${model.name}`;
    case 'path':
      return 'the path';
    case 'nowhere':
      return `always ${model.id}`;
  }
}

/** The list settings of a model: caching, coalescing, and the limits of each target. */
function toListPlan({ cache, dedupes = false, coalesce, targets, operations }: Model) {
  return {
    cache:
      cache === undefined
        ? null
        : {
            ttl: fromMilliseconds(cache.ttlMs),
            scope: cache.scope,
            max: fromBytes(cache.maxBytes),
            limits: cache.countsForLimits ? 'all' : 'asked',
          },
    dedupe: dedupes,
    coalesce:
      coalesce === undefined ? null : { window: fromMilliseconds(coalesce.windowMs), max_items: coalesce.maxItems },
    maxima: targets.flatMap((target) => maximaOf(target, operations)),
  };
}

/** The limits of a target for lists; an operation without a known limit is left out. */
function maximaOf(target: Target, operations: Model['operations']) {
  return operations
    .filter((operation) => listOperations.has(operation))
    .flatMap((operation) => {
      const offer = labels
        .map((label: Label) => target.offers.get(offerKey(label, operation)))
        .find((one) => one !== undefined);
      if (offer === undefined) return [];
      const { items, tokens, bytes } = limitsOf({ target, offer, lifted: false });
      if (items === undefined && tokens === undefined && bytes === undefined) return [];
      return [
        {
          upstream: target.upstream.id,
          operation,
          items: items ?? null,
          tokens: tokens ?? null,
          bytes: bytes === undefined ? null : fromBytes(bytes),
        },
      ];
    });
}
