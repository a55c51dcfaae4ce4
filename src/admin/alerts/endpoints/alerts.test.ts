import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported } from '../../../../test/support/ledger/ledger-rows.ts';
import { createFakeClock } from '../../../../test/support/time/fake-clock.ts';
import { createAlertWatch } from '../watch.ts';

const hooks = {
  webhooks: [{ url: 'https://hooks.example/a' }, { url: 'https://hooks.slack.example/b', format: 'slack' }],
};
const fault = { atMs: Date.now(), faults: [{ file: '/etc/postern.yaml', line: 7, message: 'keyz: unknown key' }] };

const kindOf = ({ body }: { readonly body: string }): string =>
  JSON.parse(body).type ?? JSON.parse(body).text.split(':')[0];

test('an alert opens at the second evaluation that matches, is sent once to each channel, and closes', async (t) => {
  const { ask, context, sent, refuse } = await openAdmin(t, { configuration: { alerts: hooks } });
  refuse(fault);
  await context.alerts.look();
  assert.equal(sent.length, 0);
  await context.alerts.look();
  await context.alerts.look();
  assert.deepEqual(sent.map(kindOf), ['alert.opened', 'Alert']);
  const body = JSON.parse(sent[0]?.body ?? '');
  assert.equal(body.cause, 'The changed configuration is not in force: /etc/postern.yaml line 7: keyz: unknown key');
  const { json } = await ask('GET', '/api/alerts?state=open');
  assert.deepEqual(
    json.items.map(({ id, rule, closedAt }: Record<string, unknown>) => [id, rule, closedAt]),
    [[body.id, 'reload_refused', null]],
  );
  refuse(undefined);
  for (let look = 0; look < 3; look++) await context.alerts.look();
  assert.deepEqual(sent.slice(2).map(kindOf), ['alert.closed', 'Closed']);
  assert.equal(JSON.parse(sent[2]?.body ?? '').id, body.id);
  assert.deepEqual((await ask('GET', '/api/alerts?state=open')).json.items, []);
  assert.equal((await ask('GET', '/api/alerts')).json.items.length, 1);
});

test('an alert that a webhook did not accept is sent again with the same ID', async (t) => {
  const clock = createFakeClock();
  const { context, sent, refuse, answerWebhooks } = await openAdmin(t, { configuration: { alerts: hooks }, clock });
  refuse(fault);
  answerWebhooks(500);
  for (let look = 0; look < 2; look++) await context.alerts.look();
  clock.advance(30_000);
  await context.alerts.look();
  answerWebhooks(204);
  clock.advance(60_000);
  await context.alerts.look();
  await context.alerts.look();
  const own = sent.filter(({ to }) => to === 'https://hooks.example/a').map(({ body }) => JSON.parse(body).id);
  assert.equal(own.length, 3);
  assert.equal(new Set(own).size, 1);
});

test('a webhook that was unreachable is notified that an alert opened before it is notified that it closed', async (t) => {
  const clock = createFakeClock();
  const { context, sent, refuse, answerWebhooks } = await openAdmin(t, {
    configuration: { alerts: { webhooks: [{ url: 'https://hooks.example/a' }] } },
    clock,
  });
  refuse(fault);
  answerWebhooks(500);
  for (let look = 0; look < 2; look++) await context.alerts.look();
  refuse(undefined);
  for (let look = 0; look < 3; look++) await context.alerts.look();
  answerWebhooks(204);
  const before = sent.length;
  clock.advance(30_000);
  for (let look = 0; look < 2; look++) await context.alerts.look();
  assert.deepEqual(
    [sent.slice(0, before).map(kindOf), sent.slice(before).map(kindOf)],
    [['alert.opened'], ['alert.opened', 'alert.closed']],
  );
});

test('a failing webhook is retried after 30 s, with delays growing to 15 min, for a day', async (t) => {
  const clock = createFakeClock();
  const { context, sent, refuse, answerWebhooks } = await openAdmin(t, {
    configuration: { alerts: { webhooks: [{ url: 'https://hooks.example/a' }] } },
    clock,
  });
  refuse(fault);
  answerWebhooks(500);
  await context.alerts.look();
  const triedAtS: number[] = [];
  const lookAt = async (stepS: number, untilS: number): Promise<void> => {
    while (clock.monotonicMs() < untilS * 1_000) {
      const before = sent.length;
      await context.alerts.look();
      if (sent.length > before) triedAtS.push(clock.monotonicMs() / 1_000);
      clock.advance(stepS * 1_000);
    }
  };
  await lookAt(30, 3_600);
  assert.deepEqual(triedAtS, [0, 30, 90, 210, 450, 930, 1_830, 2_730]);
  await lookAt(300, 2 * 86_400);
  const lastS = triedAtS.at(-1) ?? 0;
  assert.ok(lastS > 86_400 - 1_200 && lastS <= 86_400, `it was last tried after ${lastS} s`);
  assert.equal((await context.store.alerts.untold()).length, 0);
});

test('one of several nodes evaluates alerts, and another node takes over when the lease of the first ends', async (t) => {
  const { context, store, sent, refuse } = await openAdmin(t, { configuration: { alerts: hooks } });
  refuse(fault);
  let looks = 0;
  const ways = {
    post: async () => {
      looks += 1;
      return 204;
    },
    mail: async () => undefined,
    sign: () => '',
    close: async () => undefined,
  };
  const other = createAlertWatch({ context, ways, node: 'another', everyMs: 3_600_000 });
  t.after(() => other.close());
  for (let look = 0; look < 3; look++) {
    await context.alerts.look();
    await other.look();
  }
  assert.deepEqual([sent.length, looks], [2, 0]);
  // The first one's lease is over.
  await store.alerts.lease('test-node', Date.now() - 1);
  await other.look();
  assert.equal((await store.alerts.page({ isOpen: true, limit: 9 })).length, 1);
  assert.equal(looks, 0);
});

test('missed latency targets of an upstream open one alert that names the affected models', async (t) => {
  const { ask, context, store } = await openAdmin(t, {
    configuration: {
      upstreams: [{ id: 'up', family: 'openai', base_url: 'https://up.example/v1', api_key: 'sk-up' }],
      models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'm-1' }] }],
    },
  });
  const state = { state: 'healthy', restsForMs: 0, why: undefined, inFlight: 1, waiting: 0, latencyMs: 20 } as const;
  const target = { upstream: 'up', model: 'm-1', ...state, restingCredentials: [] };
  await store.health.report('one', [{ ...target, isSloMissed: true }]);
  await store.health.report('two', [{ ...target, isSloMissed: false }]);
  await context.alerts.look();
  await context.alerts.look();
  const { json } = await ask('GET', '/api/alerts?state=open');
  assert.deepEqual(
    json.items.map(({ rule, subject, cause }: Record<string, unknown>) => [rule, subject, cause]),
    [
      [
        'slo_missed',
        { kind: 'upstream', id: 'up' },
        'up: interactive requests for m-1 take longer than their slo, although bulk has only one slot left',
      ],
    ],
  );
});

test('a silenced alert is not sent, not even when it opens again', async (t) => {
  const { ask, context, sent, refuse } = await openAdmin(t, { configuration: { alerts: hooks } });
  refuse(fault);
  await context.alerts.look();
  await context.alerts.look();
  const [open] = (await ask('GET', '/api/alerts')).json.items;
  const silenced = await ask('PUT', `/api/alerts/${open.id}/silence`, { minutes: 60 });
  assert.ok(Date.parse(silenced.json.silencedUntil) > Date.now());
  refuse(undefined);
  for (let look = 0; look < 3; look++) await context.alerts.look();
  refuse(fault);
  for (let look = 0; look < 3; look++) await context.alerts.look();
  assert.equal(sent.length, 2);
  const [again] = (await ask('GET', '/api/alerts?state=open')).json.items;
  assert.notEqual(again.id, open.id);
  assert.equal(again.silencedUntil, silenced.json.silencedUntil);
  assert.equal((await ask('DELETE', `/api/alerts/${again.id}/silence`)).status, 204);
  assert.equal((await ask('GET', '/api/alerts?state=open')).json.items[0].silencedUntil, null);
  assert.equal((await ask('DELETE', '/api/alerts/none/silence')).status, 404);
});

test('a test alert goes to every channel or to one, and reports each result', async (t) => {
  const smtp = { url: 'smtp://mail.example:25', from: 'a@example.com', to: ['b@example.com'] };
  const { ask, sent, answerWebhooks } = await openAdmin(t, { configuration: { alerts: { ...hooks, smtp } } });
  const { json } = await ask('POST', '/api/alerts/test', {});
  assert.deepEqual(
    json.results.map(({ channel, ok }: { channel: { id: string }; ok: boolean }) => [channel.id, ok]),
    [
      ['webhook-1', true],
      ['slack-2', true],
      ['smtp', true],
    ],
  );
  assert.match(sent.find(({ to }) => to === 'b@example.com')?.body ?? '', /^Test: error rate\nThis is a test/);
  answerWebhooks(410);
  const one = await ask('POST', '/api/alerts/test', { channel: 'webhook-1' });
  assert.deepEqual(
    one.json.results.map(({ ok, detail }: Record<string, unknown>) => [ok, detail]),
    [[false, 'status 410']],
  );
  assert.equal((await ask('POST', '/api/alerts/test', { channel: 'pager' })).status, 404);
});

test('alert rules are listed with their thresholds, and disabled rules open no alert', async (t) => {
  const alerts = { ...hooks, error_rate: '20%', off: ['reload_refused'] };
  const { ask, context, refuse } = await openAdmin(t, { configuration: { alerts } });
  refuse(fault);
  for (let look = 0; look < 3; look++) await context.alerts.look();
  assert.deepEqual((await ask('GET', '/api/alerts')).json.items, []);
  const { json } = await ask('GET', '/api/alerts/rules');
  const isOn = new Map(json.rules.map((one: Record<string, unknown>) => [one.rule, one.isOn]));
  assert.deepEqual([isOn.get('reload_refused'), isOn.get('error_rate'), isOn.get('latency')], [false, true, false]);
  assert.match(json.rules[0].words, /^More than 20 % /);
  assert.equal(json.channels.length, 2);
});

test('failing requests and a failing upstream each open an alert with its subject and start time', async (t) => {
  const { ask, store, context } = await openAdmin(t, {
    configuration: {
      upstreams: [{ id: 'eu-spare', family: 'openai', api_key: 'sk-0123456789' }],
      models: [{ id: 'rerank-best', operations: ['rerank'], targets: [{ upstream: 'eu-spare', model: 'r' }] }],
    },
  });
  const nowMs = Date.now();
  const rows = Array.from({ length: 200 }, (_, at) => {
    const failed = at % 3 === 0;
    const tries = failed
      ? [{ upstream: 'eu-spare', model: 'r', credential: undefined, outcome: 'failed', detail: 503, durationMs: 5 }]
      : [];
    return imported({
      startedAtMs: nowMs - 60_000 - at * 1_000,
      ...{
        model: 'rerank-best',
        upstream: 'eu-spare',
        tries,
        outcome: failed ? 'error' : 'ok',
        status: failed ? 503 : 200,
      },
    });
  });
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  await context.alerts.look();
  await context.alerts.look();
  const { json } = await ask('GET', '/api/now');
  const causes = new Map(json.alerts.map((one: Record<string, unknown>) => [one.rule, one.cause]));
  assert.equal(causes.get('error_rate'), '33.5 % of requests in the last ten minutes failed: 67 of 200');
  assert.match(
    String(causes.get('upstream_degraded')),
    /^eu-spare: 34 % of calls fail, mostly 503 since \d\d:\d\d UTC; affects rerank-best$/,
  );
  const [upstream] = json.upstreams;
  assert.deepEqual([upstream.id, upstream.state, upstream.evidence.attempts], ['eu-spare', 'degraded', 200]);
  assert.deepEqual(upstream.evidence.topCode, { kind: 'failed', code: '503', attempts: 67 });
  const states = await ask('GET', '/api/states?model=rerank-best');
  assert.deepEqual(
    states.json.items.map(({ state, cause }: Record<string, unknown>) => [state, cause]),
    [['degraded', '34 % of calls fail, mostly 503']],
  );
  assert.deepEqual((await ask('GET', '/api/states?state=failing')).json.items, []);
  const lists = [
    (await ask('GET', '/api/upstreams')).json.items[0],
    (await ask('GET', '/api/models')).json.items[0].targets[0],
  ];
  assert.deepEqual(
    lists.map(({ shown }) => shown),
    ['degraded', 'degraded'],
  );
});

test('the alert of an upstream with one slow model names that model, and its p95 covers all calls of the upstream', async (t) => {
  const target = (model: string) => ({ id: model, operations: ['embeddings'], targets: [{ upstream: 'eu', model }] });
  const { ask, store, context } = await openAdmin(t, {
    configuration: {
      upstreams: [{ id: 'eu', family: 'openai', api_key: 'sk-0123456789' }],
      models: ['small', 'large'].map(target),
    },
  });
  const nowMs = Date.now();
  const rows = (model: string, durationMs: number, fromMs: number, count: number) =>
    Array.from({ length: count }, (_, at) =>
      imported({ model, upstream: 'eu', upstreamModel: model, durationMs, startedAtMs: fromMs - at * 1_000 }),
    );
  const dayAgoMs = nowMs - 86_400_000;
  const week = [...rows('small', 50, dayAgoMs, 150), ...rows('large', 900, dayAgoMs, 150)];
  const recent = [...rows('small', 300, nowMs - 60_000, 60), ...rows('large', 900, nowMs - 60_000, 40)];
  await store.ledger.import('j', [...week, ...recent], { segment: 1, offset: 1 });
  const { json } = await ask('GET', '/api/now');
  const [{ state, cause, models, evidence }] = json.upstreams;
  assert.deepEqual(
    [state, cause, models],
    ['degraded', 'p95 of small is 300 ms, against 50 ms over the week before', ['small']],
  );
  for (const ms of [evidence.p95Ms, evidence.weekP95Ms]) assert.ok(Math.abs(ms - 900) < 10, `${ms} ms`);
  await context.alerts.look();
  await context.alerts.look();
  const [alert] = (await ask('GET', '/api/alerts')).json.items;
  assert.match(alert.cause, /^eu: p95 of small is 300 ms, .* since \d\d:\d\d UTC; affects small$/);
  assert.equal(alert.explore.by, 'model');
});
