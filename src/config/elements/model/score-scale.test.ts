import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, loaded } from '../../../../test/support/gateways/configuration.ts';
import { families } from '../../../families/index.ts';

const upstreams = `upstreams:
  - { id: tei, family: tei }
  - { id: infinity, family: infinity }
  - { id: nim, family: nvidia, api_key: k-0123456789 }
  - { id: cohere, family: cohere, api_key: k-0123456789 }
  - { id: vllm, family: vllm }
  - { id: aws, family: bedrock, api_key: k-0123456789, options: { region: us-east-1 } }
  - { id: local, family: local }
`;
const all = { families };

const model = (more: string) => `${upstreams}models:\n  - { id: m, operations: [rerank], ${more} }\n`;

test("a model's rerank score scale is that of all its called targets, and unknown if one of them has none", async (t) => {
  const rows: readonly (readonly [more: string, scores: string | undefined])[] = [
    ['targets: [{ upstream: tei }]', 'sigmoid'],
    ['targets: [{ upstream: tei, defaults: { raw_scores: true } }, { upstream: nim }]', 'raw'],
    ['targets: [{ upstream: tei }, { upstream: cohere }, { upstream: infinity }]', 'sigmoid'],
    ['targets: [{ upstream: tei }, { upstream: nim, weight: 0 }]', 'sigmoid'],
    ['targets: [{ upstream: vllm }]', undefined],
    ['targets: [{ upstream: tei }, { upstream: vllm }]', undefined],
    ['targets: [{ upstream: nim }, { upstream: vllm, scores: raw }]', 'raw'],
    ['targets: [{ upstream: aws, model: "cohere.rerank-v3-5:0" }]', 'sigmoid'],
    ['targets: [{ upstream: aws, model: "amazon.rerank-v1:0" }]', undefined],
    ['scores: raw, targets: [{ upstream: tei }, { upstream: nim }]', 'raw'],
    ['scores: sigmoid, targets: [{ upstream: vllm, scores: raw }, { upstream: nim }]', 'sigmoid'],
  ];
  for (const [more, scores] of rows) {
    const { snapshot } = await loaded(t, model(more), all);
    assert.equal(snapshot.models.resolve('m')?.model.scores, scores, more);
  }
  const { snapshot } = await loaded(t, upstreams, all);
  assert.equal(snapshot.models.resolve('local/bm25')?.model.scores, 'sigmoid');
  assert.equal(snapshot.models.resolve('local/hash-embed')?.model.scores, undefined);
});

const faulty: readonly (readonly [more: string, path: string, error: RegExp])[] = [
  [
    'targets: [{ upstream: tei }, { upstream: vllm }, { upstream: nim }]',
    'models[0].targets',
    /^targets\[0\] has scores between 0 and 1 \(sigmoid\), targets\[2\] has raw scores, and scores of two scales must not be mixed; set the model's scores to sigmoid or raw, .* or make each a model of its own/,
  ],
  [
    'targets: [{ upstream: tei, defaults: { raw_scores: true } }, { upstream: infinity }]',
    'models[0].targets',
    /^targets\[0\] has raw scores, targets\[1\] has scores between 0 and 1/,
  ],
  [
    'targets: [{ upstream: vllm, scores: raw }, { upstream: cohere }]',
    'models[0].targets',
    /two scales must not be mixed/,
  ],
  [
    'scores: sigmoid, targets: [{ upstream: tei }, { upstream: vllm }]',
    'models[0].targets[1]',
    /^nobody knows on which scale its scores are, so they cannot be made sigmoid; say what they are with scores: raw or scores: sigmoid on this target/,
  ],
  ['scores: logit, targets: [{ upstream: tei }]', 'models[0].scores', /raw, sigmoid/],
];

test('targets with different score scales in one model are a fault with both locations and a fix', async (t) => {
  for (const [more, path, error] of faulty) {
    const [fault, ...others] = await faultsOf(t, model(more), all);
    assert.deepEqual([fault?.path, fault?.line, others.length], [path, 10, 0], more);
    assert.match(fault?.message ?? '', error);
  }
});

test('warns of scores and raw_scores settings that have no effect', async (t) => {
  const text = `${upstreams}models:
  - { id: a, operations: [embeddings], scores: raw, targets: [{ upstream: tei }] }
  - { id: b, operations: [rerank], scores: sigmoid, targets: [{ upstream: tei, defaults: { raw_scores: true } }] }
  - { id: c, operations: [completions], targets: [{ upstream: vllm, bridge: chat, scores: raw }] }
`;
  const { snapshot, warnings } = await loaded(t, text, all);
  assert.deepEqual(warnings.filter((warning) => warning.includes('scores')).toSorted(), [
    'models[0].scores has no effect, as the model does not serve rerank',
    "models[1].targets[0].defaults.raw_scores has no effect, as the model's scores says what they are",
    'models[2].targets[0].scores has no effect, as it reranks nothing',
  ]);
  assert.deepEqual(snapshot.models.resolve('b')?.model.targets[0].defaults, {});
});
