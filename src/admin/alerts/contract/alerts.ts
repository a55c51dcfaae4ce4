/** Declares the endpoints for open and past alerts, channels, and silences. */

import * as z from 'zod';
import { alertRules, alertSubjects } from '../../../core/store/alerts.ts';
import { endpointsOf } from '../../endpoint.ts';
import { instant, pageOf, pageQuery } from '../../shapes/common.ts';

const alertEndpoint = endpointsOf('Alerts');

const channelKinds = ['webhook', 'slack', 'smtp'] as const;

export const alert = z.object({
  id: z.string().describe('The same in every notification, so that receivers can recognise repetitions.'),
  rule: z.enum(alertRules),
  subject: z
    .object({
      kind: z.enum(alertSubjects),
      id: z.string().nullable(),
    })
    .describe('The subject of the alert.'),
  severity: z.enum(['bad', 'warning']),
  cause: z.string().describe('A sentence.'),
  openedAt: instant,
  closedAt: instant.nullable(),
  silencedUntil: instant.nullable(),
  explore: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Parameters for `GET /api/series` that show it: filters, `from`, `to`, `by`.'),
});

export const listAlerts = alertEndpoint('GET /api/alerts', 'viewer', {
  summary: 'List open and closed alerts, newest first',
  query: pageQuery.extend({ state: z.enum(['open', 'closed', 'all']).default('all') }),
  answer: pageOf(alert),
});

export const alertChannel = z.object({
  id: z.string(),
  kind: z.enum(channelKinds),
  host: z.string().describe('Only a part: the remaining address may be a secret.'),
});

export const alertRule = z.object({
  rule: z.enum(alertRules),
  isOn: z.boolean(),
  words: z.string().describe('The condition with its thresholds.'),
});

export const getAlertRules = alertEndpoint('GET /api/alerts/rules', 'viewer', {
  summary: 'List alert rules and channels',
  answer: z.object({ rules: z.array(alertRule), channels: z.array(alertChannel) }),
});

export const testAlert = alertEndpoint('POST /api/alerts/test', 'admin', {
  summary: 'Send a test alert to every channel, or to one',
  body: z.strictObject({ channel: z.string().max(100).optional() }),
  answer: z.object({
    results: z.array(
      z.object({ channel: alertChannel, ok: z.boolean(), detail: z.string().describe('What came back.') }),
    ),
  }),
});

export const silenceAlert = alertEndpoint('PUT /api/alerts/:id/silence', 'editor', {
  summary: 'Silence this rule and subject until a time',
  body: z.strictObject({ minutes: z.number().int().min(1).max(43_200) }),
  answer: alert,
});

export const endSilence = alertEndpoint('DELETE /api/alerts/:id/silence', 'editor', {
  summary: 'End the silence of an alert',
});
