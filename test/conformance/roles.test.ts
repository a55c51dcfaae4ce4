/** Prefixes by role: for models that want them, at upstreams that add none. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startRig } from '../support/gateways/rig.ts';
import { type SeveralOptions, startSeveral } from '../support/gateways/several.ts';
import { embeds, inputsOf } from '../support/upstreams/list-service.ts';

const roles = { query: 'query: ', document: 'passage: ' };
const e5: SeveralOptions = {
  model: { operations: ['embeddings'], aliases: ['m-query', 'm:document', 'm-other'], roles },
};

test("prepends the role's prefix to each text, and removes the role field", async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], e5);
  for (const [said, role] of [
    [{ input_type: 'query' }, 'query'],
    [{ input_type: 'search_document' }, 'document'],
    [{ task: 'retrieval.passage' }, 'document'],
    [{ task_type: 'RETRIEVAL_QUERY' }, 'query'],
    [{ prompt_name: 'query' }, 'query'],
    [{ model: 'm-query' }, 'query'],
    [{ model: 'm:document' }, 'document'],
    // The request's value wins over its alias.
    [{ model: 'm-query', input_type: 'document' }, 'document'],
  ] as const) {
    const body = { model: 'm', input: ['a', 'b "c"'], user: 'u', ...said };
    const answer = await rig.post('/v1/embeddings', body);
    assert.deepEqual([answer.status, answer.header('x-postern-role')], [200, role], JSON.stringify(said));
    const sent = JSON.parse(upstreams[0]?.requests.at(-1)?.body.toString() ?? '');
    assert.deepEqual(sent, { model: 'm', input: ['a', 'b "c"'].map((text) => roles[role] + text), user: 'u' });
  }
});

test('passes bytes unchanged without a role, or for one without a prefix', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], {
    model: { ...e5.model, roles: { query: 'query: ' } },
  });
  for (const more of ['', ', "task": "text-matching"', ', "input_type": "document"', ', "input_type": null']) {
    const body = `{ "model": "m" , "input" : "a"${more} }`;
    const answer = await rig.post('/v1/embeddings', body);
    assert.deepEqual([answer.status, answer.header('x-postern-role')], [200, undefined]);
    assert.equal(upstreams[0]?.requests.at(-1)?.body.toString(), body);
  }
  assert.equal(
    (await rig.post('/v1/embeddings', { model: 'm-other', input: 'a' })).header('x-postern-role'),
    undefined,
  );
});

test('the legacy /v1/engines path takes the role from the model alias, the Cohere API from input_type', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], e5);
  const legacy = await rig.post('/v1/engines/m-query/embeddings', { input: 'a' });
  assert.equal(legacy.header('x-postern-role'), 'query');
  const cohere = await rig.post('/cohere/v2/embed', {
    model: 'm',
    texts: ['a'],
    input_type: 'search_document',
    embedding_types: ['float'],
  });
  assert.deepEqual([cohere.status, cohere.header('x-postern-role')], [200, 'document'], cohere.body.toString());
  assert.deepEqual(upstreams[0]?.requests.map(inputsOf), [['query: a'], ['passage: a']]);
});

test('caches a text by its role', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model: { ...e5.model, cache: {} } });
  const ask = async (model: string) =>
    (await rig.post('/v1/embeddings', { model, input: 'a' })).header('x-postern-cache');
  assert.deepEqual(
    [await ask('m-query'), await ask('m:document'), await ask('m'), await ask('m-query'), await ask('m:document')],
    ['miss', 'miss', 'miss', 'hit', 'hit'],
  );
  assert.deepEqual(upstreams[0]?.requests.map(inputsOf), [['query: a'], ['passage: a'], ['a']]);
});

test('refuses inputs that can have no prefix, and two roles at once', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], e5);
  for (const [body, param] of [
    [{ input: [[1, 2]], input_type: 'query' }, 'input[0]'],
    [{ input: [1, 2], input_type: 'query' }, 'input[0]'],
    [{ input: ['a'], input_type: 'query', prompt_name: 'document' }, 'prompt_name'],
  ] as const) {
    assertError(await rig.post('/v1/embeddings', { model: 'm', ...body }), 'unsupported_parameter', { param });
  }
  assert.equal(upstreams[0]?.requests.length, 0);
});

test('refuses prefixes for an upstream with roles of its own', async (t) => {
  const document = {
    upstreams: [{ id: 'up', family: 'cohere', api_key: 'sk-credential-of-cohere' }],
    models: [{ id: 'm', operations: ['embeddings'], roles, targets: [{ upstream: 'up' }] }],
  };
  await assert.rejects(startRig(t, document), /models\[0\]\.roles.*\\"up\\" \(cohere\) knows roles by itself/);
});
