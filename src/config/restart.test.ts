import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../test/support/configuration.ts';
import { localhostCertificate, localhostKey } from '../../test/support/localhost-certificate.ts';
import { needsRestart } from './restart.ts';

const files = { 'cert.pem': localhostCertificate, 'key.pem': localhostKey };

test('names what cannot change while running', async (t) => {
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
  ]);
});

test('everything else may change', async (t) => {
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
