/** Derives the state of targets and upstreams from their recent calls, with the numbers as evidence. */

import type * as z from 'zod';
import type { Snapshot } from '../../core/snapshot.ts';
import { type SeriesAnswer, type SeriesFigures, type SeriesLine, wholeStretch } from '../../core/store/series.ts';
import { inBackground } from '../../lib/time-slices.ts';
import type { AdminContext } from '../context.ts';
import { createRecently } from '../recently.ts';
import { toInstant } from '../shapes/common.ts';
import { readTargetReports, type TargetReports, worstOf } from '../target-index.ts';
import { byName } from '../traffic.ts';
import { type shownStates, type shownTarget, type shownUpstream, stateRule } from './contract/series.ts';

type ShownState = (typeof shownStates)[number];
type ShownTarget = z.input<typeof shownTarget>;
type ShownUpstream = z.input<typeof shownUpstream>;
type Evidence = ShownTarget['evidence'];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const weekMs = 7 * 24 * hourMs;
/** How far back the beginning of a state is looked for. */
const lookBackMs = 6 * hourMs;
/** How long the figures of the past week are cached; they change slowly. */
const weekKeptMs = 10 * minuteMs;
const keptMs = 5_000;
const mostLines = 100_000;
const mostExplained = 20;
const mostNamed = 5;

export interface States {
  readonly atMs: number;
  readonly targets: readonly ShownTarget[];
  readonly upstreams: readonly ShownUpstream[];
  readonly shown: ShownIndex;
}

export interface ShownIndex {
  ofTarget(model: string, upstream: string): ShownState;
  ofUpstream(id: string): Pick<ShownUpstream, 'state' | 'cause'>;
}

const rank: Readonly<Record<ShownState, number>> = { failing: 0, cooldown: 1, degraded: 2, untested: 3, healthy: 4 };

type Stated = Pick<AdminContext, 'series' | 'store' | 'configuration' | 'clock'>;

const recently = createRecently(keptMs);
const recentWeek = createRecently(weekKeptMs);

/** The states of all targets and upstreams, cached for a few seconds. */
export const readStates = (context: Stated): Promise<States> => recently(context, 'states', () => findStates(context));

const query: typeof wholeStretch = { ...wholeStretch, by: ['model', 'upstream'], top: mostLines };

async function findStates(context: Stated): Promise<States> {
  const { series, clock, configuration } = context;
  const atMs = clock.nowMs();
  const fromMs = atMs - stateRule.windowMs;
  const [recent, ofUpstreams, [week, weekOfUpstreams], reports] = await Promise.all([
    series.read({ ...query, fromMs, toMs: atMs }),
    series.read({ ...query, by: ['upstream'], fromMs, toMs: atMs }),
    readWeek(context, fromMs),
    readTargetReports(context),
  ]);
  const snapshot = configuration.snapshot();
  const lines = await byTarget(snapshot, recent.lines);
  const before = await byTarget(snapshot, week.lines);
  const seconds = (atMs - recent.fromMs) / 1_000;
  const { targets, byTarget: shownTargets } = await stateTargets(snapshot, { lines, before, reports, seconds });
  const all = { lines: byName(ofUpstreams.lines), before: byName(weekOfUpstreams.lines), reports, seconds };
  const upstreams = await stateUpstreams(snapshot, targets, all);
  // Cause and beginning only for the first of them, as each takes a query.
  const firstBad = <T extends ShownTarget | ShownUpstream>(shown: readonly T[]): T[] =>
    shown.filter(({ state }) => rank[state] <= rank.degraded).slice(0, mostExplained);
  await Promise.all(firstBad(targets).map((one) => explain(context, one, atMs)));
  await Promise.all(
    firstBad(upstreams).map(async (one) => {
      await explain(context, one, atMs);
      blame(one, targets);
    }),
  );
  const byId = new Map(upstreams.map((upstream) => [upstream.id, upstream] as const));
  const shown: ShownIndex = {
    ofTarget: (model, upstream) => shownTargets.get(nameOf(model, upstream)) ?? untested.state,
    ofUpstream: (id) => byId.get(id) ?? untested,
  };
  return { atMs, targets, upstreams, shown };
}

const untested = { state: 'untested', cause: null } as const;

/** The figures of the past week, by target and by upstream. */
function readWeek(context: Stated, toMs: number): Promise<readonly [SeriesAnswer, SeriesAnswer]> {
  const hour = Math.floor(toMs / hourMs) * hourMs;
  const asked = { ...query, fromMs: hour - weekMs, toMs: hour };
  return recentWeek(context, 'week', () =>
    Promise.all([context.series.read(asked), context.series.read({ ...asked, by: ['upstream'] })]),
  );
}

const nameOf = (model: string, upstream: string): string => `${model}\0${upstream}`;

/** Figures by target. Of all models that match one pattern, the one with the most requests supplies the latency. */
async function byTarget(
  { models }: Snapshot,
  lines: readonly SeriesLine[],
): Promise<ReadonlyMap<string, SeriesFigures>> {
  const found = new Map<string, SeriesFigures>();
  await inBackground.inSlices(lines, ({ names: [model = '', upstream = ''], isOthers, figures }) => {
    if (isOthers || upstream === '') return;
    const name = nameOf(models.resolve(model)?.model.id ?? model, upstream);
    const other = found.get(name);
    found.set(name, other === undefined ? figures : together(other, figures));
  });
  return found;
}

function together(one: SeriesFigures, other: SeriesFigures): SeriesFigures {
  const busier = one.requests >= other.requests ? one : other;
  return {
    ...busier,
    requests: one.requests + other.requests,
    attempts: one.attempts + other.attempts,
    failedAttempts: one.failedAttempts + other.failedAttempts,
  };
}

interface Facts {
  readonly lines: ReadonlyMap<string, SeriesFigures>;
  readonly before: ReadonlyMap<string, SeriesFigures>;
  readonly reports: TargetReports;
  readonly seconds: number;
}

/** The states of all targets, each with the worst state of its model at that upstream, which may serve it under several names. */
async function stateTargets({ models }: Snapshot, { lines, before, reports, seconds }: Facts) {
  const byTarget = new Map<string, ShownState>();
  const called = models.all.values().flatMap(({ id, targets: own }) =>
    own
      .values()
      .filter(({ weight }) => weight > 0)
      .map((target) => [id, target] as const),
  );
  const targets = await inBackground.inSlices(called, ([id, { upstream, model }]): ShownTarget => {
    const name = nameOf(id, upstream.id);
    const said = reports.of(upstream.id, model);
    const { state: reported } = worstOf(said);
    const evidence = toEvidence(lines.get(name), before.get(name), seconds);
    const state = stateOf(evidence, lines.get(name)?.duration?.count ?? 0, reported);
    const other = byTarget.get(name);
    if (other === undefined || rank[state] < rank[other]) byTarget.set(name, state);
    return {
      ...{ model: id, upstream: upstream.id, upstreamModel: model, state, reported, evidence },
      cooldownMs: Math.max(0, ...said.map(({ restsForMs }) => restsForMs)),
      cause: causeOf(state, evidence, { why: said.find(({ why }) => why !== undefined)?.why }),
    };
  });
  targets.sort((a, b) => rank[a.state] - rank[b.state] || b.evidence.attempts - a.evidence.attempts);
  return { targets, byTarget };
}

const noCalls = { attempts: 0, failedAttempts: 0, duration: undefined } as const;

function toEvidence(
  recent: Pick<SeriesFigures, 'attempts' | 'failedAttempts' | 'duration'> = noCalls,
  before: Pick<SeriesFigures, 'duration'> = noCalls,
  seconds: number,
): Evidence {
  const { attempts, failedAttempts, duration } = recent;
  return {
    attempts,
    failedAttempts,
    successShare: attempts === 0 ? null : 1 - failedAttempts / attempts,
    p95Ms: duration?.p95 ?? null,
    topCode: null,
    weekP95Ms: (before.duration?.count ?? 0) >= stateRule.leastOfWeek ? (before.duration?.p95 ?? null) : null,
    requestsPerSecond: attempts / seconds,
    since: null,
  };
}

function stateOf(evidence: Evidence, measured: number, reported: ShownTarget['reported']): ShownState {
  const { attempts, successShare, p95Ms, weekP95Ms } = evidence;
  if (reported === 'resting') return 'cooldown';
  if (reported === 'failing') return 'failing';
  const isJudged = successShare !== null && attempts >= stateRule.leastAttempts;
  if (isJudged && successShare <= stateRule.failingShare) return 'failing';
  if (isJudged && successShare < stateRule.successShare) return 'degraded';
  if (isSlow(p95Ms, weekP95Ms) && measured >= stateRule.leastMeasured) return 'degraded';
  if (attempts > 0 || reported === 'healthy') return 'healthy';
  return 'untested';
}

const isSlow = (p95Ms: number | null, weekP95Ms: number | null): boolean =>
  p95Ms !== null && weekP95Ms !== null && p95Ms > weekP95Ms * stateRule.slower;

/** The cause of a state as a sentence. `model`: which model's calls are meant, where the sentence is about an upstream. */
function causeOf(
  state: ShownState,
  evidence: Evidence,
  { why, model }: { readonly why?: string | undefined; readonly model?: string } = {},
): string | null {
  const { attempts, failedAttempts, p95Ms, weekP95Ms, topCode } = evidence;
  if (state === 'healthy' || state === 'untested') return null;
  if (isFailingOften(evidence)) {
    const mostly = topCode === null ? '' : `, mostly ${wordsOf(topCode)}`;
    const calls = model === undefined ? 'calls' : `calls for ${model}`;
    return `${Math.round((failedAttempts / attempts) * 100)} % of ${calls} fail${mostly}`;
  }
  if (isSlow(p95Ms, weekP95Ms)) {
    const what = model === undefined ? 'p95' : `p95 of ${model}`;
    return `${what} is ${toDuration(p95Ms)}, against ${toDuration(weekP95Ms)} over the week before`;
  }
  return why === undefined ? 'No call is answered' : `No call is made: ${why}`;
}

export const isFailingOften = ({ successShare }: Pick<Evidence, 'successShare'>): boolean =>
  successShare !== null && successShare < stateRule.successShare;

const showsTrouble = (evidence: Evidence): boolean =>
  isFailingOften(evidence) || isSlow(evidence.p95Ms, evidence.weekP95Ms);

const wordsOf = ({ kind, code }: NonNullable<Evidence['topCode']>): string => code || kind;

function toDuration(ms: number | null): string {
  if (ms === null) return 'unknown';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** The states of all upstreams: each has the state of its worst target in use, and the figures of all its calls. */
async function stateUpstreams(
  { upstreams }: Snapshot,
  targets: readonly ShownTarget[],
  { lines, before, seconds }: Facts,
): Promise<ShownUpstream[]> {
  const grouped = Map.groupBy(targets, ({ upstream }) => upstream);
  const shown = await inBackground.inSlices(upstreams.keys(), (id): ShownUpstream => {
    const own = grouped.get(id) ?? [];
    // Unused targets say nothing about used ones, nor about one that a quiet time leaves without calls.
    const inUse = own.filter(({ evidence, state }) => evidence.attempts > 0 || rank[state] <= rank.cooldown);
    const worst = inUse[0] ?? own.find(({ state }) => state !== 'untested') ?? own[0];
    const state = worst?.state ?? 'untested';
    const counts: ShownUpstream['targets'] = {};
    for (const target of own) counts[target.state] = (counts[target.state] ?? 0) + 1;
    const one: ShownUpstream = {
      ...{ id, state, cause: null, targets: counts, evidence: toEvidence(lines.get(id), before.get(id), seconds) },
      models: own.flatMap((target) => (target.state === state ? target.model : [])).slice(0, mostNamed),
    };
    blame(one, worst === undefined ? [] : [worst]);
    return one;
  });
  return shown.sort((a, b) => rank[a.state] - rank[b.state] || b.evidence.attempts - a.evidence.attempts);
}

/** Sets an upstream's cause; where the figures of all its calls show no trouble, that of its first target in the same state. */
function blame(shown: ShownUpstream, targets: readonly ShownTarget[]): void {
  const { id, state, evidence } = shown;
  const target = targets.find((one) => one.upstream === id && one.state === state);
  if (target === undefined || showsTrouble(evidence)) {
    shown.cause = causeOf(state, evidence);
  } else {
    evidence.since = target.evidence.since;
    const { model } = target;
    shown.cause = showsTrouble(target.evidence) ? causeOf(state, target.evidence, { model }) : target.cause;
  }
}

/** Adds when the state began, and the most frequent failure. */
async function explain({ series }: Stated, shown: ShownTarget | ShownUpstream, atMs: number): Promise<void> {
  const isTarget = 'upstreamModel' in shown;
  const filter = isTarget ? { model: shown.model, upstream: shown.upstream } : { upstream: shown.id };
  const asked = { ...query, filter, by: [], toMs: atMs };
  const [recent, long] = await Promise.all([
    series.read({ ...asked, fromMs: atMs - stateRule.windowMs }),
    series.read({ ...asked, fromMs: atMs - lookBackMs, stepMs: minuteMs, wantsPoints: true }),
  ]);
  const [top] = recent.attemptErrors;
  const { evidence } = shown;
  evidence.topCode = top === undefined ? null : { kind: top.kind, code: top.code, attempts: top.attempts };
  const sinceMs = beganMs(long, evidence);
  evidence.since = sinceMs === undefined ? null : toInstant(sinceMs);
  if (isTarget && isFailingOften(evidence)) shown.cause = causeOf(shown.state, evidence);
}

/** This many minutes in a row without trouble end a state. */
const calmMinutes = 5;

/** The first minute of the present trouble; undefined without trouble. */
function beganMs({ timesMs, total }: SeriesAnswer, { weekP95Ms }: Evidence): number | undefined {
  const { attempts = [], failedAttempts = [] } = total.points.counts;
  let found: number | undefined;
  let calm = 0;
  for (let step = timesMs.length - 1; step >= 0 && calm < calmMinutes; step--) {
    const calls = attempts[step] ?? 0;
    if (calls === 0) continue;
    const isFailing = (failedAttempts[step] ?? 0) / calls > 1 - stateRule.successShare;
    if (isFailing || isSlow(total.points.percentiles[step]?.p95 ?? null, weekP95Ms)) {
      found = timesMs[step];
      calm = 0;
    } else calm += 1;
  }
  return found;
}
