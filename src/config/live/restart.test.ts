import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../../test/support/gateways/configuration.ts';
import { localhostCertificate, localhostKey } from '../../../test/support/upstreams/localhost-certificate.ts';
import { needsRestart } from './live.ts';

const files = { 'cert.pem': localhostCertificate, 'key.pem': localhostKey };

test('names the changed settings that need a restart', async (t) => {
  const { snapshot: running } = await loaded(t, 'server: {}');
  const text =
    'server: { host: "::1", port: 1, max_header_size: 8KiB, tls: { cert: cert.pem, key: key.pem } }\nstore: sqlite:x.db';
  const { snapshot: next } = await loaded(t, text, { files });
  assert.deepEqual(needsRestart(running, next), [
    'server.host',
    'server.port',
    'server.tls',
    'server.max_header_size',
    'store',
    // Its default is beside the store.
    'ledger.journal',
  ]);
});

test('changes of all other settings need no restart', async (t) => {
  const { snapshot: running } = await loaded(t, 'server: { tls: { cert: cert.pem, key: key.pem } }', { files });
  const text = `server:
  tls: { cert: cert.pem, key: key.pem }
  base_path: /ai
  body_limit: 1MiB
  max_connections: 5
  timeouts: { request: 5s }
  cors: { origins: ["*"] }
upstreams: [{ id: a, family: openai }]
keys: [{ id: k, secret: ${'x'.repeat(24)} }]
`;
  const renewed = { ...files, 'cert.pem': `${localhostCertificate}\n` };
  const { snapshot: next } = await loaded(t, text, { files: renewed });
  assert.deepEqual(needsRestart(running, next), []);
});

const token = 'a-token-of-24-characters';

const rows: readonly (readonly [next: string, settings: readonly string[]])[] = [
  ['server: { workers: 1 }\nconsole: { port: 4001 }\nledger: { retention: 30d }', []],
  ['redis: redis://h', ['redis']],
  ['redis_deadline: 60ms', ['redis_deadline']],
  ['server: { workers: 2 }', ['server.workers']],
  ['server: { socket: { path: /run/p.sock }, port: 4000 }', ['server.socket']],
  ['server: { socket: { path: /run/p.sock } }', ['server.port', 'server.socket']],
  [`console: { host: 0.0.0.0, token: ${token}, port: 5001 }`, ['console.host', 'console.port', 'console.token']],
  ['ledger: { journal: elsewhere, durability: strict }', ['ledger.journal', 'ledger.durability']],
  ['ledger: { journal_wait: 2s }', ['ledger.journal_wait']],
  ['store: postgres://h/db', ['store']],
  ['keys: [{ id: k, secret: a-secret-of-24-characters, limits: { requests_per_day: 1 } }]', []],
];

test('names changed process and ledger settings that need a restart, and no others', async (t) => {
  const { snapshot: running } = await loaded(t, 'server: {}');
  for (const [text, settings] of rows) {
    const { snapshot } = await loaded(t, text);
    assert.deepEqual(needsRestart(running, snapshot), settings, text);
  }
});
