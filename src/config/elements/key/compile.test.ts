import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

const secret = 'a-secret-of-24-characters';

test('a configured key is found by the SHA-256 of its secret, and the secret itself is not kept', async (t) => {
  const { snapshot } = await loaded(t, `keys: [{ id: k, secret: ${secret} }]`);
  const digest = createHash('sha256').update(secret).digest('hex');
  assert.deepEqual(snapshot.keys.get(digest), {
    id: 'k',
    managedBy: 'file',
    models: ['*'],
    operations: undefined,
    addresses: undefined,
    project: undefined,
    lane: undefined,
    shape: undefined,
    caps: { rates: [], concurrency: undefined, budgets: [] },
    metadata: {},
    captureMs: undefined,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
  });
  assert.ok(!JSON.stringify([...snapshot.keys]).includes(secret));
});

test("a key whose secret is an upstream's credential is a fault, by secret or digest", async (t) => {
  const upstreams = `upstreams: [{ id: up, family: openai, api_key: ${secret} }]`;
  const digest = createHash('sha256').update(secret).digest('hex');
  for (const key of [`secret: ${secret}`, `secret_sha256: ${digest}`]) {
    await assert.rejects(
      loaded(t, `${upstreams}\nkeys: [{ id: k, ${key} }]`),
      /is the credential of the upstream .*up/s,
    );
  }
});

test('a compiled key has the configured models, operations and addresses', async (t) => {
  const limits = 'models: [gpt-*], operations: [edits, edits], addresses: [10.0.0.0/8]';
  const { snapshot } = await loaded(t, `keys: [{ id: k, secret: ${secret}, ${limits} }]`);
  const [key] = snapshot.keys.values();
  assert.deepEqual([key?.models, key?.operations, key?.addresses], [['gpt-*'], ['edits'], ['10.0.0.0/8']]);
});

test('a compiled key has the configured limits, budgets and metadata', async (t) => {
  const text = `projects: [{ id: search, name: Search team, limits: { concurrency: 4 } }]
keys:
  - id: k
    secret: ${secret}
    project: search
    limits: { requests_per_minute: 60, tokens_per_day: 1000000, concurrency: 2 }
    budgets: [{ every: month, amount: 12.50 }, { every: day, amount: "0.000000001", alerts: [100%, 50%, 50%] }]
    metadata: { team: search, "cost.center": "" }
    capture: 7d
`;
  const { snapshot } = await loaded(t, text);
  const [key] = snapshot.keys.values();
  assert.deepEqual(key?.caps, {
    rates: [
      { measure: 'requests', window: 'minute', most: 60 },
      { measure: 'tokens', window: 'day', most: 1_000_000 },
    ],
    concurrency: 2,
    budgets: [
      { period: 'month', nanos: 12_500_000_000, alerts: [80, 100] },
      { period: 'day', nanos: 1, alerts: [50, 100] },
    ],
  });
  assert.deepEqual([key?.project, key?.captureMs], ['search', 7 * 86_400_000]);
  assert.deepEqual(key?.metadata, { team: 'search', 'cost.center': '' });
  assert.deepEqual(snapshot.projects.get('search'), {
    id: 'search',
    managedBy: 'file',
    name: 'Search team',
    caps: { rates: [], concurrency: 4, budgets: [] },
    files: undefined,
  });
});

test('a key with an expiry date ends at the start of that day in UTC, and one with an expiry time at that time', async (t) => {
  for (const [written, endsAt] of [
    ['2099-01-31', '2099-01-31T00:00:00.000Z'],
    ['2099-01-31T12:00:00+02:00', '2099-01-31T10:00:00.000Z'],
    ['2099-01-31T12:00Z', '2099-01-31T12:00:00.000Z'],
  ] as const) {
    const { snapshot } = await loaded(t, `keys: [{ id: k, secret: ${secret}, expires: "${written}" }]`);
    const [key] = snapshot.keys.values();
    assert.equal(key?.expiresAtMs, Date.parse(endsAt));
  }
});

test('warns of an expired key', async (t) => {
  const nowMs = () => Date.parse('2027-01-31T00:00:00Z');
  const { warnings } = await loaded(t, `keys: [{ id: k, secret: ${secret}, expires: 2027-01-31 }]`, { nowMs });
  assert.match(warnings.join(), /keys\[0\]: this key has expired/);
});

test('warns of a key for an unknown model or an alias', async (t) => {
  const text = `upstreams: [{ id: a, family: openai }]
models: [{ id: embed-large, aliases: [e], operations: [embeddings], targets: [{ upstream: a }] }]
keys: [{ id: k, secret: ${secret}, models: [embed-lagre, e, embed-large, "embed-*"] }]
`;
  const { warnings } = await loaded(t, text);
  assert.deepEqual(warnings, [
    'keys[0].models[0]: there is no model "embed-lagre" as yet; did you mean embed-large?',
    'keys[0].models[1]: "e" is an alias, and keys are judged by the model\'s ID: write embed-large',
  ]);
});

const faultRows: readonly FaultRow[] = [
  {
    text: 'keys:\n  - id: k\n    secret: short',
    line: 3,
    path: 'keys[0].secret',
    error: /at least 24 .*; came: other text/,
  },
  {
    text: `keys:\n  - id: k\n    secret: "${'x '.repeat(20)}"`,
    line: 3,
    path: 'keys[0].secret',
    error: /without spaces/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)} }\n  - { id: k, secret: ${'y'.repeat(24)} }`,
    line: 3,
    path: 'keys[1].id',
    error: /taken by keys\[0\]\.id/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)} }\n  - { id: l, secret: ${'x'.repeat(24)} }`,
    line: 3,
    path: 'keys[1].secret',
    error: /same as that of keys\[0\]/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)}, models: ["a*b*"] }`,
    line: 2,
    path: 'keys[0].models[0]',
    error: /more than one \*/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)}, addresses: [home] }`,
    line: 2,
    path: 'keys[0].addresses[0]',
    error: /CIDR/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)}, expires: tomorrow }`,
    line: 2,
    path: 'keys[0].expires',
    error: /a date such as/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)}, expires: 2027-02-30 }`,
    line: 2,
    path: 'keys[0].expires',
    error: /a date such as/,
  },
  {
    text: `keys:\n  - { id: k, secret: ${'x'.repeat(24)}, expires: "2027-01-31T12:00:00" }`,
    line: 2,
    path: 'keys[0].expires',
    error: /with its zone/,
  },
];

test('reports each fault of a key once, with path, line and expected value', (t) => assertFaults(t, faultRows));
