/** Evaluates the alert rules: finds the subjects that each rule concerns now, with a sentence that says why. */

import { X509Certificate } from 'node:crypto';
import type { AlertSettings } from '../../core/snapshot.ts';
import type { AlertFacts, AlertRule } from '../../core/store/alerts.ts';
import { wholeStretch } from '../../core/store/series.ts';
import type { AdminContext } from '../context.ts';
import { readMissedSlos, readSpentBudgets } from '../overview/notices.ts';
import { stateRule } from '../series/contract/series.ts';
import { isFailingOften, readStates } from '../series/states.ts';
import { toInstant } from '../shapes/common.ts';
import { readTargetReports } from '../target-index.ts';

export type Watched = Omit<AdminContext, 'alerts'>;

const dayMs = 86_400_000;
const leastRequests = 50;
const behindMs = 60_000;
const certificateMs = 14 * dayMs;
const mostOfARule = 50;

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

const finders: Readonly<Record<AlertRule, (context: Watched) => Promise<readonly AlertFacts[]>>> = {
  async error_rate(context) {
    const { succeeded, failed } = (await readRecent(context)).figures;
    const { errorShare } = context.configuration.snapshot().alerts;
    const judged = succeeded + failed;
    if (judged < leastRequests || failed / judged <= errorShare) return [];
    const cause = `${percent(failed / judged)} of requests in the last ten minutes failed: ${failed} of ${judged}`;
    return [ofGateway('error_rate', 'bad', cause, { outcome: 'failed', by: 'model' })];
  },

  async latency(context) {
    const { p95Ms } = context.configuration.snapshot().alerts;
    const { duration } = (await readRecent(context)).figures;
    if (p95Ms === undefined || duration === undefined || duration.count < leastRequests || duration.p95 <= p95Ms)
      return [];
    const cause = `The p95 of the last ten minutes is ${Math.round(duration.p95)} ms, above the limit of ${p95Ms} ms`;
    return [ofGateway('latency', 'warning', cause, { order: 'p95', by: 'model' })];
  },

  upstream_degraded: async (context) => ofUpstreams(context, 'upstream_degraded', ['degraded']),
  upstream_down: async (context) => ofUpstreams(context, 'upstream_down', ['failing', 'cooldown']),

  async slo_missed(context) {
    const missed = await readMissedSlos(context);
    return [...Map.groupBy(missed, ({ upstream }) => upstream)].map(([upstream, all]): AlertFacts => {
      const models = all.map(({ model }) => model).join(', ');
      const cause = `${upstream}: interactive requests for ${models} take longer than their slo, although bulk has only one slot left`;
      const explore = { upstream, order: 'p95' };
      return { rule: 'slo_missed', severity: 'warning', cause, explore, kind: 'upstream', subject: upstream };
    });
  },

  async budget(context) {
    const budgets = await readSpentBudgets(context);
    const spent = budgets.filter(
      ({ share, holder: { kind } }) => share >= 1 && kind !== 'model' && kind !== 'upstream',
    );
    return spent.map(({ holder: { kind, id, name }, budget }): AlertFacts => {
      const cause = `The budget of ${kind} ${name || id} for a ${budget.period} is used up: requests are refused`;
      const explore = { [kind]: id, outcome: 'refused' };
      const holder = kind === 'project' ? 'project' : 'key';
      return { rule: 'budget', severity: 'warning', cause, explore, kind: holder, subject: id };
    });
  },

  async ledger_lag({ live }) {
    const { journalOldestMs = 0, journalRows = 0 } = await live.state();
    if (journalOldestMs <= behindMs) return [];
    const cause = `The ledger is ${Math.round(journalOldestMs / 1_000)} s behind: ${journalRows} rows wait for the store`;
    return [{ ...ofGateway('ledger_lag', 'warning', cause), explore: undefined }];
  },

  async drift(context) {
    const { all } = await readTargetReports(context);
    const changed = all.flatMap(({ drift }) => drift?.canaries ?? []).filter(({ hasChanged }) => hasChanged);
    return [...Map.groupBy(changed, ({ model }) => model)].map(([model, [first]]): AlertFacts => {
      const cause = `${first?.upstream} has changed the model behind ${model}: the same texts have other vectors`;
      return { rule: 'drift', kind: 'model', subject: model, severity: 'bad', cause, explore: { model } };
    });
  },

  async certificate({ configuration, clock }) {
    const { tls } = configuration.snapshot().server;
    if (tls === undefined) return [];
    const endsAtMs = Date.parse(new X509Certificate(tls.cert).validTo);
    if (endsAtMs - clock.nowMs() > certificateMs) return [];
    const cause = `The certificate of the gateway ends at ${toInstant(endsAtMs)}`;
    return [{ ...ofGateway('certificate', 'warning', cause), explore: undefined }];
  },

  async reload_refused({ configuration }) {
    const refused = configuration.refused();
    if (refused === undefined) return [];
    const [first] = refused.faults;
    const where = first?.line === undefined ? (first?.file ?? '') : `${first.file} line ${first.line}`;
    const cause = `The changed configuration is not in force: ${[where, first?.message].filter(Boolean).join(': ')}`;
    return [{ rule: 'reload_refused', kind: 'configuration', subject: '', severity: 'warning', cause }];
  },
};

async function readRecent({ series, clock }: Watched) {
  const toMs = clock.nowMs();
  return (await series.read({ ...wholeStretch, fromMs: toMs - stateRule.windowMs, toMs })).total;
}

function ofGateway(
  rule: AlertRule,
  severity: AlertFacts['severity'],
  cause: string,
  explore: Record<string, string> = {},
): AlertFacts {
  return { rule, kind: 'gateway', subject: '', severity, cause, explore };
}

async function ofUpstreams(context: Watched, rule: AlertRule, states: readonly string[]): Promise<AlertFacts[]> {
  const { upstreams } = await readStates(context);
  return upstreams
    .filter(({ state, cause }) => states.includes(state) && cause !== null)
    .map(({ id, state, cause, models, evidence }) => {
      const { since } = evidence;
      const from = since === null || since === undefined ? '' : ` since ${since.slice(11, 16)} UTC`;
      const affected = models.length === 0 ? '' : `; affects ${models.join(', ')}`;
      return {
        ...{ rule, kind: 'upstream', subject: id },
        severity: state === 'degraded' ? 'warning' : 'bad',
        cause: `${id}: ${cause}${from}${affected}`,
        explore: { upstream: id, by: isFailingOften(evidence) ? 'code' : 'model' },
      };
    });
}

/** Evaluates all active rules. A rule that fails is reported to `onFault` and returned in `unknown`. */
export async function findAlerts(
  context: Watched,
  onFault: (rule: AlertRule, thrown: unknown) => void,
): Promise<{ readonly found: readonly AlertFacts[]; readonly unknown: ReadonlySet<string> }> {
  const { off } = context.configuration.snapshot().alerts;
  const rules = (Object.keys(finders) as AlertRule[]).filter((rule) => !off.includes(rule));
  const unknown = new Set<string>();
  const found = await Promise.all(
    rules.map(async (rule) => {
      try {
        return (await finders[rule](context)).slice(0, mostOfARule);
      } catch (thrown) {
        onFault(rule, thrown);
        unknown.add(rule);
        return [];
      }
    }),
  );
  return { found: found.flat(), unknown };
}

/** The condition of each rule as a sentence for people. */
export function wordsOfRules({ errorShare, p95Ms }: AlertSettings): Readonly<Record<AlertRule, string>> {
  return {
    error_rate: `More than ${percent(errorShare)} of requests in ten minutes failed, with at least ${leastRequests} requests.`,
    latency:
      p95Ms === undefined ? 'Set alerts.p95 to use it.' : `The p95 of requests in ten minutes is above ${p95Ms} ms.`,
    upstream_degraded: `Less than ${percent(stateRule.successShare)} of the calls to an upstream succeed, or its p95 is over ${stateRule.slower} times that of the last week.`,
    upstream_down: 'An upstream answers at most half of its calls, or is in cooldown.',
    slo_missed: 'Interactive requests exceed models[].slo, although bulk traffic is at its minimum.',
    budget: 'A budget of a key or a project is used up.',
    ledger_lag: `Ledger rows wait for more than ${behindMs / 1_000} s to reach the store.`,
    drift: 'A model behind a canary has changed.',
    certificate: `The certificate of the gateway ends within ${certificateMs / dayMs} days.`,
    reload_refused: 'The configuration file was changed, and the change has faults and is not in force.',
  };
}
