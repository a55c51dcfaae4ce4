/** Health, about, notices, first steps and the live stream, as the API answers them. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported } from '../../../../test/support/ledger/ledger-rows.ts';
import type { TargetState } from '../../../core/target-state.ts';

const hourMs = 3_600_000;

const configuration = {
  upstreams: [{ id: 'up', family: 'openai', base_url: 'https://up.example/v1', api_key: 'sk-up' }],
  models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'm-1' }] }],
};

const target = (more: Partial<TargetState> = {}): TargetState => ({
  upstream: 'up',
  model: 'm-1',
  state: 'healthy',
  restsForMs: 0,
  why: undefined,
  inFlight: 1,
  waiting: 0,
  latencyMs: 20,
  restingCredentials: [],
  ...more,
});

describe('the state of the gateway', () => {
  test('shadow and canary agreement reports of all nodes are merged into one line each', async (t) => {
    const { ask, store } = await openAdmin(t, { role: 'viewer', configuration });
    const none = { cosine: null, overlap: null, ranks: null, verdicts: null };
    const shadow = { model: 'm', shadow: 'next', failed: 0, ...none };
    const canary = { model: 'm', upstream: 'up', upstreamModel: 'm-1', checkedAtS: 1, failure: null };
    await store.health.report('one', [target()], {
      shadows: [
        { ...shadow, compared: 30, cosine: 0.9 },
        { ...shadow, model: 'gone', compared: 1 },
      ],
      canaries: [{ ...canary, agreement: 1, hasChanged: false }],
    });
    await store.health.report('two', [target()], {
      shadows: [{ ...shadow, compared: 10, cosine: 0.5 }],
      canaries: [{ ...canary, agreement: 0.3, hasChanged: true }],
    });
    const { json } = await ask('GET', '/api/health');
    const [first, second, ...others] = json.agreements;
    assert.partialDeepStrictEqual(first, { model: 'm', with: 'next', kind: 'shadow', measure: 'cosine', compared: 40 });
    assert.ok(Math.abs(first.value - 0.8) < 1e-9);
    assert.partialDeepStrictEqual(second, { with: 'up: m-1', kind: 'canary', value: 0.3, hasChanged: true });
    assert.deepEqual(others, []);
    assert.deepEqual((await ask('GET', '/api/now')).json.agreements, json.agreements);
  });

  test('health lists every target once, with its worst state on any node, or unknown without a report', async (t) => {
    const { ask, store } = await openAdmin(t, { role: 'viewer', configuration });
    const before = await ask('GET', '/api/health');
    assert.equal(before.status, 200);
    const find = (json: { targets: { upstream: string; model: string }[] }) =>
      json.targets.find(({ upstream, model }) => upstream === 'up' && model === 'm-1');
    assert.deepEqual(find(before.json), {
      upstream: 'up',
      model: 'm-1',
      state: 'unknown',
      why: null,
      restsForMs: 0,
      latencyMs: null,
      calls: 0,
      failedCalls: 0,
      inFlight: 0,
      waiting: 0,
      restingCredentials: [],
      nodes: 0,
    });

    const other = await openAdmin(t, { role: 'viewer', configuration });
    await other.store.health.report('one', [target()]);
    await other.store.health.report('two', [target({ state: 'resting', why: 'status 503', restsForMs: 900 })]);
    const { json } = await other.ask('GET', '/api/health');
    assert.partialDeepStrictEqual(find(json), { state: 'resting', why: 'status 503', nodes: 2, inFlight: 2 });
    assert.deepEqual(
      json.nodes.map(({ isSilent }: { isSilent: boolean }) => isSilent),
      [false, false],
    );
    assert.equal(json.redis, null);
    await store.health.withdraw('one');
  });

  test('GET /api/about returns the version and the location of the configuration file', async (t) => {
    const { ask, cwd } = await openAdmin(t, { role: 'viewer', configuration });
    const { status, json } = await ask('GET', '/api/about');
    assert.equal(status, 200);
    assert.equal(json.configuration.file, `${cwd}/postern.yaml`);
    assert.equal(json.store.kind, 'memory');
    assert.equal(json.runtime, `Node.js ${process.versions.node}`);
    assert.ok(json.counts.models >= 1);
    assert.equal(json.clientUrl, 'http://127.0.0.1:4000');
  });

  test('a model that an upstream changed causes one notice, even if several nodes noticed the change', async (t) => {
    const { ask, store } = await openAdmin(t, { role: 'viewer', configuration });
    const canary = { model: 'm', upstream: 'up', upstreamModel: 'm-1', checkedAtS: 1, agreement: 0.4, failure: null };
    const gone = { ...canary, model: 'gone', hasChanged: true };
    const drift = { shadows: [], canaries: [{ ...canary, hasChanged: true }, gone] };
    await store.health.report('one', [target()], drift);
    await store.health.report('two', [target()], drift);
    await store.health.report('three', [target()], { ...drift, canaries: [{ ...canary, hasChanged: false }] });
    const { json } = await ask('GET', '/api/notices');
    assert.deepEqual(
      json.items
        .filter(({ kind }: { kind: string }) => kind === 'changed-model')
        .map(({ title, about }: { title: string; about: unknown }) => [title, about]),
      [['up has changed the model behind m', { kind: 'model', id: 'm' }]],
    );
  });

  test("a local clock that is ahead of the store's causes a notice", async (t) => {
    for (const [hours, count] of [
      [2, 0],
      [4, 1],
    ] as const) {
      const { ask, store } = await openAdmin(t);
      await store.ledger.setMark(Date.now() - hours * 3_600_000);
      const { json } = await ask('GET', '/api/notices');
      assert.equal(json.items.filter(({ id }: { id: string }) => id === 'retention held back').length, count);
    }
  });

  test('notices list cooldowns, low budgets, expiring keys and missing prices, worst first', async (t) => {
    const { ask, store } = await openAdmin(t, {
      role: 'viewer',
      configuration: { ...configuration, projects: [{ id: 'p', budgets: [{ every: 'month', amount: '1' }] }] },
    });
    await store.health.report('one', [target({ state: 'resting', why: 'status 503' })]);
    const soon = { name: 'ci', digest: 'a'.repeat(64), hint: 'pk-', models: ['*'], expiresAtMs: Date.now() + hourMs };
    await store.keys.create(soon);
    await store.ledger.import(
      'j',
      [
        imported({ startedAtMs: Date.now(), project: 'p', costNanos: 850_000_000 }),
        imported({ startedAtMs: Date.now(), model: 'm', costNanos: null }),
      ],
      { segment: 1, offset: 1 },
    );
    const { status, json } = await ask('GET', '/api/notices');
    assert.equal(status, 200);
    const kinds = json.items.map(({ kind }: { kind: string }) => kind);
    assert.equal(kinds[0], 'target');
    const of = (kind: string) => json.items.find((item: { kind: string }) => item.kind === kind);
    assert.match(of('target').title, /^up is not called for m-1/);
    assert.match(of('budget').title, /project p is 85 % used/);
    assert.deepEqual(of('budget').about, { kind: 'project', id: 'p' });
    assert.match(of('key-expiry').title, /ci/);
    assert.match(of('price').title, /No price is known for m/);
    assert.equal(of('secret-key').severity, 'warning', 'a store in memory has no place for a key');
  });

  test('a healthy gateway with prices, budget and secret key has no notices', async (t) => {
    const { ask } = await openAdmin(t, { configuration, env: { POSTERN_SECRET_KEY: 'ab'.repeat(32) } });
    const { json } = await ask('GET', '/api/notices');
    assert.deepEqual(
      json.items.filter(({ kind }: { kind: string }) => kind !== 'configuration'),
      [],
    );
  });

  test('a notice proposes a default model for moderations, if a model serves them', async (t) => {
    const judge = { id: 'judge', operations: ['moderations'], targets: [{ upstream: 'up' }] };
    const models = [...configuration.models, judge];
    const proposed = async (more: object): Promise<string[]> => {
      const { ask } = await openAdmin(t, { configuration: { ...configuration, models, ...more } });
      const { json } = await ask('GET', '/api/notices');
      return json.items
        .filter(({ id }: { id: string }) => id === 'default model of moderations')
        .map(({ detail }: { detail: string }) => detail);
    };
    const [detail, ...others] = await proposed({});
    assert.match(detail ?? '', /default_model.*\{ moderations: "judge" \}/);
    assert.deepEqual(others, []);
    assert.deepEqual(await proposed({ default_model: { moderations: 'judge' } }), []);
    assert.deepEqual(await proposed({ models: configuration.models }), []);
  });

  test('notices about several models are merged into one sentence, and use display names', async (t) => {
    const models = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
      id,
      operations: ['embeddings'],
      targets: [{ upstream: 'up', model: id }],
    }));
    const { ask, store } = await openAdmin(t, { role: 'viewer', configuration: { ...configuration, models } });
    await store.health.report(
      'one',
      models.map(({ id }) => target({ model: id, state: 'failing', why: 'status 503' })),
    );
    const budget = { period: 'month', nanos: 1_000_000_000, alerts: [] } as const;
    const made = await store.keys.create({
      name: 'Nightly import',
      digest: 'a'.repeat(64),
      hint: 'pk-',
      models: ['*'],
      caps: { rates: [], concurrency: undefined, budgets: [budget] },
    });
    const rows = ['a', 'b'].map((model) =>
      imported({ startedAtMs: Date.now(), model, upstream: null, costNanos: null }),
    );
    await store.ledger.import(
      'j',
      [...rows, imported({ startedAtMs: Date.now(), key: made.id, costNanos: 900_000_000 })],
      { segment: 1, offset: 1 },
    );
    const { json } = await ask('GET', '/api/notices');
    const of = (kind: string) => json.items.filter((item: { kind: string }) => item.kind === kind);
    assert.deepEqual([of('target').length, of('price').length], [1, 1]);
    assert.equal(of('target')[0].title, 'up fails for 5 models');
    assert.match(of('price')[0].title, /2 models have no price/);
    assert.match(of('budget')[0].title, /key Nightly import is 90 % used/);
    assert.doesNotMatch(JSON.stringify(json), /\(, |, \)|, ,/);
  });

  test('a target is healthy after a call or health check, and failed calls are counted beside its state', async (t) => {
    const { ask, store } = await openAdmin(t, { configuration });
    const read = async () => (await ask('GET', '/api/health')).json.targets[0];
    await store.health.report('one', [target({ isKnown: false, calls: 0, failedCalls: 0 })]);
    const upstream = (await ask('GET', '/api/upstreams')).json.items[0];
    assert.deepEqual([(await read()).state, upstream.state], ['unknown', 'unknown']);

    const other = await openAdmin(t, { configuration });
    await other.store.health.report('one', [target({ isKnown: true, calls: 100, failedCalls: 30, latencyMs: 6_500 })]);
    await other.store.health.report('two', [target({ isKnown: false, calls: 0, failedCalls: 0, latencyMs: 0 })]);
    const known = (await other.ask('GET', '/api/health')).json.targets[0];
    assert.deepEqual([known.state, known.calls, known.failedCalls, known.latencyMs], ['healthy', 100, 30, 6_500]);
    const [listed] = (await other.ask('GET', '/api/upstreams')).json.items;
    assert.deepEqual([listed.state, listed.calls, listed.failedCalls], ['healthy', 100, 30]);
  });

  test('the location of the secret key is shown only to owners, until they confirm that it is backed up', async (t) => {
    const { ask, become, cwd, store } = await openAdmin(t, {
      configuration: { ...configuration, store: 'sqlite:p.db' },
    });
    const noticeOf = async () => {
      const { json } = await ask('GET', '/api/notices');
      return json.items.find(({ kind }: { kind: string }) => kind === 'secret-key-backup');
    };
    assert.equal(await noticeOf(), undefined, 'there is no key yet');
    assert.equal((await ask('POST', '/api/notices/secret-key-backup')).status, 404);
    await writeFile(join(cwd, 'secret.key'), `${'ab'.repeat(32)}\n`);
    assert.ok((await noticeOf()).detail.includes(join(cwd, 'secret.key')));
    become('admin');
    assert.equal(await noticeOf(), undefined);
    become('owner');
    assert.equal((await ask('POST', '/api/notices/secret-key-backup')).status, 204);
    assert.equal(await noticeOf(), undefined);
    assert.doesNotMatch(JSON.stringify(await store.audit.page({ limit: 9 })), /abababab/);
    await writeFile(join(cwd, 'secret.key'), `${'cd'.repeat(32)}\n`);
    assert.notEqual(await noticeOf(), undefined, 'another key wants another copy');
  });

  test('the first-steps list shows which steps are done, and tells client requests from Playground requests', async (t) => {
    const { ask, store } = await openAdmin(t, { configuration });
    const fresh = await ask('GET', '/api/first-steps');
    assert.deepEqual([fresh.json.hasKey, fresh.json.requests, fresh.json.tries], [false, 0, 0]);
    assert.equal(fresh.json.sample.path.startsWith('/v1/'), true);
    const names = { digest: 'b'.repeat(64), hint: 'pk-', models: ['*'] };
    const own = await store.keys.create({
      ...names,
      name: 'Playground',
      metadata: { 'postern.console': 'playground' },
    });
    await store.ledger.import(
      'j',
      [
        imported({ startedAtMs: Date.now(), key: own.id }),
        imported({ startedAtMs: Date.now(), key: 'dev' }),
        imported({ startedAtMs: Date.now(), key: 'dev' }),
      ],
      { segment: 1, offset: 1 },
    );
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const later = await ask('GET', '/api/first-steps');
    assert.deepEqual([later.json.hasKey, later.json.requests, later.json.tries], [false, 2, 1]);
  });

  test('reading the state of the gateway needs a signed-in member', async (t) => {
    const { ask } = await openAdmin(t, { role: null });
    for (const path of ['health', 'about', 'notices', 'live', 'first-steps']) {
      assert.equal((await ask('GET', `/api/${path}`)).status, 401, path);
    }
  });
});
