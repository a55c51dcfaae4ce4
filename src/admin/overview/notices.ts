/** Finds what the operator should attend to, and lists it with links, the worst first. */

import type * as z from 'zod';
import { toAccount } from '../../core/accounting/budget-account.ts';
import { type Budget, type Holder, holderKinds } from '../../core/caps.ts';
import type { UsageSums } from '../../core/store/ledger.ts';
import type { TargetState } from '../../core/target-state.ts';
import { inShort } from '../../lib/in-short.ts';
import { inBackground } from '../../lib/time-slices.ts';
import type { AdminContext } from '../context.ts';
import { createRecently } from '../recently.ts';
import { toInstant } from '../shapes/common.ts';
import { indexOf, readTargetReports, summaryOf } from '../target-index.ts';
import type { notice } from './contract/state.ts';

export type Notice = z.input<typeof notice>;

const dayMs = 86_400_000;
const expiresSoonMs = 7 * dayMs;
/** The share of a budget that causes a notice. */
export const budgetShare = 0.8;
/** Age of the oldest waiting journal row that causes a notice; rows normally reach the store within a second. */
const journalBehindMs = 10_000;
/** Age of the store's retention mark that causes a notice; it normally moves every hour. */
const heldBackMs = 3 * 3_600_000;
const mostOfAKind = 20;

/** What a rule says of a notice. By default it is about the settings, and without a time. */
type Facts = Omit<Notice, 'about' | 'at'> & Partial<Notice>;
type Found = Facts | readonly Facts[];

const toNotices = (found: Found): Notice[] =>
  [found].flat().map((one) => ({ about: { kind: 'settings', id: null }, at: null, ...one }));

const rank: Readonly<Record<Notice['severity'], number>> = { bad: 0, warning: 1, hint: 2 };

export async function readNotices(context: AdminContext): Promise<Notice[]> {
  const found = await Promise.all([
    readTargets(context),
    readSloNotices(context),
    readChangedModels(context),
    readProcess(context),
    readRetention(context),
    readBudgets(context),
    readUnpriced(context),
    readExpiring(context),
    readSecretKey(context),
    toWarnings(context),
    proposeDefaultModel(context),
  ]);
  return found
    .flatMap((found) => toNotices(found).slice(0, mostOfAKind))
    .sort((a, b) => rank[a.severity] - rank[b.severity]);
}

async function readTargets(context: AdminContext): Promise<Found> {
  const reports = await readTargetReports(context);
  const bad = reports.spoken.flatMap(({ targets }) => targets.filter(isBad));
  const targets = [...Map.groupBy(bad, nameOf).values()].flatMap(([first]) => {
    if (first === undefined) return [];
    const { upstream, model } = first;
    return { upstream, model, ...summaryOf(reports.byNode(upstream, model)) };
  });
  // One upstream's trouble with many models is one notice.
  const groups = Map.groupBy(targets, ({ upstream, state }) => `${state} ${upstream}`);
  return [...groups].map(([name, [first, ...others]]): Facts => {
    const { upstream = '', model = '', state, why = null } = first ?? {};
    const what = others.length === 0 ? model : `${others.length + 1} models`;
    return {
      id: `target ${name}`,
      kind: 'target',
      severity: 'bad',
      title: state === 'resting' ? `${upstream} is not called for ${what} at present` : `${upstream} fails for ${what}`,
      detail: why,
      about: { kind: 'upstream', id: upstream },
    };
  });
}

const isBad = ({ state }: TargetState): boolean => state === 'resting' || state === 'failing';

const nameOf = ({ upstream, model }: TargetState): string => `${upstream} ${model}`;

/** Models, by upstream, whose interactive requests miss their latency target on some node. */
export async function readMissedSlos(
  context: Pick<AdminContext, 'store' | 'clock'>,
): Promise<{ readonly upstream: string; readonly model: string }[]> {
  const { spoken } = await readTargetReports(context);
  const missed = spoken.flatMap(({ targets }) => targets.filter(({ isSloMissed }) => isSloMissed === true));
  return [...new Map(missed.map((target) => [nameOf(target), target])).values()];
}

async function readSloNotices(context: AdminContext): Promise<Found> {
  return (await readMissedSlos(context)).map(({ upstream, model }) => ({
    id: `slo ${upstream} ${model}`,
    kind: 'slo',
    severity: 'warning',
    title: `Interactive requests miss the latency target at ${upstream}`,
    detail: `More than one of ten requests for ${model} exceeds the latency in slo, although bulk has only one slot left. Give the upstream more capacity, or raise the latency.`,
    about: { kind: 'upstream', id: upstream },
  }));
}

/** Models whose vectors have changed, by the report of the first node that saw it. */
async function readChangedModels(context: AdminContext): Promise<Found> {
  const { models } = await indexOf(context.configuration.snapshot());
  const { all } = await readTargetReports(context);
  const changed = all
    .flatMap(({ drift }) => drift?.canaries ?? [])
    .filter(({ model, hasChanged }) => hasChanged && models.has(model));
  const groups = Map.groupBy(changed, ({ model, upstream }) => `${model} ${upstream}`);
  return [...groups].flatMap(([name, [first]]): Facts | [] => {
    if (first === undefined) return [];
    return {
      id: `changed ${name}`,
      kind: 'changed-model',
      severity: 'bad',
      title: `${first.upstream} has changed the model behind ${first.model}`,
      detail: 'The same texts now get different vectors: new vectors do not match those already in your index.',
      about: { kind: 'model', id: first.model },
    };
  });
}

async function readProcess({ live }: AdminContext): Promise<Found> {
  const state = await live.state();
  const all: readonly (Facts | false)[] = [
    state.isJournalFailing && {
      id: 'journal failing',
      kind: 'journal',
      severity: 'bad',
      title: 'The journal cannot be written, so no request is taken',
      detail: 'See whether the disk of ledger.directory is full or gone; the log says what failed.',
    },
    state.isStoreUp === false && {
      id: 'store down',
      kind: 'store',
      severity: 'bad',
      title: `Rows cannot be written to the store${rowsWait(state.journalRows)}`,
      detail:
        'Requests are still served, and their rows stay in the journal; see the log for the cause. Figures and budgets do not include these rows yet.',
    },
    (state.journalOldestMs ?? 0) > journalBehindMs &&
      !state.isJournalFailing && {
        id: 'journal behind',
        kind: 'journal',
        severity: 'warning',
        title: `The ledger is behind${rowsWait(state.journalRows)}`,
        detail: 'Rows wait in the journal for the store: figures of the last minutes are too low.',
      },
    state.isRedisUp === false && {
      id: 'redis down',
      kind: 'redis',
      severity: 'bad',
      title: 'Redis does not answer',
      detail: 'Each process applies limits on its own until Redis is back.',
    },
  ];
  return all.filter((one) => one !== false);
}

/** Reports that retention deletes nothing: the clock may have jumped ahead, which somebody must confirm first. */
async function readRetention({ store, clock }: AdminContext): Promise<Found> {
  const markMs = await store.ledger.readMark();
  if (markMs === undefined || clock.nowMs() - markMs <= heldBackMs) return [];
  return {
    id: 'retention held back',
    kind: 'store',
    severity: 'warning',
    title: 'Old rows are kept: the clock is ahead',
    detail: `The clock has jumped ahead of ${toInstant(markMs)}, the last time in the store. If the clock is right, run: postern ledger prune --confirm`,
  };
}

const rowsWait = (rows: number | undefined): string =>
  rows === undefined || rows === 0 ? '' : `: ${rows.toLocaleString('en')} ${rows === 1 ? 'row waits' : 'rows wait'}`;

type Spent = Pick<AdminContext, 'store' | 'series' | 'clock' | 'configuration'>;

export interface SpentBudget {
  readonly holder: NamedHolder;
  readonly budget: Budget;
  readonly spentNanos: number;
  readonly share: number;
  /** The end of the budget's period; undefined for a budget without a period. */
  readonly endsAtMs: number | undefined;
}

const recently = createRecently(3_000);

/** The budgets and what was spent of them, cached for a few seconds. */
export const readSpentBudgets = (context: Spent): Promise<readonly SpentBudget[]> =>
  recently(context, 'budgets', () => sumSpentBudgets(context));

/** Sums what was spent of each budget from the ledger: one query for each period and kind of holder. */
async function sumSpentBudgets(context: Spent): Promise<SpentBudget[]> {
  const { store, clock } = context;
  const nowMs = clock.nowMs();
  const sums = new Map<string, ReadonlyMap<string, UsageSums>>();
  const readSums = async (kind: Holder['kind'], fromMs: number) =>
    new Map((await store.ledger.usage({ fromMs }, [kind])).map((line) => [line.by[kind] ?? '', line.sums]));
  const found: SpentBudget[] = [];
  for (const holder of await listHolders(context)) {
    const { kind, id } = holder;
    for (const budget of holder.caps.budgets) {
      await inBackground.sliceIfOver();
      const { startsAtMs, endsAtMs } = toAccount(holder, budget, nowMs);
      const name = `${kind} ${startsAtMs}`;
      const byId = sums.get(name) ?? (await readSums(kind, startsAtMs));
      sums.set(name, byId);
      const spentNanos = Number(byId.get(id)?.costNanos ?? 0n);
      const share = budget.nanos === 0 ? 1 : spentNanos / budget.nanos;
      found.push({ holder, budget, spentNanos, share, endsAtMs: Number.isFinite(endsAtMs) ? endsAtMs : undefined });
    }
  }
  return found;
}

async function readBudgets(context: AdminContext): Promise<Found> {
  const nameOf = ({ kind, id, name = '' }: NamedHolder): string => `${kind} ${name || id}`;
  const near = (await readSpentBudgets(context)).filter(({ share }) => share >= budgetShare);
  return near.map(({ holder, budget, share, endsAtMs }) => ({
    id: `budget ${holder.kind} ${holder.id} ${budget.period}`,
    kind: 'budget',
    severity: share >= 1 ? 'bad' : 'warning',
    title:
      share >= 1
        ? `The budget of ${nameOf(holder)} is used up`
        : `The budget of ${nameOf(holder)} is ${Math.floor(share * 100)} % used`,
    detail: `Its budget ${budget.period === 'total' ? 'in total' : `of a ${budget.period}`}; requests beyond it are refused.`,
    about: { kind: holder.kind, id: holder.id },
    at: endsAtMs === undefined ? null : toInstant(endsAtMs),
  }));
}

/** A holder of a budget, with the name by which people know a key. */
type NamedHolder = Holder & { readonly name?: string };

async function listHolders({ store, configuration }: Spent): Promise<NamedHolder[]> {
  const { keys, projects, models, upstreams } = configuration.snapshot();
  const lists = {
    key: [...keys.values()],
    project: [...projects.values()],
    model: models.all,
    upstream: [...upstreams.values()],
  };
  const declared = holderKinds.flatMap((kind) => lists[kind].map(({ id, caps }) => ({ kind, id, caps })));
  const stored = (await store.keys.list()).filter(({ revokedAtMs }) => revokedAtMs === undefined);
  return [...declared, ...stored.map(({ id, name, caps }) => ({ kind: 'key' as const, id, name, caps }))];
}

/** Models with calls of unknown cost in the last day. */
async function readUnpriced({ store, clock }: AdminContext): Promise<Found> {
  const lines = await store.ledger.usage({ fromMs: clock.nowMs() - dayMs }, ['model', 'upstream'], 'unpriced');
  const unpriced = lines.sort((a, b) => b.sums.unpriced - a.sums.unpriced);
  const models = [...Map.groupBy(unpriced, ({ by }) => by.model ?? '')];
  const [[model, own] = ['', []]] = models;
  if (models.length === 0) return [];
  if (models.length > 1) {
    const names = models.map(([id]) => id || 'requests without a model');
    return {
      id: 'price',
      kind: 'price',
      severity: 'hint',
      title: `${models.length} models have no price`,
      detail: `Give them a price, or their targets: ${inShort(names, 3)}. Until then their requests count nothing in costs and budgets.`,
      about: { kind: 'model', id: null },
    };
  }
  const upstreams = own.flatMap(({ by }) => by.upstream || []);
  const targets = upstreams.length === 0 ? 'its targets' : `its targets (${upstreams.join(', ')})`;
  return {
    id: `price ${model}`,
    kind: 'price',
    severity: 'hint',
    title: `No price is known for ${model || 'some requests'}`,
    detail: `Give ${model || 'the model'} a price, or ${targets}: until then its requests count nothing in costs and budgets.`,
    about: { kind: 'model', id: model || null },
  };
}

async function readExpiring({ store, clock, configuration }: AdminContext): Promise<Found> {
  const nowMs = clock.nowMs();
  const declared = [...configuration.snapshot().keys.values()].map((key) => ({ ...key, name: '' }));
  return [...declared, ...(await store.keys.list())]
    .filter(({ revokedAtMs }) => revokedAtMs === undefined)
    .flatMap(({ id, name, expiresAtMs = 0 }) => (expiresAtMs > nowMs ? { id, name, expiresAtMs } : []))
    .filter(({ expiresAtMs }) => expiresAtMs - nowMs <= expiresSoonMs)
    .sort((a, b) => a.expiresAtMs - b.expiresAtMs)
    .map(({ id, name, expiresAtMs }) => ({
      id: `expiry ${id}`,
      kind: 'key-expiry',
      severity: 'warning',
      title: `The key ${name || id} expires soon`,
      detail: 'Its requests are refused from then on; extend it, or create another key.',
      about: { kind: 'key', id },
      at: toInstant(expiresAtMs),
    }));
}

/** Reminds owners to back up the encryption key: losing the machine loses the key, and everything that it encrypts. */
export async function readBackup({ store, instance }: AdminContext): Promise<Notice[]> {
  const key = await instance.ownKey();
  if (key === undefined || (await store.settings.get(backedUpKey)) === key.id) return [];
  return toNotices({
    id: 'secret key backup',
    kind: 'secret-key-backup',
    severity: 'warning',
    title: 'Keep a copy of the secret key',
    detail: `It is in ${key.file}. Without it the credentials in the store cannot be decrypted: copy it to your other secrets, separate from backups of the store.`,
  });
}

/** Name of the stored setting with the ID of the key that an owner has backed up. */
export const backedUpKey = 'secret_key_backed_up';

async function readSecretKey({ instance }: AdminContext): Promise<Found> {
  if (await instance.canSeal()) return [];
  return {
    id: 'secret key',
    kind: 'secret-key',
    severity: 'warning',
    title: 'Credentials cannot be kept in the store yet',
    detail: 'Set POSTERN_SECRET_KEY for every process, such as the output of "openssl rand -hex 32", and start again.',
  };
}

/** Suggests a default model for moderations, where OpenAI's clients need not name a model. */
function proposeDefaultModel({ configuration }: AdminContext): Found {
  const { models, defaultModels } = configuration.snapshot();
  if (defaultModels.moderations !== undefined) return [];
  const moderator = models.all.find(
    ({ id, visible, operations }) => visible && !id.includes('*') && operations.includes('moderations'),
  );
  if (moderator === undefined) return [];
  return {
    id: 'default model of moderations',
    kind: 'configuration',
    severity: 'hint',
    title: 'Moderations without a model are refused',
    detail: `Clients of OpenAI may omit the model there. To serve them, set default_model in the configuration file: { moderations: ${JSON.stringify(moderator.id)} }.`,
  };
}

function toWarnings({ configuration }: AdminContext): Found {
  const warnings = configuration.warnings();
  const [first, ...others] = warnings;
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` And ${others.length} more, under Settings, About this gateway.`;
  return {
    id: `configuration ${warnings.length} ${first}`,
    kind: 'configuration',
    severity: 'hint',
    title:
      others.length === 0 ? 'The configuration has a warning' : `The configuration has ${warnings.length} warnings`,
    detail: `${first}${more === '' || /[.!?]$/.test(first) ? '' : '.'}${more}`,
    about: { kind: 'settings', id: 'about' },
  };
}
