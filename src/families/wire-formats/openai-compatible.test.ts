import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Options, offersOf } from '../../core/family.ts';
import { openaiCompatible } from './openai-compatible.ts';

const row = { id: 'row', title: 'A row', baseUrl: 'https://row.test/v1' };

function offered(facts: Parameters<typeof openaiCompatible>[0], options: Options = {}) {
  return offersOf(openaiCompatible(facts), options).openai ?? {};
}

test('a family offers the operations in its definition, directly under the base URL, with a bearer token', () => {
  const family = openaiCompatible({ ...row, completions: { facts: 'c' }, rerank: { own: [], facts: 'r' } });
  const { openai = {}, ...others } = offersOf(family, {});
  assert.deepEqual(
    Object.entries(openai).map(([operation, { path, facts }]) => [operation, path, facts]),
    [
      ['completions', '/completions', 'c'],
      ['rerank', '/rerank', 'r'],
    ],
  );
  assert.deepEqual(others, {});
  assert.deepEqual(family.auth, { header: 'authorization', prefix: 'Bearer ' });
  assert.deepEqual(family.errors, {});
});

test('requests and responses pass unchanged unless a limitation of the upstream needs a check', () => {
  const plain = offered({ ...row, completions: { facts: '' }, embeddings: { facts: '' } });
  assert.equal(plain.completions?.translation, undefined);
  // Whether the requested base64 was sent must be checked.
  assert.equal(typeof plain.embeddings?.translation?.isNeeded, 'function');
  for (const lack of [{ onePromptACall: true }, { misreadsTokens: true }]) {
    const { completions } = offered({ ...row, completions: { ...lack, facts: '' } });
    assert.equal(typeof completions?.translation?.isNeeded, 'function', JSON.stringify(lack));
  }
  for (const lack of [{ lacksBase64: true }, { misreadsTokens: true }, { maxItems: 32 }]) {
    const { embeddings } = offered({ ...row, embeddings: { ...lack, facts: '' } });
    assert.equal(typeof embeddings?.translation?.isNeeded, 'function', JSON.stringify(lack));
  }
});

test("the paths of all operations, chat included, are made by the family's at function", () => {
  const family = openaiCompatible({
    ...row,
    at: (path, { side }) => `/${side}${path}`,
    completions: { facts: '' },
    embeddings: { facts: '' },
  });
  const { chat } = family;
  assert.equal(typeof chat === 'function' ? chat({ side: 'left' }) : chat, '/left/chat/completions');
  const { openai = {} } = offersOf(family, { side: 'left' });
  assert.deepEqual(
    Object.values(openai).map(({ path }) => path),
    ['/left/completions', '/left/embeddings'],
  );
});

test('a family offers chat if it has completions or sets hasChat', () => {
  const embeddings = { facts: '' };
  assert.equal(openaiCompatible({ ...row, embeddings }).chat, undefined);
  assert.equal(typeof openaiCompatible({ ...row, embeddings, hasChat: true }).chat, 'function');
  assert.equal(typeof openaiCompatible({ ...row, completions: { facts: '' } }).chat, 'function');
});

test('a family may add operations with definitions of its own', () => {
  const own = { rerank: { path: '/ranking' } };
  assert.deepEqual(Object.keys(offered({ ...row, embeddings: { facts: '' }, own: () => own })), [
    'embeddings',
    'rerank',
  ]);
});
