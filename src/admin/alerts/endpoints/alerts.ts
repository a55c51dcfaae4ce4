/** Implements the endpoints for open and past alerts, rules and channels, tests, and silences. */

import type * as z from 'zod';
import { alertRules, type StoredAlert } from '../../../core/store/alerts.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { nextOf, toInstant, toShown } from '../../shapes/common.ts';
import type { alert } from '../contract/alerts.ts';
import * as contract from '../contract/alerts.ts';
import { wordsOfRules } from '../rules.ts';

const minuteMs = 60_000;
const marginMs = 30 * minuteMs;
const mostOpen = 100;

export function toShownAlert(stored: StoredAlert): z.input<typeof alert> {
  const { kind, subject, explore, openedAtMs, closedAtMs } = stored;
  const from = toInstant(openedAtMs - marginMs);
  const to = closedAtMs === undefined ? {} : { to: toInstant(closedAtMs + marginMs) };
  return {
    ...toShown(stored),
    subject: { kind, id: subject === '' ? null : subject },
    explore: explore === undefined ? null : { ...explore, from, ...to },
  };
}

export async function readOpenAlerts({ store }: AdminContext): Promise<z.input<typeof alert>[]> {
  return (await store.alerts.page({ isOpen: true, limit: mostOpen })).map(toShownAlert);
}

export const listAlerts = implement(contract.listAlerts, async ({ query, context: { store } }) => {
  const { state, before, limit } = query;
  const isOpen = state === 'all' ? undefined : state === 'open';
  const found = await store.alerts.page({ isOpen, before, limit: limit + 1 });
  return { items: found.slice(0, limit).map(toShownAlert), next: nextOf(found, limit) };
});

export const getAlertRules = implement(contract.getAlertRules, ({ context: { alerts, configuration } }) => {
  const settings = configuration.snapshot().alerts;
  const words = wordsOfRules(settings);
  return {
    rules: alertRules.map((rule) => ({
      rule,
      isOn: !settings.off.includes(rule) && (rule !== 'latency' || settings.p95Ms !== undefined),
      words: words[rule],
    })),
    channels: alerts.channels(),
  };
});

export const testAlert = implement(contract.testAlert, async ({ body: { channel }, context: { alerts } }) => {
  const results = await alerts.test(channel);
  if (channel !== undefined && results.length === 0) {
    throw new Problem('not_found', { detail: 'There is no such channel; GET /api/alerts/rules lists them.' });
  }
  return { results };
});

export const silenceAlert = implement(contract.silenceAlert, async ({ params: { id }, body: { minutes }, context }) => {
  const { store, clock } = context;
  const silenced = { ...(await find(store, id)), silencedUntilMs: clock.nowMs() + minutes * minuteMs };
  await store.alerts.put(silenced);
  return toShownAlert(silenced);
});

export const endSilence = implement(contract.endSilence, async ({ params: { id }, context: { store } }) => {
  await store.alerts.put({ ...(await find(store, id)), silencedUntilMs: undefined });
});

async function find(store: AdminContext['store'], id: string): Promise<StoredAlert> {
  const found = await store.alerts.get(id);
  if (found === undefined) throw new Problem('not_found', { detail: 'There is no alert with this ID.' });
  return found;
}
