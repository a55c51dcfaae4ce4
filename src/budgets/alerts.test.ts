import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { budgetOf, holderOf } from '../../test/support/stores/budget-nodes.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { toAccount } from '../core/accounting/budget-account.ts';
import type { AlertWebhook } from '../core/snapshot.ts';
import { createBudgetAlerts } from './alerts.ts';

const secret = 'a-secret-of-webhooks';
const budget = budgetOf(10_000_000_000, 'month', [80, 100]);
const account = toAccount(holderOf([budget], 'project', 'search/a'), budget, Date.UTC(2026, 10, 21));

interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function rig(
  webhooks: readonly AlertWebhook[] = [
    { url: 'https://hooks.test/s3cret-path?k=s3cret', secret, addresses: undefined, format: 'postern' },
  ],
) {
  const posted: Posted[] = [];
  const pauses: number[] = [];
  const log: { message: string; fields: Record<string, unknown> }[] = [];
  const claimed = new Set<string>();
  const answers: (number | Error)[] = [];
  const claims: (boolean | Error)[] = [];
  const note = (message: string, fields: Record<string, unknown> = {}) => void log.push({ message, fields });

  const start = () =>
    createBudgetAlerts({
      settings: () => ({ webhooks }),
      async claim(name) {
        const answer = claims.shift();
        if (answer instanceof Error) throw answer;
        if (claimed.has(name)) return false;
        claimed.add(name);
        return true;
      },
      async post({ url }, headers, body) {
        posted.push({ url, headers, body });
        const answer = answers.shift() ?? 200;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      clock: createFakeClock(Date.UTC(2026, 10, 21, 12)),
      log: { info: note, warn: note, error: note },
      sleep: async (ms, signal) => {
        pauses.push(ms);
        if (signal.aborted) return;
      },
    });
  const calm = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { posted, pauses, log, claimed, answers, claims, start, calm };
}

test('a webhook gets the reached budget threshold as signed JSON', async () => {
  const { start, posted, calm } = rig();
  start().reached(account, budget, 80, 8_050_000_000);
  await calm();
  assert.equal(posted.length, 1);
  const [{ url, headers, body } = assert.fail()] = posted;
  assert.equal(url, 'https://hooks.test/s3cret-path?k=s3cret');
  assert.deepEqual(JSON.parse(body), {
    type: 'budget.threshold',
    id: 'alert/project/search%2Fa/month/2026-11-01/80/10',
    holder: { kind: 'project', id: 'search/a' },
    period: 'month',
    starts_at: '2026-11-01T00:00:00.000Z',
    ends_at: '2026-12-01T00:00:00.000Z',
    account: 'project/search%2Fa/month/2026-11-01',
    percent: 80,
    amount: '10',
    spent: '8.05',
    currency: 'USD',
  });
  assert.equal(headers['content-type'], 'application/json');
  const [, time = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['postern-signature'] ?? '') ?? [];
  assert.equal(Number(time), Date.UTC(2026, 10, 21, 12) / 1_000);
  assert.equal(signature, createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
});

test('a webhook without a secret gets no signature header', async () => {
  const { start, posted, calm } = rig([
    { url: 'http://hooks.test/', secret: undefined, addresses: undefined, format: 'postern' },
  ]);
  start().reached(account, budget, 80, 1);
  await calm();
  assert.equal(posted[0]?.headers['postern-signature'], undefined);
});

test('each budget threshold is reported once by several nodes, in the log and to every webhook', async () => {
  const { start, posted, log, calm } = rig([
    { url: 'https://one.test/', secret, addresses: undefined, format: 'postern' },
    { url: 'https://two.test/', secret, addresses: undefined, format: 'postern' },
  ]);
  const nodes = [start(), start(), start()];
  for (const percent of [80, 80, 100]) for (const node of nodes) node.reached(account, budget, percent, 1);
  await calm();
  assert.equal(posted.length, 4);
  assert.equal(log.length, 2);
  assert.equal(log[0]?.message, 'budget threshold reached');
});

test('a node asks the store once for the right to report a threshold', async () => {
  const { start, claims, calm } = rig();
  const alerts = start();
  claims.push(true, new Error('asked again'), new Error('asked again'));
  for (let n = 0; n < 3; n += 1) {
    alerts.reached(account, budget, 80, 1);
    await calm();
  }
  assert.equal(claims.length, 2);
});

test("changing a budget's amount allows its thresholds to be reported again", async () => {
  const { start, posted, calm } = rig();
  const alerts = start();
  alerts.reached(account, budget, 80, 1);
  alerts.reached(account, { ...budget, nanos: budget.nanos * 2 }, 80, 1);
  await calm();
  assert.equal(posted.length, 2);
});

test('an unreachable webhook is retried a few times with growing delays', async () => {
  const { start, posted, pauses, log, answers, calm } = rig();
  answers.push(503, Object.assign(new Error('connect ECONNREFUSED s3cret'), { code: 'ECONNREFUSED' }), 429, 200);
  start().reached(account, budget, 80, 1);
  await calm();
  assert.equal(posted.length, 4);
  assert.equal(new Set(posted.map(({ body }) => body)).size, 1);
  assert.deepEqual(pauses, [1_000, 5_000, 30_000]);
  assert.equal(log.length, 1);
});

test('notifying a webhook that stays unreachable is given up, and the log contains neither its path nor secret', async () => {
  const { start, posted, log, answers, calm } = rig();
  answers.push(...Array.from({ length: 5 }, () => new Error('s3cret')));
  start().reached(account, budget, 80, 1);
  await calm();
  assert.equal(posted.length, 5);
  assert.deepEqual(log[1]?.fields, {
    host: 'hooks.test',
    alert: 'alert/project/search%2Fa/month/2026-11-01/80/10',
    failure: 'Error',
  });
  assert.doesNotMatch(JSON.stringify(log), /s3cret|a-secret/);
});

for (const status of [301, 307, 400, 401, 404]) {
  test(`a webhook that answers ${status} is not retried`, async () => {
    const { start, posted, log, answers, calm } = rig();
    answers.push(status);
    start().reached(account, budget, 80, 1);
    await calm();
    assert.equal(posted.length, 1);
    assert.equal(log[1]?.fields.failure, `status ${status}`);
  });
}

test('a threshold reached while the store is unreachable is reported once when the store answers', async () => {
  const { start, posted, claims, pauses, calm } = rig();
  claims.push(new Error('away'), new Error('away'));
  start().reached(account, budget, 80, 1);
  await calm();
  assert.deepEqual(pauses, [2_000, 10_000]);
  assert.equal(posted.length, 1);
});

test('a threshold that is dropped because the store stays unreachable is reported the next time it is reached', async () => {
  const { start, posted, claims, log, calm } = rig();
  claims.push(...Array.from({ length: 5 }, () => new Error('away')));
  const alerts = start();
  alerts.reached(account, budget, 80, 1);
  await calm();
  assert.equal(posted.length, 0);
  assert.equal(log.length, 1);
  alerts.reached(account, budget, 80, 1);
  await calm();
  assert.equal(posted.length, 1);
});

test('shutdown does not wait for an unreachable webhook', async () => {
  const { posted, calm, claimed } = rig();
  const alerts = createBudgetAlerts({
    settings: () => ({ webhooks: [{ url: 'https://hooks.test/', secret, addresses: undefined, format: 'postern' }] }),
    claim: async (name) => claimed.size < claimed.add(name).size,
    async post({ url }, headers, body) {
      posted.push({ url, headers, body });
      return 503;
    },
    clock: createFakeClock(),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  alerts.reached(account, budget, 80, 1);
  await calm();
  await alerts.close();
  alerts.reached(account, budget, 100, 1);
  await calm();
  assert.equal(posted.length, 1);
});
