import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertFaults,
  type FaultRow,
  faultsOf,
  loaded,
  sampleFamilies,
} from '../../../../test/support/gateways/configuration.ts';
import { defineFamily } from '../../../core/family.ts';

const upstreams = `upstreams:
  - { id: a, family: openai }
  - { id: r, family: ranker }
`;

test("a model's vector space is the name of its upstream model, unless space is set", async (t) => {
  const text = `${upstreams}models:
  - { id: m, operations: [embeddings], targets: [{ upstream: a, model: x }] }
  - { id: n, operations: [embeddings], space: s, targets: [{ upstream: a, model: x }, { upstream: r, model: y }] }
  - { id: o, operations: [embeddings], targets: [{ upstream: a, model: x }, { upstream: r, model: x }] }
  - { id: p, operations: [edits], targets: [{ upstream: a }] }
  - { id: q-*, operations: [embeddings], targets: [{ upstream: a }] }
  - { id: t-*, operations: [embeddings], targets: [{ upstream: a, model: x }] }
`;
  const { snapshot } = await loaded(t, text);
  assert.deepEqual(
    snapshot.models.all.map(({ space }) => space),
    ['x', 's', 'x', undefined, undefined, 'x'],
  );
});

test('in a model with embeddings, a target that serves no embeddings may have another upstream model', async (t) => {
  const rankOnly = defineFamily({
    id: 'rank-only',
    title: 'A service that embeds nothing',
    baseUrl: 'https://rank.test',
    offers: { openai: { rerank: { path: '/rerank' } } },
  });
  const text = `upstreams:
  - { id: a, family: openai }
  - { id: b, family: rank-only }
models:
  - id: m
    operations: [embeddings, rerank]
    targets:
      - { upstream: a, model: old, weight: 0 }
      - { upstream: b, model: ranks, priority: 0 }
      - { upstream: a, model: new, priority: 1 }
`;
  const { snapshot } = await loaded(t, text, { families: [...sampleFamilies, rankOnly] });
  assert.equal(snapshot.models.resolve('m')?.model.space, 'new');
});

test('warns of a space setting on a model without embeddings', async (t) => {
  const { snapshot, warnings } = await loaded(
    t,
    `${upstreams}models: [{ id: m, operations: [edits], space: s, targets: [{ upstream: a }] }]`,
  );
  assert.equal(snapshot.models.resolve('m')?.model.space, undefined);
  assert.deepEqual(warnings, ['models[0].space has no effect, as the model does not serve embeddings']);
});

test('a fault about vector spaces does not repeat a name that comes from the environment', async (t) => {
  const text = `${upstreams}models:
  - id: "\${ID}"
    operations: [embeddings]
    targets: [{ upstream: a }, { upstream: r, model: "\${OTHER}" }, { upstream: r, model: plain }]
`;
  const [fault] = await faultsOf(t, text, { env: { ID: 'hunter2', OTHER: 'hunter3' } });
  assert.match(
    String(fault?.message),
    /^targets\[0\] names one from the environment, targets\[1\] names one from the environment, targets\[2\] names "plain", and/,
  );
});

const faultRows: readonly FaultRow[] = [
  {
    text: `${upstreams}models:\n  - id: m\n    operations: [embeddings]\n    targets: [{ upstream: a }, { upstream: r, model: y }]`,
    line: 7,
    path: 'models[0].targets',
    error:
      /^targets\[0\] names "m", targets\[1\] names "y", and vectors of different models must not be mixed; make each .* set space/,
  },
  {
    text: `${upstreams}models:\n  - id: e-*\n    operations: [embeddings]\n    targets: [{ upstream: a }, { upstream: r, model: "*" }]`,
    line: 7,
    path: 'models[0].targets',
    error: /targets\[0\] names "e-\*", targets\[1\] names "\*", and vectors/,
  },
];

test('reports each fault of a vector space once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));
