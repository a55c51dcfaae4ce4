import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { parseKeyRing } from '../../lib/secrets/sealed.ts';
import { hideSecrets, openDocument, sealDocument, sealsOf } from './sealed-fields.ts';

const ring = parseKeyRing(randomBytes(32).toString('hex'));
const name = { kind: 'upstream', id: 'a' } as const;
const secret = 'sk-0123456789';

function seal(document: Readonly<Record<string, unknown>>, keys: typeof ring | undefined = ring) {
  const sealing = sealDocument(name, document, keys, undefined);
  assert.ok('document' in sealing, JSON.stringify(sealing));
  return sealing.document;
}

function open(document: Readonly<Record<string, unknown>>) {
  const opened = openDocument(name, document, ring, (_path, message) => assert.fail(message));
  return JSON.parse(JSON.stringify(opened));
}

test('every value of a document that may contain a secret is encrypted, at any depth, and decrypts again', () => {
  const document = {
    id: 'a',
    family: 'openai',
    base_url: `https://user:${secret}@example.test/v1`,
    api_key: secret,
    credentials: [{ api_key: secret, weight: 2 }, { api_key: secret }],
    headers: { authorization: `Bearer ${secret}`, 'x-plain': secret },
    health_check: { path: `/health?key=${secret}` },
  };
  const sealed = seal(document);
  assert.equal(JSON.stringify(sealed).includes(secret), false);
  assert.equal(sealsOf('upstream', sealed).length, 7);
  assert.deepEqual(open(sealed), document);
});

test('values that contain no secret are stored in plain text and need no secret key', () => {
  const document = {
    id: 'a',
    family: 'openai',
    base_url: 'https://example.test/v1',
    api_key_file: 'keys/a',
    headers: { 'x-empty': '' },
    forward_headers: ['x-team'],
    limits: { concurrency: 4 },
    health_check: { path: '/health' },
  };
  assert.deepEqual(JSON.parse(JSON.stringify(seal(document, undefined))), document);
});

test('exchanging two encrypted secrets within a document makes both fail to decrypt', () => {
  const sealed = seal({ id: 'a', credentials: [{ api_key: secret }, { api_key: 'another' }] });
  const turned = { ...sealed, credentials: [sealed.credentials].flat().toReversed() };
  const faults: string[] = [];
  openDocument(name, turned, ring, (path) => faults.push(path.join('.')));
  assert.deepEqual(faults, ['credentials.0.api_key', 'credentials.1.api_key']);
});

test('a secret that looks like an encrypted value is encrypted all the same', () => {
  const looksSealed = ring.seal('x', 'elsewhere');
  assert.deepEqual(open(seal({ id: 'a', api_key: looksSealed })), { id: 'a', api_key: looksSealed });
});

test('the displayed form of a document contains no secret, neither encrypted nor in plain text', () => {
  const document = { id: 'a', api_key: secret, headers: { h: secret } };
  const shown = { id: 'a', api_key: '(sealed)', headers: { h: '(sealed)' } };
  assert.deepEqual(JSON.parse(JSON.stringify(hideSecrets('upstream', document))), shown);
  assert.deepEqual(JSON.parse(JSON.stringify(hideSecrets('upstream', seal(document)))), shown);
});
