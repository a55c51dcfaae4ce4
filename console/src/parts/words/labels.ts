/** Defines the labels used everywhere, each once: results, percentiles, states, dimensions. `npm run check` refuses other words for them. */

import type {
  AlertRule,
  FamilyFacts,
  latencyKinds,
  requestResults,
  seriesDimensions,
} from '../../../../src/admin/contract.ts';

type Result = (typeof requestResults)[number];

export const resultWords: Readonly<Record<Result, string>> = {
  succeeded: 'Succeeded',
  failed: 'Failed',
  refused: 'Refused',
  cancelled: 'Cancelled',
};

/** Labels for the outcomes in the ledger, which distinguishes more kinds of failures. */
export const outcomeWords = {
  ok: 'Succeeded',
  error: 'Failed with an error',
  refused: 'Refused',
  aborted: 'Cancelled',
  cut: 'Broke off',
  lost: 'Unknown end',
} as const;

export const percentileWords = { p50: 'p50', p95: 'p95', p99: 'p99' } as const;

export const latencyWords: Readonly<Record<(typeof latencyKinds)[number], string>> = {
  duration: 'Duration',
  firstByte: 'First byte',
  wait: 'Wait in queues',
  overhead: 'Gateway overhead',
};

export const dimensionWords: Readonly<Record<(typeof seriesDimensions)[number], string>> = {
  model: 'Model',
  upstream: 'Upstream',
  key: 'Key',
  project: 'Project',
  operation: 'Operation',
  outcome: 'Outcome',
  code: 'Error code',
  cache: 'Cache',
};

/** Labels for the states of targets and upstreams, as their traffic shows them. */
export const stateWords = {
  healthy: 'Healthy',
  degraded: 'Degraded',
  failing: 'Failing',
  cooldown: 'In cooldown',
  untested: 'Untested',
} as const;

export const alertRuleWords: Readonly<Record<AlertRule['rule'], string>> = {
  error_rate: 'Error rate',
  latency: 'Latency',
  upstream_degraded: 'Upstream degraded',
  upstream_down: 'Upstream down',
  slo_missed: 'Promised latency missed',
  budget: 'Budget',
  ledger_lag: 'Ledger lag',
  drift: 'Drift',
  certificate: 'Certificate end',
  reload_refused: 'Reload refused',
};

/** Labels for kinds of upstreams, by the operations that they serve. */
export const kindWords: Readonly<Record<FamilyFacts['kind'], { readonly title: string; readonly about: string }>> = {
  service: { title: 'Services', about: 'An API key is all that they need.' },
  'own-server': { title: 'Servers of your own', about: 'Inference servers that you run, here or in your network.' },
  cloud: { title: 'Cloud accounts', about: 'With an address for each account or region.' },
  'built-in': { title: 'Built in', about: 'Answers inside the gateway, without any network: good to try things with.' },
};

export const kinds = ['service', 'own-server', 'cloud', 'built-in'] as const satisfies readonly FamilyFacts['kind'][];
