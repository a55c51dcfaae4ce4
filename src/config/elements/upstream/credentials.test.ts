import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import {
  assertFaults,
  createDirectory,
  type FaultRow,
  faultsOf,
  loaded,
} from '../../../../test/support/gateways/configuration.ts';
import { defineFamily } from '../../../core/family.ts';
import { loadConfiguration } from '../../load.ts';

async function upstreamOf(t: TestContext, fields: string, surroundings?: Parameters<typeof loaded>[2]) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, ${fields} }]`, surroundings);
  const upstream = snapshot.upstreams.get('a');
  assert.ok(upstream);
  return upstream;
}

test("an upstream's key is sent in the header that its family defines", async (t) => {
  assert.deepEqual((await upstreamOf(t, 'family: openai, api_key: sk-1')).credentials[0].headers, [
    'authorization',
    'Bearer sk-1',
  ]);
  assert.deepEqual((await upstreamOf(t, 'family: ranker, api_key: rk-1')).credentials[0].headers, [
    'x-ranker-key',
    'rk-1',
  ]);
  assert.deepEqual((await upstreamOf(t, 'family: openai')).credentials[0].headers, []);
});

test('api_key_file contains the key, and white space around it is ignored', async (t) => {
  const upstream = await upstreamOf(t, 'family: openai, api_key_file: k', { files: { k: '\nsk-1\n' } });
  assert.deepEqual(upstream.credentials[0].headers, ['authorization', 'Bearer sk-1']);
});

test('each of several credentials has its header value, weight and ID, and counts as a secret', async (t) => {
  const keys = '[{ api_key: first-key }, { api_key: second-key, weight: 3 }, { api_key_file: k, weight: 0 }]';
  const fields = `family: openai, headers: { x-team: red }, credentials: ${keys}`;
  const upstream = await upstreamOf(t, fields, { files: { k: 'third-key' } });
  assert.deepEqual(
    upstream.credentials.map(({ id, weight, headers }) => [id, weight, headers]),
    [
      ['key 1', 1, ['x-team', 'red', 'authorization', 'Bearer first-key']],
      ['key 2', 3, ['x-team', 'red', 'authorization', 'Bearer second-key']],
      ['key 3', 0, ['x-team', 'red', 'authorization', 'Bearer third-key']],
    ],
  );
  assert.deepEqual(upstream.secrets, ['first-key', 'second-key', 'third-key']);
});

test('a credentials list with one entry is equivalent to api_key', async (t) => {
  const listed = await upstreamOf(t, 'family: openai, credentials: [{ api_key: sk-1 }]');
  const alone = await upstreamOf(t, 'family: openai, api_key: sk-1');
  assert.deepEqual(listed.credentials, alone.credentials);
  assert.deepEqual([alone.credentials[0].id, alone.credentials[0].weight], ['key', 1]);
});

test("the fingerprint of a credential depends only on the upstream's ID and the secret", async (t) => {
  const fingerprintOf = async (fields: string) => (await upstreamOf(t, fields)).credentials[0].fingerprint;
  const fingerprint = await fingerprintOf('family: openai, api_key: sk-1');
  assert.equal(fingerprint, createHash('sha256').update('a\0sk-1').digest('hex').slice(0, 16));
  assert.equal(await fingerprintOf('family: ranker, credentials: [{ api_key: sk-1, weight: 7 }]'), fingerprint);
  assert.notEqual(await fingerprintOf('family: openai, api_key: sk-2'), fingerprint);

  const inHeader = await fingerprintOf('family: openai, headers: { authorization: one }');
  assert.notEqual(await fingerprintOf('family: openai, headers: { authorization: two }'), inHeader);
});

test('credentials of each upstream are counted, zero if it has none', async (t) => {
  const { credentialCounts } = await loaded(
    t,
    'upstreams: [{ id: a, family: openai }, { id: b, family: openai, credentials: [{ api_key: x }, { api_key: y }] }]',
  );
  assert.deepEqual(
    [...credentialCounts],
    [
      ['a', 0],
      ['b', 2],
    ],
  );
});

test('a configured header that replaces the credential header leaves one credential, with a warning', async (t) => {
  const { snapshot, warnings } = await loaded(
    t,
    'upstreams: [{ id: a, family: openai, headers: { Authorization: mine }, credentials: [{ api_key: x }, { api_key: y }] }]',
  );
  assert.deepEqual(
    snapshot.upstreams.get('a')?.credentials.map(({ id, headers }) => [id, headers]),
    [['key', ['authorization', 'mine']]],
  );
  assert.deepEqual(warnings, ['upstreams[0]: its keys have no effect, as headers sets authorization']);
});

test('configured headers are sent in lower case, and replace the credential header of the same name', async (t) => {
  const upstream = await upstreamOf(
    t,
    'family: openai, api_key: sk-1, headers: { X-Team: "red team", Authorization: Basic abcdefgh }',
  );
  assert.deepEqual(upstream.credentials[0].headers, ['x-team', 'red team', 'authorization', 'Basic abcdefgh']);
});

test('warns of a key for a family that takes no credential', async (t) => {
  const { warnings } = await loaded(t, 'upstreams: [{ id: a, family: local, api_key: sk-1 }]');
  assert.deepEqual(warnings, ['upstreams[0]: its key has no effect, as family local takes none']);
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  { text: `${upstream}    api_key_file: nowhere`, line: 4, path: 'upstreams[0].api_key_file', error: /no such file/ },
  {
    text: `${upstream}    api_key_file: k`,
    line: 4,
    path: 'upstreams[0].api_key_file',
    error: /is empty/,
    files: { k: ' \n' },
  },
  {
    text: `${upstream}    api_key_file: k`,
    line: 4,
    path: 'upstreams[0].api_key_file',
    error: /other than one key/,
    files: { k: 'a\nb' },
  },
  { text: `${upstream}    api_key: ""`, line: 4, path: 'upstreams[0].api_key', error: /came: an empty text/ },
  {
    text: `${upstream}    api_key: x\n    api_key_file: k`,
    line: 5,
    path: 'upstreams[0].api_key_file',
    error: /beside api_key/,
    files: { k: 'x' },
  },
  {
    text: `${upstream}    api_key: x\n    credentials: [{ api_key: y }]`,
    line: 5,
    path: 'upstreams[0].credentials',
    error: /keep one/,
  },
  {
    text: `${upstream}    credentials:\n      - weight: 1`,
    line: 5,
    path: 'upstreams[0].credentials[0]',
    error: /has no key/,
  },
  { text: `${upstream}    credentials: []`, line: 4, path: 'upstreams[0].credentials', error: /at least one/ },
  {
    text: `${upstream}    credentials:\n      - { api_key: x, weight: 0 }\n      - { api_key: y, weight: 0 }`,
    line: 4,
    path: 'upstreams[0].credentials',
    error: /every weight is 0, .*; give one of them a weight/,
  },
  {
    text: `${upstream}    credentials:\n      - { api_key: x, weight: -1 }`,
    line: 5,
    path: 'upstreams[0].credentials[0].weight',
    error: /a whole number from 0 to 1000000; came: -1/,
  },
  {
    text: `${upstream}    credentials:\n      - api_key: same\n      - api_key: other\n      - api_key_file: k`,
    line: 7,
    path: 'upstreams[0].credentials[2].api_key_file',
    error: /the same key as that of upstreams\[0\]\.credentials\[0\] \(line 5\); keep one/,
    files: { k: 'same\n' },
  },
];

test('reports each fault of a credential once, with path, line and expected value', (t) => assertFaults(t, faultRows));

test('api_key may contain a whole credential document for a family that takes one, and is one word otherwise', async (t) => {
  const account = JSON.stringify({ type: 'service_account', note: 'with spaces\nand lines' });
  const family = defineFamily({
    id: 'documented',
    title: 'Takes documents',
    baseUrl: 'https://documented.test',
    credential: 'document',
    signer: () => () => [],
    offers: { openai: { embeddings: { path: '/embed' } } },
  });
  const cwd = await createDirectory(t, {
    'postern.yaml': `upstreams: [{ id: a, family: documented, api_key: ${JSON.stringify(account)} }]`,
  });
  const found = await loadConfiguration({ env: {}, families: [family], cwd });
  assert.ok(found.ok, JSON.stringify(found));
  const [fault] = await faultsOf(t, 'upstreams: [{ id: a, family: openai, api_key: "two words" }]');
  assert.equal(fault?.path, 'upstreams[0].api_key');
  assert.match(fault?.message ?? '', /wanted: visible ASCII characters/);
  assert.doesNotMatch(fault?.message ?? '', /two words/);
});
