/** What an operator may want to look at, each with the place to act on it, the worst first. */

import type * as z from 'zod';
import { type Holder, holderKinds } from '../../core/caps.ts';
import type { UsageSums } from '../../core/store.ts';
import type { AdminContext } from '../context.ts';
import { shownForMs, toTargets } from '../node-reports.ts';
import { toInstant } from '../shapes/common.ts';
import type { notice } from '../shapes/state.ts';

export type Notice = z.input<typeof notice>;

const dayMs = 86_400_000;
const expiresSoonMs = 7 * dayMs;
/** Of a budget: from here on one wants to know. */
const budgetShare = 0.8;
/** Rows reach the store within a second where all is well. */
const journalBehindMs = 10_000;
const mostOfAKind = 20;

const rank: Readonly<Record<Notice['severity'], number>> = { bad: 0, warning: 1, hint: 2 };

export async function readNotices(context: AdminContext): Promise<Notice[]> {
  const found = await Promise.all([
    readTargets(context),
    readProcess(context),
    readBudgets(context),
    readUnpriced(context),
    readExpiring(context),
    readSecretKey(context),
    toWarnings(context),
  ]);
  return found.flatMap((items) => items.slice(0, mostOfAKind)).sort((a, b) => rank[a.severity] - rank[b.severity]);
}

async function readTargets({ store, clock, configuration }: AdminContext): Promise<Notice[]> {
  const nowMs = clock.nowMs();
  const targets = toTargets(configuration.snapshot(), await store.health.latest(shownForMs), nowMs);
  return targets.flatMap(({ upstream, model, state, why }): Notice[] => {
    if (state !== 'resting' && state !== 'failing') return [];
    const title =
      state === 'resting' ? `${upstream} is not called for ${model} just now` : `${upstream} fails for ${model}`;
    return [
      {
        id: `target ${upstream} ${model}`,
        kind: 'target',
        severity: 'bad',
        title,
        detail: why,
        about: { kind: 'upstream', id: upstream },
        at: null,
      },
    ];
  });
}

async function readProcess({ live }: AdminContext): Promise<Notice[]> {
  const state = await live.state();
  const about = { kind: 'settings', id: null } as const;
  const notices: Notice[] = [];
  if (state.isJournalFailing) {
    notices.push({
      id: 'journal failing',
      kind: 'journal',
      severity: 'bad',
      title: 'The journal cannot be written, so no request is taken',
      detail: 'See whether the disk of ledger.directory is full or gone; the log says what failed.',
      about,
      at: null,
    });
  }
  if (state.isStoreUp === false) {
    notices.push({
      id: 'store down',
      kind: 'store',
      severity: 'bad',
      title: 'The store does not answer',
      detail: 'Requests are still served, and written to the journal until it is back.',
      about,
      at: null,
    });
  }
  if ((state.journalOldestMs ?? 0) > journalBehindMs && !state.isJournalFailing) {
    notices.push({
      id: 'journal behind',
      kind: 'journal',
      severity: 'warning',
      title: 'The ledger is behind',
      detail: 'Requests wait in the journal to reach the store: figures of the last minutes are too low.',
      about,
      at: null,
    });
  }
  if (state.isRedisUp === false) {
    notices.push({
      id: 'redis down',
      kind: 'redis',
      severity: 'bad',
      title: 'Redis does not answer',
      detail: 'Each process counts limits on its own until it is back.',
      about,
      at: null,
    });
  }
  return notices;
}

/** By the sums of the ledger, a question for each period and kind of holder, however many there are. */
async function readBudgets(context: AdminContext): Promise<Notice[]> {
  const { store, clock, keyTerms, configuration } = context;
  const nowMs = clock.nowMs();
  const sums = new Map<string, Promise<ReadonlyMap<string, UsageSums>>>();
  const spentBy = (kind: Holder['kind'], fromMs: number): Promise<ReadonlyMap<string, UsageSums>> => {
    const name = `${kind} ${fromMs}`;
    const known = sums.get(name) ?? store.ledger.usage({ fromMs }, [kind]).then((lines) => toMap(lines, kind));
    sums.set(name, known);
    return known;
  };
  const holders = [...toHolders(configuration.snapshot()), ...(await storedHolders(context))];
  const notices = await Promise.all(
    holders.flatMap((holder) =>
      holder.caps.budgets.map(async (budget): Promise<Notice[]> => {
        const { startsAtMs, endsAtMs } = keyTerms.account(holder, budget, nowMs);
        const spent = Number((await spentBy(holder.kind, startsAtMs)).get(holder.id)?.costNanos ?? 0n);
        const share = budget.nanos === 0 ? 1 : spent / budget.nanos;
        if (share < budgetShare) return [];
        return [
          {
            id: `budget ${holder.kind} ${holder.id} ${budget.period}`,
            kind: 'budget',
            severity: share >= 1 ? 'bad' : 'warning',
            title:
              share >= 1
                ? `The budget of ${holder.kind} ${holder.id} is used up`
                : `The budget of ${holder.kind} ${holder.id} is ${Math.floor(share * 100)} % used`,
            detail: `Its ${periodWords[budget.period]}; what goes beyond is refused.`,
            about: { kind: holder.kind, id: holder.id },
            at: Number.isFinite(endsAtMs) ? toInstant(endsAtMs) : null,
          },
        ];
      }),
    ),
  );
  return notices.flat();
}

const periodWords = {
  day: 'budget of a day',
  week: 'budget of a week',
  month: 'budget of a month',
  total: 'budget in total',
} as const;

function toMap(
  lines: readonly { readonly by: Readonly<Partial<Record<string, string>>>; readonly sums: UsageSums }[],
  kind: Holder['kind'],
): ReadonlyMap<string, UsageSums> {
  return new Map(lines.map(({ by, sums }) => [by[kind] ?? '', sums]));
}

function toHolders(snapshot: ReturnType<AdminContext['configuration']['snapshot']>): Holder[] {
  const lists = {
    key: [...snapshot.keys.values()],
    project: [...snapshot.projects.values()],
    model: snapshot.models.all,
    upstream: [...snapshot.upstreams.values()],
  };
  return holderKinds.flatMap((kind) => lists[kind].map(({ id, caps }) => ({ kind, id, caps })));
}

async function storedHolders({ store }: AdminContext): Promise<Holder[]> {
  const keys = await store.keys.list();
  return keys.filter(({ revokedAtMs }) => revokedAtMs === undefined).map(({ id, caps }) => ({ kind: 'key', id, caps }));
}

/** Models that were called in the last day, and whose cost nobody knows. */
async function readUnpriced({ store, clock }: AdminContext): Promise<Notice[]> {
  const lines = await store.ledger.usage({ fromMs: clock.nowMs() - dayMs }, ['model', 'upstream']);
  const unpriced = lines.filter(({ sums }) => sums.unpriced > 0).sort((a, b) => b.sums.unpriced - a.sums.unpriced);
  const models = Map.groupBy(unpriced, ({ by }) => by.model ?? '');
  return [...models].map(([model, own]) => ({
    id: `price ${model}`,
    kind: 'price',
    severity: 'hint',
    title: `Nobody knows what ${model || 'some requests'} cost`,
    detail: `Give ${model || 'the model'} a price, or its targets (${own.map(({ by }) => by.upstream).join(', ')}): until then its requests count nothing in costs and budgets.`,
    about: { kind: 'model', id: model || null },
    at: null,
  }));
}

async function readExpiring({ store, clock, configuration }: AdminContext): Promise<Notice[]> {
  const nowMs = clock.nowMs();
  const stored = (await store.keys.list()).map(({ id, name, expiresAtMs, revokedAtMs }) => ({
    id,
    name,
    expiresAtMs,
    revokedAtMs,
  }));
  const declared = [...configuration.snapshot().keys.values()].map((key) => ({ ...key, name: '' }));
  return [...declared, ...stored]
    .flatMap(({ id, name, expiresAtMs, revokedAtMs }): (Notice & { readonly atMs: number })[] => {
      if (expiresAtMs === undefined || revokedAtMs !== undefined) return [];
      if (expiresAtMs <= nowMs || expiresAtMs - nowMs > expiresSoonMs) return [];
      return [
        {
          id: `expiry ${id}`,
          kind: 'key-expiry',
          severity: 'warning',
          title: `The key ${name || id} ends soon`,
          detail: 'Whoever uses it is refused from then on; give it more time, or make another one.',
          about: { kind: 'key', id },
          at: toInstant(expiresAtMs),
          atMs: expiresAtMs,
        },
      ];
    })
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs: _, ...one }) => one);
}

async function readSecretKey({ house }: AdminContext): Promise<Notice[]> {
  if (await house.canSeal()) return [];
  return [
    {
      id: 'secret key',
      kind: 'secret-key',
      severity: 'warning',
      title: 'Credentials cannot be kept in the store yet',
      detail:
        'Set POSTERN_SECRET_KEY for every process, such as the output of "openssl rand -hex 32", and start again.',
      about: { kind: 'settings', id: null },
      at: null,
    },
  ];
}

function toWarnings({ configuration }: AdminContext): Notice[] {
  return configuration.warnings().map((text) => ({
    id: `configuration ${text}`,
    kind: 'configuration',
    severity: 'hint',
    title: 'The configuration has a warning',
    detail: text,
    about: { kind: 'settings', id: null },
    at: null,
  }));
}
