/** Health, about, notices, first steps and the live stream, as the API answers them. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAdmin } from '../../../test/support/admin.ts';
import { imported } from '../../../test/support/ledger-rows.ts';
import type { TargetState } from '../../core/target-state.ts';

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
  test('health has every target once, with the worst that a node sees, and those nobody spoke of as unknown', async (t) => {
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

  test('about says what runs, and where its configuration is', async (t) => {
    const { ask, cwd } = await openAdmin(t, { role: 'viewer', configuration });
    const { status, json } = await ask('GET', '/api/about');
    assert.equal(status, 200);
    assert.equal(json.configuration.file, `${cwd}/postern.yaml`);
    assert.equal(json.store.kind, 'memory');
    assert.equal(json.runtime, `Node.js ${process.versions.node}`);
    assert.ok(json.counts.models >= 1);
    assert.equal(json.clientUrl, 'http://127.0.0.1:4000');
  });

  test('notices name what rests, what is nearly spent, what ends soon and what has no price, the worst first', async (t) => {
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
    assert.match(of('price').title, /m cost/);
    assert.equal(of('secret-key').severity, 'warning', 'a store in memory has no place for a key');
  });

  test('a gateway with a priced model, money left and a key for secrets has nothing to say', async (t) => {
    const { ask } = await openAdmin(t, { configuration, env: { POSTERN_SECRET_KEY: 'ab'.repeat(32) } });
    const { json } = await ask('GET', '/api/notices');
    assert.deepEqual(
      json.items.filter(({ kind }: { kind: string }) => kind !== 'configuration'),
      [],
    );
  });

  test('first steps tell what is done, and the requests of clients from those of the Playground', async (t) => {
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

  test('nobody who is not signed in sees any of it, and no unknown range is taken', async (t) => {
    const { ask, become } = await openAdmin(t, { role: null });
    for (const path of ['health', 'about', 'notices', 'overview', 'live', 'first-steps']) {
      assert.equal((await ask('GET', `/api/${path}`)).status, 401, path);
    }
    become('viewer');
    const wrong = await ask('GET', '/api/overview?range=2h');
    assert.deepEqual([wrong.status, wrong.json.fields[0].path], [422, 'range']);
    assert.equal((await ask('GET', '/api/overview?range=7d&by=key&order=cost')).status, 200);
  });
});
