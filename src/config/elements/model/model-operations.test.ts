import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

const upstreams = `upstreams:
  - { id: a, family: openai }
  - { id: r, family: ranker }
  - { id: s, family: ranker }
`;

async function served(t: TestContext, model: string) {
  const { snapshot, warnings } = await loaded(t, `${upstreams}models:\n  - { id: m, ${model} }\n`);
  return { operations: snapshot.models.resolve('m')?.model.operations, warnings };
}

test('a model without operations serves those of its family, with a warning if there are several', async (t) => {
  const { operations, warnings } = await served(t, 'targets: [{ upstream: r }, { upstream: s }]');
  assert.deepEqual(operations, ['rerank', 'embeddings']);
  assert.deepEqual(warnings, [
    'models[0].operations is left to family ranker, which offers rerank, embeddings; name those that the model serves',
  ]);
});

test('a model without operations and with targets of several families serves the union of their operations', async (t) => {
  const { operations, warnings } = await served(t, 'targets: [{ upstream: r }, { upstream: a }]');
  assert.deepEqual(operations, ['completions', 'edits', 'rerank', 'moderations', 'embeddings']);
  assert.deepEqual(warnings, [
    'models[0].operations is left to families ranker and openai, which offer completions, edits, rerank, moderations, embeddings; name those that the model serves',
  ]);
});

test('a target with weight 0 adds no operation to its model', async (t) => {
  const { operations } = await served(t, 'targets: [{ upstream: r }, { upstream: a, weight: 0 }]');
  assert.deepEqual(operations, ['rerank', 'embeddings']);
});

test('each operation of a model needs one target that offers it; targets that do not offer it cause a warning', async (t) => {
  const targets = 'targets: [{ upstream: a }, { upstream: r, priority: 1 }, { upstream: s, weight: 0 }]';
  const { operations, warnings } = await served(t, `operations: [embeddings, rerank, edits, edits], ${targets}`);
  assert.deepEqual(operations, ['embeddings', 'rerank', 'edits']);
  assert.deepEqual(warnings, [
    'models[0].targets[0]: family openai does not offer rerank, so this target is passed over for it',
    'models[0].targets[1]: family ranker does not offer edits, so this target is passed over for it',
  ]);
});

const modelOf = (fields: string) => `${upstreams}models:\n  - id: m\n${fields}`;

const faultRows: readonly FaultRow[] = [
  {
    text: modelOf('    operations: [edits, rerank]\n    targets: [{ upstream: a }]'),
    line: 7,
    path: 'models[0].operations[1]',
    error:
      /^rerank is not offered by targets\[0\] \(family openai\), which offers completions, edits, moderations, embeddings$/,
  },
  {
    text: modelOf(
      '    operations: [edits]\n    targets: [{ upstream: r }, { upstream: s }, { upstream: a, weight: 0 }]',
    ),
    line: 7,
    path: 'models[0].operations[0]',
    error: /by targets\[0\] \(family ranker\), which offers rerank, embeddings, nor by targets\[1\] \(family ranker\)/,
  },
  {
    text: modelOf('    operations: [edits]\n    targets:\n      - { upstream: r }\n      - { upstream: nowhere }'),
    line: 10,
    path: 'models[0].targets[1].upstream',
    error: /unknown upstream "nowhere"/,
  },
];

test("reports each fault in a model's operations once, with path, line and expected value", (t) =>
  assertFaults(t, faultRows));
