/** Clients of NVIDIA and vLLM at their client APIs: ranking and scores are rerank, of every family that does it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAnswer, startClientApis } from '../support/gateways/client-apis.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const json: [string, string] = ['content-type', 'application/json'];
const ranking: Handler = (_request, reply) =>
  reply.bytes(
    200,
    [json],
    '{"results":[{"index":1,"relevance_score":0.90},{"index":0,"relevance_score":-1e-3}],"usage":{"total_tokens":7}}',
  );

test("NVIDIA's ranking is sorted by score, vLLM's score is in input order, and both keep the upstream's digits", async (t) => {
  const { rig, asked } = await startClientApis(t, ranking);
  const passages = [{ text: 'a' }, { text: 'b' }];
  for (const [path, model] of [
    ['/v1/ranking', 'ranker'],
    ['/nvidia/v1/ranking', 'ranker'],
    ['/v1/retrieval/ranker/reranking', undefined],
  ] as const) {
    const answer = await rig.post(path, { model, query: { text: 'q' }, passages, truncate: 'END' });
    assertAnswer(
      answer,
      '{"rankings":[{"index":1,"logit":0.90},{"index":0,"logit":-1e-3}],"usage":{"prompt_tokens":7,"total_tokens":7}}',
    );
    assert.deepEqual((await asked()).body, { model: 'real', query: 'q', documents: ['a', 'b'] });
  }
  const rows = [
    { text_1: 'q', text_2: ['a', 'b'] },
    { queries: ['q'], documents: ['a', 'b'] },
    { data_1: 'q', data_2: ['a', 'b'], text_1: null },
  ];
  for (const row of rows) {
    for (const path of ['/score', '/v1/score', '/vllm/score']) {
      const answer = await rig.post(path, { model: 'ranker', ...row });
      const { id, created, ...said } = answer.json() as Record<string, unknown>;
      assert.ok(String(id).startsWith('score-') && Number.isInteger(created));
      assert.match(answer.body.toString(), /"score":-1e-3.*"score":0\.90/);
      assert.deepEqual(said, {
        object: 'list',
        model: 'ranker',
        data: [
          { index: 0, object: 'score', score: -1e-3 },
          { index: 1, object: 'score', score: 0.9 },
        ],
        usage: { prompt_tokens: 7, total_tokens: 7 },
      });
      assert.deepEqual((await asked()).body, { model: 'real', query: 'q', documents: ['a', 'b'] });
      assert.equal((await rig.exchange(rig.settled.length)).usage?.totalTokens, 7);
    }
  }
});

test("unsupported requests are refused by name, in each API's shape", async (t) => {
  const { rig, upstream } = await startClientApis(t, ranking);
  const rows: readonly (readonly [path: string, body: object, expected: RegExp])[] = [
    ['/v1/ranking', { model: 'ranker', query: { text: 'q' } }, /^\{"detail":"The field \\"passages\\" is missing/],
    ['/v1/ranking', { model: 'ranker', query: {}, passages: [{ text: 'a' }] }, /"query\\" must be/],
    ['/v1/ranking', { model: 'ranker', query: { text: 'q' }, passages: [{ text: 'a', image: 'u' }] }, /passages\[0\]/],
    ['/v1/ranking', { model: 'ranker', query: { text: 'q' }, passages: [{}], truncate: 'NONE' }, /truncate/],
    ['/v1/ranking', { model: 'direct', query: { text: 'q' }, passages: [{ text: 'a' }] }, /does not serve rerank/],
    ['/score', { model: 'ranker', text_1: 'q' }, /^\{"error":\{"message":"The fields \\"text_1\\"/],
    ['/score', { model: 'ranker', text_1: ['q', 'r'], text_2: ['a', 'b'] }, /"text_1\\" cannot be served/],
    ['/score', { model: 'ranker', text_1: 'q', text_2: [1] }, /"text_2/],
    ['/score', { model: 'ranker', text_1: 'q', text_2: 'a', truncate_prompt_tokens: 9 }, /truncate_prompt_tokens/],
    ['/classify', { model: 'ranker', input: 'a' }, /"code":"operation_not_supported"/],
    ['/pooling', { model: 'direct', input: 'a' }, /"code":"operation_not_supported"/],
  ];
  for (const [path, body, expected] of rows) {
    const answer = await rig.post(path, body);
    assert.equal(answer.status, 400, `${path}: ${answer.body}`);
    assert.match(answer.body.toString(), expected, path);
  }
  assert.equal(upstream.requests.length, 0);
});
