/** All scores of a model use one scale, whichever target reranks: the answer states it, and it is the operator's. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { authorized } from '../support/gateways/pair.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

interface Setup {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
}

/** As Infinity writes it, which is not how we would. */
const infinityAnswer = '{ "results":[{"relevance_score":0.10,"index":0},{"relevance_score":0.90,"index":1}] }';

async function open(t: TestContext, scores: string | undefined, target: object = {}): Promise<Setup> {
  const upstream = await startFakeUpstream((request, reply) => {
    switch (request.path) {
      case '/v1/ranking':
        reply.json(200, {
          rankings: [
            { index: 1, logit: 800 },
            { index: 0, logit: 0 },
            { index: 2, logit: -1e300 },
          ],
        });
        break;
      case '/tei/rerank':
        reply.json(200, [
          { index: 1, score: 1 },
          { index: 0, score: 0.5 },
          { index: 2, score: 0 },
        ]);
        break;
      default:
        reply.bytes(200, [['content-type', 'application/json']], infinityAnswer);
    }
  });
  t.after(() => upstream.close());
  const families = { tei: `${upstream.url}/tei`, nvidia: upstream.url, infinity: upstream.url, vllm: upstream.url };
  const rig = await startRig(t, {
    upstreams: [
      ...Object.entries(families).map(([family, base_url]) => ({
        id: family,
        family,
        base_url,
        api_key: 'sk-12345678',
      })),
      { id: 'local', family: 'local' },
    ],
    models: Object.keys(families).map((id) => ({
      id,
      operations: ['rerank'],
      targets: [{ upstream: id, ...(id === 'vllm' && { scores: 'raw' }), ...target }],
      ...(scores !== undefined && { scores }),
    })),
  });
  return { upstream, rig };
}

const three = { query: 'q', documents: ['a', 'b', 'c'] };
const two = { query: 'q', documents: ['a', 'b'] };

function rerank({ rig }: Setup, model: string, body: object): Promise<RawResponse> {
  return rig.post('/v1/rerank', { model, ...body }, { headers: authorized() });
}

interface Result {
  readonly index: number;
  readonly relevance_score: number;
}

function resultsIn(answer: RawResponse): (readonly [index: number, score: number])[] {
  assert.equal(answer.status, 200, answer.body.toString());
  const { results }: { results: readonly Result[] } = JSON.parse(answer.body.toString());
  return results.map(({ index, relevance_score: score }) => [index, score]);
}

const sentTo = async ({ upstream }: Setup): Promise<Record<string, unknown>> =>
  JSON.parse((await upstream.nextRequest()).body.toString());

test('a response names its score scale if known, and bytes pass', async (t) => {
  const setup = await open(t, undefined);
  for (const [model, body, scale] of [
    ['tei', three, 'sigmoid'],
    ['tei', { ...three, raw_scores: true }, 'raw'],
    ['nvidia', three, 'raw'],
    ['infinity', two, 'sigmoid'],
    ['infinity', { ...two, raw_scores: true }, 'raw'],
    ['infinity', { ...two, raw_scores: 'perhaps' }, 'unknown'],
    ['vllm', two, 'raw'],
    ['local/bm25', two, 'sigmoid'],
  ] as const) {
    const answer = await rerank(setup, model, body);
    assert.equal(answer.header('x-postern-scores'), scale, `${model} ${JSON.stringify(body)}`);
    if (model === 'infinity' || model === 'vllm') assert.equal(answer.body.toString(), infinityAnswer);
  }
});

test('an error names no score scale', async (t) => {
  const { upstream, rig } = await open(t, undefined);
  upstream.respondWith((_request, reply) => reply.json(400, { error: 'no' }));
  const refused = await rig.post('/v1/rerank', { model: 'tei', ...two }, { headers: authorized() });
  assert.deepEqual([refused.status, refused.header('x-postern-scores')], [400, undefined]);
});

test('logits become probabilities in the same order, and stay numbers however large', async (t) => {
  const setup = await open(t, 'sigmoid');
  const answer = await rerank(setup, 'nvidia', three);
  assert.deepEqual(resultsIn(answer), [
    [1, 1],
    [0, 0.5],
    [2, 0],
  ]);
  assert.equal(answer.header('x-postern-scores'), 'sigmoid');
  assert.deepEqual(resultsIn(await rerank(setup, 'nvidia', { ...three, top_n: 2 })), [
    [1, 1],
    [0, 0.5],
  ]);
});

test('a server that supports raw scores is asked for them, and any other is converted', async (t) => {
  const setup = await open(t, 'raw');
  const fromTei = await rerank(setup, 'tei', { ...three, raw_scores: false });
  assert.deepEqual(await sentTo(setup), { query: 'q', texts: three.documents, raw_scores: true });
  // Unchanged: it already returns what the client wants.
  assert.deepEqual(resultsIn(fromTei), [
    [1, 1],
    [0, 0.5],
    [2, 0],
  ]);

  const fromInfinity = await rerank(setup, 'infinity', two);
  assert.equal((await sentTo(setup)).raw_scores, true);
  assert.deepEqual(resultsIn(fromInfinity), [
    [1, 0.9],
    [0, 0.1],
  ]);
  assert.equal(fromInfinity.header('x-postern-translated'), 'infinity');
  assert.equal(fromInfinity.header('x-postern-scores'), 'raw');

  // One that asks for itself what the operator wants needs nothing done.
  const asItCame = await rerank(setup, 'infinity', { ...two, raw_scores: true });
  assert.equal(asItCame.body.toString(), infinityAnswer);

  const made = resultsIn(await rerank(setup, 'vllm', two));
  assert.deepEqual(made, [
    [0, 0.1],
    [1, 0.9],
  ]);
});

test('probabilities become logits with finite bounds in the same order', async (t) => {
  const setup = await open(t, 'raw', { scores: 'sigmoid' });
  setup.upstream.respondWith((_request, reply) =>
    reply.json(200, {
      results: [
        { index: 0, relevance_score: 0 },
        { index: 1, relevance_score: 0.5 },
        { index: 2, relevance_score: 1 },
      ],
    }),
  );
  const answer = await rerank(setup, 'vllm', three);
  assert.deepEqual(resultsIn(answer), [
    [2, 36.7368005696771],
    [1, 0],
    [0, -744.4400719213812],
  ]);
  assert.equal(answer.header('x-postern-translated'), 'vllm');

  setup.upstream.respondWith((_request, reply) => reply.json(200, { results: [{ index: 0, relevance_score: 7.5 }] }));
  assertError(await rerank(setup, 'vllm', { query: 'q', documents: ['a'] }), 'upstream_protocol_error', {
    message: /a score is 7\.5, and those of this target are said to lie between 0 and 1/,
  });
});

test('a client that requests raw scores gets them from every target that can', async (t) => {
  const setup = await open(t, 'sigmoid');
  const answer = await rerank(setup, 'nvidia', { ...three, raw_scores: true });
  assert.equal('raw_scores' in (await sentTo(setup)), false);
  assert.deepEqual(resultsIn(answer).at(0), [1, 800]);
  assert.equal(answer.header('x-postern-scores'), 'raw');
  const plain = await open(t, undefined);
  assert.deepEqual(resultsIn(await rerank(plain, 'nvidia', { ...three, raw_scores: true })).at(0), [1, 800]);
  assert.equal('raw_scores' in (await sentTo(plain)), false);
  assertError(await rerank(setup, 'nvidia', { ...three, raw_scores: 'yes' }), 'unsupported_parameter', {
    message: /"raw_scores" cannot be served: .* wants true or false/,
    param: 'raw_scores',
  });
});

test("NVIDIA's clients get raw scores where the upstream has the choice, and other upstreams are not asked for them", async (t) => {
  for (const scores of [undefined, 'sigmoid']) {
    const setup = await open(t, scores);
    for (const [model, passages, sent, header] of [
      ['nvidia', three.documents, undefined, 'raw'],
      ['tei', three.documents, true, 'raw'],
      ['infinity', two.documents, true, 'raw'],
      ['vllm', two.documents, undefined, 'raw'],
    ] as const) {
      const body = { model, query: { text: 'q' }, passages: passages.map((text) => ({ text })) };
      const answer = await setup.rig.post('/v1/ranking', body, { headers: authorized() });
      assert.equal(answer.status, 200, `${model} ${answer.body}`);
      assert.deepEqual([answer.header('x-postern-scores'), (await sentTo(setup)).raw_scores], [header, sent], model);
    }
  }
});
