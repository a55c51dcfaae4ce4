/** Implements the endpoints for the gateway's state, live samples of its metrics, and notices. */

import type * as z from 'zod';
import { bodyOf, canBeShown, operationRows, operationsAsOffered, pathOf } from '../../../core/operations/index.ts';
import type { ServerEvent } from '../../api/event-stream.ts';
import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { type Given, implement } from '../../implement.ts';
import { isConsoleKey } from '../../playground/gateway-calls.ts';
import { Problem } from '../../problem.ts';
import { createRecently } from '../../recently.ts';
import { toInstant, toShown } from '../../shapes/common.ts';
import { isSilent, readTargetReports } from '../../target-index.ts';
import type { firstSteps, liveEvent } from '../contract/state.ts';
import * as contract from '../contract/state.ts';
import type { LiveFrame } from '../live/sampler.ts';
import { toAgreements, toTargets } from '../node-reports.ts';
import { backedUpKey, readBackup, readNotices } from '../notices.ts';

const recently = createRecently(2_000);

const docs = [
  { title: 'Configuration', path: 'docs/reference/configuration.md' },
  { title: 'Routes', path: 'docs/reference/routes.md' },
  { title: 'Upstream families', path: 'docs/reference/families.md' },
  { title: 'Limits', path: 'docs/guides/limits.md' },
  { title: 'Budgets', path: 'docs/guides/budgets.md' },
  { title: 'Ledger', path: 'docs/reference/ledger.md' },
  { title: 'Reliability', path: 'docs/explanations/reliability.md' },
  { title: 'Metrics', path: 'docs/reference/metrics.md' },
  { title: 'Errors', path: 'docs/reference/errors.md' },
] as const;

const storeKinds = { memory: 'memory', file: 'sqlite', postgres: 'postgres' } as const;

export const getHealth = implement(contract.getHealth, ({ context }) =>
  recently(context, 'health', () => readHealth(context)),
);

async function readHealth(context: AdminContext) {
  const { live, clock, configuration } = context;
  const [reports, state] = await Promise.all([readTargetReports(context), live.state()]);
  const { journalBytes: bytes = null, journalRows: rows = null, journalOldestMs: oldestMs = null } = state;
  const nowMs = clock.nowMs();
  const snapshot = configuration.snapshot();
  return {
    targets: await toTargets(snapshot, reports),
    agreements: toAgreements(snapshot, reports.spoken),
    nodes: reports.all.map(({ node, reportedAtMs }) => ({
      id: node,
      lastSpokeAt: toInstant(reportedAtMs),
      isSilent: isSilent(reportedAtMs, nowMs),
    })),
    // It has just answered; the import may know more.
    store: { isUp: state.isStoreUp ?? true },
    journal: { bytes, rows, oldestMs, isFailing: state.isJournalFailing },
    redis: state.isRedisUp === undefined ? null : { isUp: state.isRedisUp, countingAlone: state.redisFallback },
    workers: state.workers,
    workerRestarts: state.workerRestarts,
    loopDelayMs: state.loopDelayMs ?? null,
  };
}

export const getAbout = implement(contract.getAbout, async ({ context }) => {
  const { store, live, clock, instance, configuration, version, clientUrl } = context;
  const [state, bytes, keys] = await Promise.all([live.state(), instance.storeBytes(), store.keys.list()]);
  const snapshot = configuration.snapshot();
  const stored = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined).length;
  return {
    version,
    runtime: instance.runtime,
    startedAt: toInstant(instance.startedAtMs),
    uptimeMs: Math.max(0, clock.nowMs() - instance.startedAtMs),
    clientUrl: clientUrl(),
    configuration: {
      file: configuration.file() ?? null,
      readAt: toInstant(snapshot.createdAtS * 1000),
      revision: state.revision ?? null,
      warnings: configuration.warnings(),
    },
    store: { kind: storeKinds[instance.storeKind()], bytes: bytes ?? null },
    workers: snapshot.server.workers,
    memoryBytes: state.memoryBytes ?? null,
    counts: {
      upstreams: snapshot.upstreams.size,
      models: snapshot.models.all.length,
      keys: snapshot.keys.size + stored,
      projects: snapshot.projects.size,
    },
    docs,
  };
});

export const getConfiguration = implement(contract.getConfiguration, ({ context: { configuration } }) => {
  const refused = configuration.refused();
  return {
    file: configuration.file() ?? null,
    readAt: toInstant(configuration.snapshot().createdAtS * 1000),
    refused: refused === undefined ? null : { at: toInstant(refused.atMs), faults: refused.faults.map(toShown) },
  };
});

export const getNotices = implement(contract.getNotices, async ({ context, caller }) => {
  const items = await recently(context, 'notices', () => readNotices(context));
  const isOwner = caller.kind !== 'nobody' && caller.role === 'owner';
  return { items: isOwner ? [...(await readBackup(context)), ...items] : items };
});

export const confirmBackup = implement(contract.confirmBackup, async ({ context: { store, instance }, caller }) => {
  const key = await instance.ownKey();
  if (key === undefined) throw new Problem('not_found', { detail: 'There is no secret key beside the database.' });
  await store.settings.set(backedUpKey, key.id, actorOf(caller));
});

export const getFirstSteps = implement(contract.getFirstSteps, ({ context }) =>
  recently(context, 'first steps', () => readFirstSteps(context)),
);

/** Limit of events that wait for a slow reader; older events are dropped as useless. */
const mostWaiting = 30;

export const getLive = implement(contract.getLive, ({ context, caller, headers, signal }) =>
  context.streams.open({ caller, headers, signal, context }, 'viewer', (over) => follow(context.live, over)),
);

const toEvent = (data: Given<z.input<typeof liveEvent>>): ServerEvent => ({ data });

async function* follow(live: AdminContext['live'], signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const waiting: LiveFrame[] = [];
  let wake: () => void = () => undefined;
  const watch = live.watch((frame) => {
    if (waiting.length >= mostWaiting) waiting.shift();
    waiting.push(frame);
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    yield toEvent({ isHistory: true, samples: watch.history, upstreams: watch.upstreams, isBehind: false });
    while (!signal.aborted) {
      const frame = waiting.shift();
      if (frame === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { sample, upstreams } = frame;
      const samples = sample === undefined ? [] : [sample];
      yield toEvent({ isHistory: false, samples, upstreams, isBehind: sample === undefined });
    }
  } finally {
    watch.close();
  }
}

const spanMs = 30 * 86_400_000;

/** Which of the first steps have been done: a key, a first request, a first try in the Playground. */
async function readFirstSteps(context: AdminContext): Promise<z.input<typeof firstSteps>> {
  const { store, clock, configuration } = context;
  const snapshot = configuration.snapshot();
  const [keys, lines] = await Promise.all([
    store.keys.list(),
    store.ledger.usage({ fromMs: clock.nowMs() - spanMs }, ['key']),
  ]);
  const own = new Set(keys.filter(isConsoleKey).map(({ id }) => id));
  const works = keys.filter(({ id, revokedAtMs }) => !own.has(id) && revokedAtMs === undefined);
  const count = (isOwn: boolean): number =>
    lines.reduce((sum, { by, sums }) => (own.has(by.key ?? '') === isOwn ? sum + sums.requests : sum), 0);
  return {
    hasKey: works.length > 0 || snapshot.keys.size > 0,
    requests: count(false),
    tries: count(true),
    sample: toSample(context),
  };
}

function toSample({ configuration }: AdminContext): z.input<typeof firstSteps>['sample'] {
  const models = configuration.snapshot().models.all.filter(({ id, visible }) => visible && !id.includes('*'));
  for (const operation of operationsAsOffered) {
    const model = models.find(({ operations }) => operations.includes(operation));
    if (model === undefined || !canBeShown(operation)) continue;
    const { sample } = operationRows[operation];
    return { path: pathOf(operation, model.id), body: JSON.stringify(bodyOf(operation, model.id, sample.body)) };
  }
  return null;
}
