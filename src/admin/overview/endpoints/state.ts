/** How the gateway is, what it is, and what an operator may want to look at. */

import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import { about, firstSteps, health, notices } from '../contract/state.ts';
import { readFirstSteps } from '../first-steps.ts';
import { isSilent, shownForMs, toTargets } from '../node-reports.ts';
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
  { title: 'Configuration', path: 'docs/configuration.md' },
  { title: 'Routes', path: 'docs/routes.md' },
  { title: 'Upstream families', path: 'docs/families.md' },
  { title: 'Limits', path: 'docs/limits.md' },
  { title: 'Budgets', path: 'docs/budgets.md' },
  { title: 'Ledger', path: 'docs/ledger.md' },
  { title: 'Reliability', path: 'docs/reliability.md' },
  { title: 'Metrics', path: 'docs/metrics.md' },
  { title: 'Errors', path: 'docs/errors.md' },
] as const;

const storeKinds = { memory: 'memory', file: 'sqlite', postgres: 'postgres' } as const;

export const getHealth = defineEndpoint({
  method: 'GET',
  path: '/api/health',
  summary: 'Say how every target is, over all nodes, and how store, journal and Redis are',
  tag: 'Overview',
  needs: 'viewer',
  answer: health,
  run: ({ context }) => recentlyOf(context)('health', () => readHealth(context)),
});

async function readHealth({ store, live, clock, configuration }: AdminContext) {
  const [reports, state] = await Promise.all([store.health.latest(shownForMs), live.state()]);
  const nowMs = clock.nowMs();
  const snapshot = configuration.snapshot();
  return {
    targets: toTargets(snapshot, reports, nowMs),
    nodes: reports.map(({ node, reportedAtMs }) => ({
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

export const getAbout = defineEndpoint({
  method: 'GET',
  path: '/api/about',
  summary: 'Say which version runs, since when, on what, and by which configuration',
  tag: 'Overview',
  needs: 'viewer',
  answer: about,
  async run({ context: { store, live, clock, house, configuration, version, clientUrl } }) {
    const [state, bytes, keys] = await Promise.all([live.state(), house.storeBytes(), store.keys.list()]);
    const snapshot = configuration.snapshot();
    const stored = keys.filter(({ revokedAtMs }) => revokedAtMs === undefined).length;
    return {
      version,
      runtime: house.runtime,
      startedAt: toInstant(house.startedAtMs),
      uptimeMs: Math.max(0, clock.nowMs() - house.startedAtMs),
      clientUrl: clientUrl(),
      configuration: {
        file: configuration.file() ?? null,
        readAt: toInstant(snapshot.createdAtS * 1000),
        revision: state.revision ?? null,
        warnings: [...configuration.warnings()],
      },
      store: { kind: storeKinds[house.storeKind()], bytes: bytes ?? null },
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
});

export const getNotices = defineEndpoint({
  method: 'GET',
  path: '/api/notices',
  summary: 'List what an operator may want to look at, the worst first',
  tag: 'Overview',
  needs: 'viewer',
  answer: notices,
  async run({ context, caller }) {
    const items = await recentlyOf(context)('notices', () => readNotices(context));
    const isOwner = caller.kind !== 'nobody' && caller.role === 'owner';
    return { items: isOwner ? [...(await readBackup(context)), ...items] : items };
  },
});

export const confirmBackup = defineEndpoint({
  method: 'POST',
  path: '/api/notices/secret-key-backup',
  summary: 'Say that there is a copy of the secret key elsewhere, so that nobody is reminded of it',
  tag: 'Overview',
  needs: 'owner',
  async run({ context: { store, house }, caller }) {
    const key = await house.ownKey();
    if (key === undefined) throw new Problem('not_found', { detail: 'There is no secret key beside the database.' });
    await store.settings.set(backedUpKey, key.id, actorOf(caller));
    return undefined;
  },
});

export const getFirstSteps = defineEndpoint({
  method: 'GET',
  path: '/api/first-steps',
  summary: 'Say how far a new gateway has come: a key, a first request, a first try in the Playground',
  tag: 'Overview',
  needs: 'viewer',
  answer: firstSteps,
  run: ({ context }) => recentlyOf(context)('first steps', () => readFirstSteps(context)),
});
