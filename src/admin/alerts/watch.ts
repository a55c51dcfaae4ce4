/** Evaluates alert rules regularly, on the one node that holds a lease in the store, and sends each alert to every channel at least once. */

import type { AlertMail, AlertWebhook } from '../../core/snapshot.ts';
import type { AlertFacts, StoredAlert } from '../../core/store/alerts.ts';
import { createId } from '../../lib/ids.ts';
import { repeat } from '../../lib/repeat.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { reasonOf } from '../../lib/thrown.ts';
import type { AlertChannel, AlertWatch } from '../context.ts';
import { toInstant } from '../shapes/common.ts';
import { findAlerts, type Watched } from './rules.ts';

/** Sends an alert by each kind of channel; a method rejects where that fails. */
export interface AlertWays {
  /** Posts to a webhook and returns the status of its answer. */
  post(webhook: AlertWebhook, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
  mail(
    mail: AlertMail,
    message: { readonly subject: string; readonly text: string; readonly id: string },
  ): Promise<void>;
  sign(secret: string, timestampS: number, body: string): string;
  close(): Promise<void>;
}

export interface AlertWatchDeps {
  readonly context: Watched;
  readonly ways: AlertWays;
  readonly node: string;
  readonly everyMs?: number | undefined;
}

const standardEveryMs = 30_000;
const leaseLooks = 3;
/** How many evaluations in a row open or close an alert, so that a single bad minute does neither. */
const looksToOpen = 2;
const looksToClose = 3;
/** The pause before a failed notification is retried; doubled each time, up to the longest. */
const firstRetryMs = 30_000;
const longestRetryMs = 15 * 60_000;
const slackMs = 5_000;
/** An undelivered notification is dropped after this time. */
const sendWithinMs = 24 * 3_600_000;
const keptMs = 90 * 86_400_000;
const mostOpen = 1_000;

interface Retry {
  readonly failures: number;
  readonly atMs: number;
}

const nameOf = ({ rule, kind, subject }: AlertFacts): string => `${rule} ${kind} ${subject}`;

const retryOf = ({ id }: StoredAlert, untold: string): string => `${id} ${untold}`;

export function createAlertWatch({ context, ways, node, everyMs = standardEveryMs }: AlertWatchDeps): AlertWatch {
  const { store, clock, log, configuration } = context;
  /** For each alert, the number of consecutive evaluations that found it; below it, that did not. */
  const seen = new Map<string, number>();
  const gone = new Map<string, number>();
  /** Failed notifications by alert, event and channel. A node that takes over the lease starts anew. */
  const retries = new Map<string, Retry>();

  interface Way extends AlertChannel {
    send(event: string, alert: StoredAlert): Promise<string>;
  }

  function listWays(): Way[] {
    const { webhooks, smtp } = configuration.snapshot().alerts;
    const posts = webhooks.map((webhook, index): Way => {
      const kind = webhook.format === 'slack' ? 'slack' : 'webhook';
      const { host } = new URL(webhook.url);
      return { id: `${kind}-${index + 1}`, kind, host, send: (...what) => post(webhook, ...what) };
    });
    if (smtp === undefined) return posts;
    const { host } = new URL(smtp.url);
    return [...posts, { id: 'smtp', kind: 'smtp', host, send: (...what) => mail(smtp, ...what) }];
  }

  async function post(webhook: AlertWebhook, event: string, alert: StoredAlert): Promise<string> {
    const said =
      webhook.format === 'slack'
        ? { text: `${headOf(event, alert)}\n${alert.cause}. [${alert.id}]` }
        : toBody(event, alert);
    const body = withMasks(JSON.stringify(said));
    const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'postern' };
    if (webhook.secret !== undefined) {
      headers['postern-signature'] = ways.sign(webhook.secret, Math.floor(clock.nowMs() / 1_000), body);
    }
    const status = await ways.post(webhook, headers, body);
    if (status < 200 || status >= 300) throw new Error(`status ${status}`);
    return `status ${status}`;
  }

  async function mail(smtp: AlertMail, event: string, alert: StoredAlert): Promise<string> {
    const opened = `Opened: ${toInstant(alert.openedAtMs)}`;
    const closed = alert.closedAtMs === undefined ? [] : [`Closed: ${toInstant(alert.closedAtMs)}`];
    const text = [`${alert.cause}.`, '', `Rule: ${alert.rule}`, opened, ...closed, `ID: ${alert.id}`].join('\n');
    const subject = withMasks(headOf(event, alert));
    await ways.mail(smtp, { subject, text: withMasks(text), id: `${alert.id}.${event}` });
    return 'taken by the server';
  }

  /** Whether a channel gets the alert from here: webhooks get budget alerts directly, once for each threshold. */
  const isSentTo = (alert: AlertFacts, { kind }: AlertChannel): boolean => alert.rule !== 'budget' || kind === 'smtp';

  async function look(): Promise<void> {
    const nowMs = clock.nowMs();
    if (!(await store.alerts.lease(node, nowMs + leaseLooks * everyMs))) {
      seen.clear();
      gone.clear();
      retries.clear();
      return;
    }
    const { found, unknown } = await findAlerts(context, (rule, thrown) =>
      log.warn('alert rule not evaluated', { rule, reason: reasonOf(thrown) }),
    );
    const open = await store.alerts.page({ isOpen: true, limit: mostOpen });
    const byName = new Map(open.map((alert) => [nameOf(alert), alert]));
    for (const facts of found) await foundOne(facts, byName.get(nameOf(facts)), nowMs);
    const there = new Set(found.map(nameOf));
    for (const name of seen.keys()) if (!there.has(name)) seen.delete(name);
    for (const alert of open) {
      if (!there.has(nameOf(alert)) && !unknown.has(alert.rule)) await missedOne(alert, nowMs);
    }
    await sendAll(nowMs);
    await store.alerts.prune(nowMs - keptMs);
  }

  async function foundOne(facts: AlertFacts, open: StoredAlert | undefined, nowMs: number): Promise<void> {
    const name = nameOf(facts);
    gone.delete(name);
    if (open !== undefined) {
      if (open.cause !== facts.cause || open.severity !== facts.severity) await store.alerts.put({ ...open, ...facts });
      return;
    }
    const looks = (seen.get(name) ?? 0) + 1;
    seen.set(name, looks);
    if (looks < looksToOpen) return;
    seen.delete(name);
    const alert: StoredAlert = {
      ...facts,
      id: createId(nowMs),
      openedAtMs: nowMs,
      closedAtMs: undefined,
      silencedUntilMs: await silenceOf(name, nowMs),
      untold: listWays().flatMap((way) => (isSentTo(facts, way) ? `opened:${way.id}` : [])),
    };
    await store.alerts.put(alert);
    const { rule, kind, subject, cause, id } = alert;
    log.warn('alert opened', { rule, kind, subject, cause, alert: id });
  }

  /** Until when the alert was silenced before it closed: a silence also applies when the alert opens again. */
  async function silenceOf(name: string, nowMs: number): Promise<number | undefined> {
    const before = await store.alerts.page({ isOpen: false, limit: mostOpen });
    const last = before.find((alert) => nameOf(alert) === name);
    return (last?.silencedUntilMs ?? 0) > nowMs ? last?.silencedUntilMs : undefined;
  }

  async function missedOne(alert: StoredAlert, nowMs: number): Promise<void> {
    const name = nameOf(alert);
    const looks = (gone.get(name) ?? 0) + 1;
    gone.set(name, looks);
    if (looks < looksToClose) return;
    gone.delete(name);
    const untold = listWays().flatMap((way) => (isSentTo(alert, way) ? `closed:${way.id}` : []));
    await store.alerts.put({ ...alert, closedAtMs: nowMs, untold: [...alert.untold, ...untold] });
    log.info('alert closed', { rule: alert.rule, kind: alert.kind, subject: alert.subject, alert: alert.id });
  }

  async function sendAll(nowMs: number): Promise<void> {
    const untold = await store.alerts.untold();
    const waiting = new Set(untold.flatMap((alert) => alert.untold.map((one) => retryOf(alert, one))));
    for (const name of retries.keys()) if (!waiting.has(name)) retries.delete(name);
    for (const alert of untold) {
      const isSilenced = (alert.silencedUntilMs ?? 0) > nowMs;
      const isOld = nowMs - (alert.closedAtMs ?? alert.openedAtMs) > sendWithinMs;
      const left =
        isSilenced || isOld ? [] : (await Promise.all(alert.untold.map((one) => sendOne(one, alert, nowMs)))).flat();
      if (left.length === alert.untold.length) continue;
      // It may have been silenced meanwhile.
      const silencedUntilMs = (await store.alerts.get(alert.id))?.silencedUntilMs;
      await store.alerts.put({ ...alert, silencedUntilMs, untold: left });
    }
  }

  /** Sends one notification, named by event and channel; returns it where it must still be sent. */
  async function sendOne(untold: string, alert: StoredAlert, nowMs: number): Promise<string[]> {
    const [event = '', id = ''] = untold.split(':', 2);
    const way = listWays().find((one) => one.id === id);
    if (way === undefined) return [];
    // A receiver that got them in the other order would take the alert for open.
    if (event === 'closed' && alert.untold.includes(`opened:${id}`)) return [untold];
    const name = retryOf(alert, untold);
    const { failures, atMs } = retries.get(name) ?? { failures: 0, atMs: nowMs };
    if (nowMs < atMs - slackMs) return [untold];
    try {
      await way.send(event, alert);
      return [];
    } catch (thrown) {
      const delayMs = Math.min(longestRetryMs, firstRetryMs * 2 ** failures);
      retries.set(name, { failures: failures + 1, atMs: nowMs + delayMs });
      log.warn('alert not delivered', { alert: alert.id, channel: id, host: way.host, reason: failureOf(thrown) });
      return [untold];
    }
  }

  async function lookAgain(): Promise<void> {
    try {
      await look();
    } catch (thrown) {
      log.warn('alerts not evaluated', { reason: reasonOf(thrown) });
    }
  }

  const looking = repeat(lookAgain, everyMs);

  return {
    channels: () => listWays().map(({ id, kind, host }) => ({ id, kind, host })),
    async test(channel) {
      const alert: StoredAlert = {
        ...{ rule: 'error_rate', kind: 'gateway', subject: '', severity: 'warning', explore: undefined },
        ...{ cause: 'This is a test of alerts; nothing is wrong', id: createId(clock.nowMs()), untold: [] },
        ...{ openedAtMs: clock.nowMs(), closedAtMs: undefined, silencedUntilMs: undefined },
      };
      const ways = listWays().filter(({ id }) => channel === undefined || id === channel);
      return Promise.all(
        ways.map(async ({ send, id, kind, host }) => {
          const shown = { id, kind, host };
          try {
            return { channel: shown, ok: true, detail: await send('test', alert) };
          } catch (thrown) {
            return { channel: shown, ok: false, detail: failureOf(thrown) };
          }
        }),
      );
    },
    look,
    async close() {
      await looking.close();
      await ways.close();
    },
  };
}

/** A failure as a code such as ECONNREFUSED, or a status. Other messages contain addresses, which may hold secrets. */
function failureOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'no error';
  const code = Reflect.get(thrown, 'code');
  if (typeof code === 'string') return code;
  return /^(status \d+|the mail server )/.test(thrown.message) ? thrown.message : thrown.name;
}

const eventWords: Readonly<Record<string, string>> = { opened: 'Alert', closed: 'Closed', test: 'Test' };

const headOf = (event: string, { rule, kind, subject }: AlertFacts): string =>
  `${eventWords[event] ?? event}: ${rule.replaceAll('_', ' ')}${subject === '' ? '' : ` (${kind} ${subject})`}`;

function toBody(event: string, alert: StoredAlert) {
  const { id, rule, kind, subject, severity, cause, openedAtMs, closedAtMs } = alert;
  return {
    type: `alert.${event}`,
    id,
    rule,
    subject: { kind, id: subject === '' ? null : subject },
    severity,
    cause,
    opened_at: toInstant(openedAtMs),
    closed_at: closedAtMs === undefined ? null : toInstant(closedAtMs),
  };
}
