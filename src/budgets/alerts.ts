/** Sends budget alerts to the log and to webhooks, once per threshold across all nodes. */

import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Budget } from '../core/caps.ts';
import type { Log } from '../core/log.ts';
import type { AlertSettings, AlertWebhook } from '../core/snapshot.ts';
import type { BudgetAccount } from '../core/store/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import { toDollars } from '../lib/money.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { codeOf } from '../lib/thrown.ts';
import type { Connector } from '../wire/connect.ts';
import { exchange } from '../wire/exchange.ts';
import { OriginPools } from '../wire/origin-pools.ts';
import { Wheel } from '../wire/wheel.ts';

/** Pauses after each failed delivery to a webhook; there is one more attempt than pauses. */
const pausesMs = [1_000, 5_000, 30_000, 120_000];
/** Pauses between attempts to claim an alert in the store, while the store cannot confirm the claim. */
const claimPausesMs = [2_000, 10_000, 60_000, 300_000];
/** Limit of alerts being delivered; beyond it alerts are only logged. */
const mostUnderWay = 1_000;
const mostRemembered = 10_000;

export interface BudgetAlertsDeps {
  readonly settings: () => Pick<AlertSettings, 'webhooks'>;
  /** Claims an alert by its name: true for one node only, and once for ever. */
  readonly claim: (name: string) => Promise<boolean>;
  /** Posts an alert and returns the status of the answer. Follows no redirects, and times out within seconds. */
  readonly post: (webhook: AlertWebhook, headers: Readonly<Record<string, string>>, body: string) => Promise<number>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  /** Tests replace the waiting. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createBudgetAlerts(deps: BudgetAlertsDeps) {
  const { settings, claim, post, clock, log, sleep = sleepFor } = deps;
  const seen = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();

  function reached(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void {
    // A budget whose amount was changed counts as a new one.
    const name = `alert/${account.id}/${percent}/${toDollars(budget.nanos)}`;
    if (seen.has(name) || closing.signal.aborted) return;
    seen.add(name);
    for (const oldest of seen) {
      if (seen.size <= mostRemembered) break;
      seen.delete(oldest);
    }
    const alert = toAlert(name, account, budget, percent, spentNanos);
    const telling = send(name, alert).finally(() => underWay.delete(telling));
    underWay.add(telling);
  }

  async function send(name: string, alert: BudgetAlert): Promise<void> {
    if (!(await isOurs(name))) return;
    const { holder, period, amount, spent, percent, account } = alert;
    log.warn('budget threshold reached', { holder, period, amount, spent, percent, account });
    if (underWay.size > mostUnderWay) {
      log.warn('budget alert dropped: too many pending', { account, percent });
      return;
    }
    const bodies = {
      postern: withMasks(JSON.stringify(alert)),
      slack: withMasks(JSON.stringify({ text: wordsFor(alert) })),
    };
    await Promise.all(settings().webhooks.map((webhook) => deliver(webhook, alert, bodies[webhook.format])));
  }

  async function isOurs(name: string): Promise<boolean> {
    let failure = '';
    for (const pauseMs of [0, ...claimPausesMs]) {
      if (pauseMs > 0 && !(await waited(pauseMs))) return false;
      try {
        return await claim(name);
      } catch (error) {
        failure = wordsOf(error);
      }
    }
    log.warn('budget alert not sent: store unreachable', { alert: name, failure });
    // The alert is sent when the threshold is reached the next time.
    seen.delete(name);
    return false;
  }

  async function deliver(webhook: AlertWebhook, alert: BudgetAlert, body: string): Promise<void> {
    const { url, secret } = webhook;
    // Only the host is logged: for many services the rest of the address is a secret.
    const { host } = new URL(url);
    let failure = '';
    for (const pauseMs of [0, ...pausesMs]) {
      if (pauseMs > 0 && !(await waited(pauseMs))) break;
      const timestampS = Math.floor(clock.nowMs() / 1_000);
      const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'postern' };
      if (secret !== undefined) headers['postern-signature'] = sign(secret, timestampS, body);
      try {
        const status = await post(webhook, headers, body);
        if (status >= 200 && status < 300) return;
        failure = `status ${status}`;
        if (!mayPass(status)) break;
      } catch (error) {
        failure = wordsOf(error);
      }
    }
    log.warn('budget alert not delivered', { host, alert: alert.id, failure });
  }

  async function waited(ms: number): Promise<boolean> {
    await sleep(ms, closing.signal);
    return !closing.signal.aborted;
  }

  return {
    reached,
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(underWay);
    },
  };
}

function wordsFor({ holder, period, percent, amount, spent, id }: BudgetAlert): string {
  return `The budget of ${holder.kind} ${holder.id} (${period}, $${amount}) is spent to ${percent} %: $${spent}. [${id}]`;
}

/** The signature header `t=1764547200,v1=…`: HMAC-SHA256 over the time, a full stop and the body, in hex. */
export function sign(secret: string, timestampS: number, body: string): string {
  const digest = createHmac('sha256', secret).update(`${timestampS}.${body}`).digest('hex');
  return `t=${timestampS},v1=${digest}`;
}

/** Whether a retry may succeed after this status: redirects and refusals are final. */
function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

type BudgetAlert = ReturnType<typeof toAlert>;

/** The body of a webhook's request, as JSON. `id` is the same for every attempt; amounts are decimal US dollars. */
function toAlert(id: string, account: BudgetAccount, budget: Budget, percent: number, spentNanos: number) {
  return {
    type: 'budget.threshold',
    id,
    holder: { kind: account.holderKind, id: account.holderId },
    period: budget.period,
    starts_at: new Date(account.startsAtMs).toISOString(),
    ends_at: Number.isFinite(account.endsAtMs) ? new Date(account.endsAtMs).toISOString() : null,
    account: account.id,
    percent,
    amount: toDollars(budget.nanos),
    spent: toDollars(spentNanos),
    currency: 'USD',
  };
}

/** An error's code, such as ECONNREFUSED, for the log. Its message contains addresses, which may hold secrets. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no error';
  return codeOf(error) ?? error.name;
}

const sleepFor = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { ref: false, signal }).catch(() => undefined);

/** Timeouts of posting one alert to a webhook: one attempt, no redirects; only the status of the answer matters. */
const connectMs = 3_000;
const patienceMs = 5_000;
/** Limit of an answer that is read so that the connection can be reused; longer answers are cut off. */
const longestAnswerBytes = 16 * 1024;
const connectionsPerOrigin = 4;
const wheelStepMs = 100;

/** Returns a connector that obeys an address policy. */
export type AlertConnect = (addresses: AlertWebhook['addresses'], connectMs: number) => Connector;

export function createAlertPost(connect: AlertConnect) {
  const pools = new OriginPools({ wheel: new Wheel(wheelStepMs), connections: connectionsPerOrigin });

  return {
    async post(
      { url, addresses }: AlertWebhook,
      headers: Readonly<Record<string, string>>,
      body: string,
    ): Promise<number> {
      const { origin, pathname, search } = new URL(url);
      // A pool for each address policy.
      const pool = pools.of(addresses?.id ?? '', origin, () => connect(addresses, connectMs));
      const answer = await exchange(
        pool,
        { method: 'POST', path: pathname + search, headers: Object.entries(headers).flat(), body: Buffer.from(body) },
        { limitBytes: longestAnswerBytes, beyond: 'cut', timeoutMs: patienceMs },
      );
      return answer.status;
    },
    async close(): Promise<void> {
      pools.destroy();
    },
  };
}
