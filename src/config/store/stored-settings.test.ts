import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Resource } from '../../core/store/resources.ts';
import { families } from '../../families/index.ts';
import { loadConfiguration } from '../load.ts';

async function load(file: Readonly<Record<string, unknown>>, ...documents: Readonly<Record<string, unknown>>[]) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-settings-'));
  const configPath = join(cwd, 'postern.yaml');
  await writeFile(configPath, JSON.stringify({ store: 'sqlite::memory:', ...file }));
  const resources = documents.map((document): Resource => {
    return { kind: 'setting', id: String(document.id), document, version: 1, createdAtMs: 0, updatedAtMs: 0 };
  });
  try {
    return await loadConfiguration({ configPath, env: {}, cwd, families, resources });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

async function faultsOf(...parts: Parameters<typeof load>): Promise<string[]> {
  const loaded = await load(...parts);
  assert.ok(!loaded.ok);
  return loaded.faults.map(({ origin, path, message }) => `${origin} ${path} ${message}`);
}

test('stored settings apply where the configuration file does not set them', async () => {
  const loaded = await load(
    { ledger: { durability: 'strict' } },
    { id: 'ledger', retention: '7d', redact: ['user'] },
    { id: 'alerts', webhooks: [{ url: 'https://hooks.example/' }] },
  );
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const { ledger, alerts } = loaded.snapshot;
  assert.deepEqual([ledger.durability, ledger.retentionMs, ledger.hiddenFields], ['strict', 7 * 86_400_000, ['user']]);
  const [webhook] = alerts.webhooks;
  assert.equal(webhook?.url, 'https://hooks.example/');
  assert.equal(webhook.addresses?.permits('169.254.169.254'), false);
  assert.equal(webhook.addresses?.permits('203.0.113.9'), false);
  assert.equal(webhook.addresses?.permits('10.1.2.3'), true);
});

test('webhooks of the configuration file may have any address', async () => {
  const loaded = await load({ alerts: { webhooks: [{ url: 'https://hooks.example/' }] } });
  assert.ok(loaded.ok);
  assert.equal(loaded.snapshot.alerts.webhooks[0]?.addresses, undefined);
});

test('a setting in both the configuration file and the store is a fault with both locations', async () => {
  const [fault = ''] = await faultsOf({ ledger: { retention: '30d' } }, { id: 'ledger', retention: '7d' });
  assert.match(
    fault,
    /^store: setting "ledger" \(version 1\) retention is declared by the configuration file too: ledger.retention \(line 1\)/,
  );
});

test('a stored setting accepts only its own keys, with valid values', async () => {
  const faults = await faultsOf(
    {},
    { id: 'alerts', retention: '7d' },
    { id: 'ledger', retention: '1ms', redact: ['a b'] },
  );
  assert.match(faults.join('\n'), /"alerts".* retention is no setting of alerts, which has webhooks/);
  assert.match(faults.join('\n'), /"ledger".* retention wanted: a time from 1d/);
  assert.match(faults.join('\n'), /"ledger".* redact\[0\] wanted: the name of a JSON field/);
});
