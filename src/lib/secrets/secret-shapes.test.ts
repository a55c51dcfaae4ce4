import assert from 'node:assert/strict';
import test from 'node:test';
import { priceTable } from '../../prices/table.ts';
import { findSecretShape, maskOf, withMasks } from './secret-shapes.ts';

const letters = 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xYzA3bC5dE7f';
const secrets = [
  `sk-${letters}`,
  `sk-proj-${letters}_${letters}-${letters}`,
  `sk-ant-api03-${letters}-${letters}`,
  `sk-or-v1-${'0123456789abcdef'.repeat(4)}`,
  `AIza${letters.slice(0, 35)}`,
  `xai-${letters.repeat(2)}`,
  `gsk_${letters}`,
  `hf_${letters.slice(0, 34)}`,
  `pa-${letters}`,
  `jina_${'0123456789abcdef'.repeat(2)}${letters}`,
  'AKIAIOSFODNNEXAMPLES',
  'ASIAIOSFODNN7EXAMPLE',
  `ghp_${letters.slice(0, 36)}`,
  `github_pat_${letters.slice(0, 22)}_${letters}`,
  `glpat-${letters.slice(0, 20)}`,
  `nvapi-${letters}`,
  `pcsk_${letters}`,
  `pplx-${letters}`,
  `r8_${letters.slice(0, 37)}`,
];

test('finds secrets of well-known services only, also in URLs, lists and JSON escapes', () => {
  for (const secret of secrets) {
    assert.equal(findSecretShape(secret), secret);
    for (const around of ['https://*.example/v1', 'team-*', '["a","*"]', '{"name":"a\\n*"}', 'key: *, and more']) {
      const text = around.replace('*', () => secret);
      assert.equal(withMasks(text), around.replace('*', maskOf(secret)), text);
    }
  }
});

test('gives each secret its own mask, which contains no part of it', () => {
  const masks = secrets.map(maskOf);
  assert.equal(new Set(masks).size, secrets.length);
  for (const mask of masks) {
    assert.match(mask, /^masked-[0-9a-f]{8}$/);
    assert.equal(findSecretShape(`https://${mask}.example/sk-${mask}`), undefined);
  }
  assert.equal(withMasks(`${secrets[0]} ${secrets[2]} ${secrets[0]}`), `${masks[0]} ${masks[2]} ${masks[0]}`);
});

test("no model of the price table looks like a secret, even after a secret's prefix", () => {
  const models = priceTable.flatMap((list) => Object.keys(list.models));
  assert.ok(models.length > 50);
  for (const model of models) {
    for (const prefix of ['', 'sk-', 'pa-', 'hf_', 'jina_', 'xai-', 'gsk_', 'AIza', 'nvapi-', 'team/sk-']) {
      assert.equal(findSecretShape(prefix + model), undefined, prefix + model);
    }
  }
});

test('no ordinary name looks like a secret', () => {
  const names = [
    'sk-0123456789',
    'sk-learn-text-classification-2024-11-20',
    'sk-abcdefghijklmnopqrstuvwxyz',
    'task-0123456789abcdef0123456789abcdef',
    'disk-0123456789abcdef0123456789abcdef',
    'xlm-pa-roberta-large-multilingual-2024',
    'jina_embeddings-v3-text-matching-large',
    'hf_sentence-transformers-all-mpnet-base-v2',
    'AKIAIOSFODNN7',
    'arn:aws:bedrock:eu-west-1:123456789012:provisioned-model/abcdefghijkl',
    '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'ft:gpt-4o-mini-2024-07-18:acme:support:9aBcDeF1',
  ];
  for (const name of names) {
    assert.equal(findSecretShape(name), undefined, name);
    assert.equal(withMasks(name), name);
  }
});
