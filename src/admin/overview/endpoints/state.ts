/** How the gateway is, what it is, and what an operator may want to look at. */

import { inTurns } from '../../../lib/turns.ts';
import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import { isSilent, readTargetReports } from '../../target-index.ts';
import { toAgreements } from '../agreements.ts';
import * as contract from '../contract/state.ts';
import { readFirstSteps } from '../first-steps.ts';
import { toTargets } from '../node-reports.ts';
import { backedUpKey, readBackup, readNotices } from '../notices.ts';
import { createRecently, type Recently } from '../recently.ts';

const keptMs = 2_000;
const recent = new WeakMap<AdminContext, Recently>();

function recentlyOf(context: AdminContext): Recently {
  const known = recent.get(context) ?? createRecently(context.clock, keptMs);
  recent.set(context, known);
  return known;
}

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

const getHealth = implement(contract.getHealth, ({ context }) =>
  recentlyOf(context)('health', () => readHealth(context)),
);

async function readHealth(context: AdminContext) {
  const { live, clock, configuration } = context;
  const [reports, state] = await Promise.all([readTargetReports(context), live.state()]);
  const nowMs = clock.nowMs();
  const snapshot = configuration.snapshot();
  return {
    targets: await inTurns(toTargets(snapshot, reports)),
    agreements: toAgreements(snapshot, reports.spoken),
    nodes: reports.all.map(({ node, reportedAtMs }) => ({
      id: node,
      lastSpokeAt: toInstant(reportedAtMs),
      isSilent: isSilent(reportedAtMs, nowMs),
    })),
    // It has just answered; the import may know better.
    store: { isUp: state.isStoreUp ?? true },
    journal: {
      bytes: state.journalBytes ?? null,
      rows: state.journalRows ?? null,
      oldestMs: state.journalOldestMs ?? null,
      isFailing: state.isJournalFailing,
    },
    redis: state.isRedisUp === undefined ? null : { isUp: state.isRedisUp, countingAlone: state.redisFallback },
    workers: state.workers,
    workerRestarts: state.workerRestarts,
    loopDelayMs: state.loopDelayMs ?? null,
  };
}

const getAbout = implement(
  contract.getAbout,
  async ({ context: { store, live, clock, instance, configuration, version, clientUrl } }) => {
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
        warnings: [...configuration.warnings()],
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
      docs: [...docs],
    };
  },
);

const getNotices = implement(contract.getNotices, async ({ context, caller }) => {
  const items = await recentlyOf(context)('notices', () => readNotices(context));
  const isOwner = caller.kind !== 'nobody' && caller.role === 'owner';
  return { items: isOwner ? [...(await readBackup(context)), ...items] : items };
});

const confirmBackup = implement(contract.confirmBackup, async ({ context: { store, instance }, caller }) => {
  const key = await instance.ownKey();
  if (key === undefined) throw new Problem('not_found', { detail: 'There is no secret key beside the database.' });
  await store.settings.set(backedUpKey, key.id, actorOf(caller));
  return undefined;
});

const getFirstSteps = implement(contract.getFirstSteps, ({ context }) =>
  recentlyOf(context)('first steps', () => readFirstSteps(context)),
);

export default [getHealth, getAbout, getNotices, confirmBackup, getFirstSteps];
