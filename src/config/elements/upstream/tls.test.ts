import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';
import { localhostCertificate, localhostKey } from '../../../../test/support/upstreams/localhost-certificate.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreignKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const lockedKey = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();

const files = {
  cert: localhostCertificate,
  bundle: `# two of them\n${localhostCertificate}\nbetween\n${localhostCertificate}`,
  key: localhostKey,
  foreign: foreignKey,
  locked: lockedKey,
  public: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  broken: localhostCertificate.replace('MII', 'MIX'),
  cut: `${localhostCertificate}\n-----BEGIN CERTIFICATE-----\nMII`,
  text: 'no PEM at all',
};

async function tlsOf(t: TestContext, fields: string) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: openai${fields} }]`, { files });
  return snapshot.upstreams.get('a')?.tls;
}

test('the TLS files of an upstream may be given one by one or all together', async (t) => {
  const none = { ca: undefined, cert: undefined, key: undefined, serverName: undefined };
  assert.equal(await tlsOf(t, ''), undefined);
  assert.deepEqual(await tlsOf(t, ', tls: { ca: bundle }'), { ...none, ca: files.bundle });
  assert.deepEqual(await tlsOf(t, ', tls: { server_name: in.example }'), { ...none, serverName: 'in.example' });
  assert.deepEqual(await tlsOf(t, ', tls: { ca: cert, cert: cert, key: key, server_name: localhost }'), {
    ca: files.cert,
    cert: files.cert,
    key: files.key,
    serverName: 'localhost',
  });
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  ['{ cert: cert }', 'cert', /stands without key; add the file/],
  ['{ key: key }', 'key', /stands without cert; add the file/],
  ['{ ca: nowhere }', 'ca', /cannot be used: there is no such file/],
  ['{ ca: text }', 'ca', /no PEM certificate/],
  ['{ ca: key }', 'ca', /no PEM certificate/],
  ['{ ca: cut }', 'ca', /or one that cannot be read/],
  ['{ cert: broken, key: key }', 'cert', /or one that cannot be read/],
  ['{ cert: cert, key: cert }', 'key', /no PEM private key/],
  ['{ cert: cert, key: public }', 'key', /no PEM private key/],
  ['{ cert: cert, key: locked }', 'key', /without a passphrase/],
  ['{ cert: cert, key: foreign }', 'key', /does not belong to the certificate in cert/],
  ['{ server_name: 10.0.0.7 }', 'server_name', /is an IP address, .*; write a host name/],
  ['{ server_name: "h:443" }', 'server_name', /a host name; came: "h:443"/],
].map(([section, part, error]) => ({
  text: `${upstream}    tls: ${section}`,
  line: 4,
  path: `upstreams[0].tls.${part}`,
  error: error instanceof RegExp ? error : /./,
  files,
}));

const sectionRows: readonly FaultRow[] = [
  {
    text: `${upstream}    base_url: http://h/v1\n    tls: { server_name: h }`,
    line: 5,
    path: 'upstreams[0].tls',
    error: /begins with http:\/\/, so no TLS is spoken; write https/,
  },
  {
    text: 'upstreams:\n  - id: a\n    family: local\n    tls: { server_name: h }',
    line: 4,
    path: 'upstreams[0].tls',
    error: /family local needs no network/,
  },
];

test('reports each fault in tls of an upstream once, with path, line and expected value', (t) =>
  assertFaults(t, [...faultRows, ...sectionRows]));
