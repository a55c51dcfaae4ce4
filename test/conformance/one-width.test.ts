/** A model with `dimensions` and no `matryoshka` has one width: another one is left out of what is sent, and named. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { embeds, inputsOf } from '../support/upstreams/list-service.ts';

const model = { operations: ['embeddings'], dimensions: 3 };

test("dimensions other than the model's are not sent upstream, and headers report this and the real width", async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model });
  for (const [asked, sent, path = '/v1/embeddings'] of [
    ['{ "model":"m" , "dimensions" : 1024 , "input":["a"],"x":1.50}', '{ "model":"m"  , "input":["a"],"x":1.50}'],
    ['{"dimensions":2,"model":"m", "input":"a"}', '{"model":"m", "input":"a"}'],
    ['\n{ "dimensions":2 ,\n"input":"a", "model":"m"}', '\n{ \n"input":"a", "model":"m"}'],
    [
      '{"model":"m","input":"\\"dimensions\\":7,","d\\u0069mensions":1e2 }',
      '{"model":"m","input":"\\"dimensions\\":7," }',
    ],
    ['{"input":"a","dimensions":0}', '{"model":"m","input":"a"}', '/v1/engines/m/embeddings'],
  ] as const) {
    const answer = await rig.post(path, asked);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.header('x-postern-ignored'), 'dimensions');
    assert.equal(answer.header('x-postern-dimensions'), '3');
    assert.equal(upstreams[0]?.requests.at(-1)?.body.toString(), sent);
  }
});

test("dimensions equal to the model's are sent unchanged, and so are any if the model declares none", async (t) => {
  for (const [declared, dimensions] of [
    [{ dimensions: 3 }, '3'],
    [{ dimensions: 3 }, '3.0'],
    [{ dimensions: 3 }, 'null'],
    [{}, '3'],
  ] as const) {
    const { rig, upstreams } = await startSeveral(t, [embeds], { model: { operations: ['embeddings'], ...declared } });
    const body = `{ "model" : "m", "dimensions" : ${dimensions}, "input":"a"}`;
    const answer = await rig.post('/v1/embeddings', body);
    assert.deepEqual(
      [answer.status, answer.header('x-postern-ignored'), answer.header('x-postern-dimensions')],
      [200, undefined, undefined],
    );
    assert.equal(upstreams[0]?.requests.at(-1)?.body.toString(), body);
  }
});

test('caches and splits lists without the dimensions field', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], {
    model: { ...model, cache: {} },
    target: [{ max_items: 2 }],
  });
  const first = await rig.post('/v1/embeddings', { model: 'm', input: ['a', 'bb', 'ccc'], dimensions: 2 });
  assert.deepEqual([first.status, first.header('x-postern-calls')], [200, '2'], first.body.toString());
  assert.equal(first.header('x-postern-dimensions'), '3');
  const again = await rig.post('/v1/embeddings', { model: 'm', input: ['ccc', 'a'] });
  assert.deepEqual([again.status, again.header('x-postern-ignored')], [200, undefined]);
  const other = await rig.post('/v1/embeddings', { model: 'm', input: ['bb'], dimensions: 512 });
  assert.deepEqual([other.status, other.header('x-postern-ignored')], [200, 'dimensions']);
  assert.deepEqual(upstreams[0]?.requests.map(inputsOf).toSorted(), [['a', 'bb'], ['ccc']]);
});

test('unsupported: refuse gives 400 for other dimensions unless another target accepts them', async (t) => {
  const body = { model: 'm', input: 'a', dimensions: 2 };
  const strict = await startSeveral(t, [embeds], { model, target: [{ unsupported: 'refuse' }] });
  assertError(await strict.rig.post('/v1/embeddings', body), 'unsupported_parameter', {
    param: 'dimensions',
    message: /vectors of this model have 3 numbers; leave it out, or send 3/,
  });
  assert.equal((await strict.rig.post('/v1/embeddings', { ...body, dimensions: 3 })).status, 200);
  assert.deepEqual(strict.seen(), [1]);
  const either = await startSeveral(t, [embeds, embeds], {
    model,
    target: [{ unsupported: 'refuse' }, {}],
  });
  for (let i = 0; i < 3; i += 1) assert.equal((await either.rig.post('/v1/embeddings', body)).status, 200);
  assert.deepEqual(either.seen(), [0, 3]);
});

test('removes other dimensions from requests of other client APIs', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model });
  const cohere = await rig.post('/cohere/v2/embed', {
    model: 'm',
    texts: ['a'],
    input_type: 'search_document',
    embedding_types: ['float'],
    output_dimension: 2,
  });
  assert.deepEqual([cohere.status, cohere.header('x-postern-dimensions')], [200, '3'], cohere.body.toString());
  assert.equal(upstreams[0]?.requests.at(-1)?.body.includes('imension'), false);
});
