import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFaults, type FaultRow, loaded } from '../../../../test/support/gateways/configuration.ts';

const upstreams = `upstreams:
  - { id: a, family: openai }
  - { id: r, family: ranker }
`;

test('a target without a model name sends the ID of its model to the upstream', async (t) => {
  const text = `${upstreams}models:
  - { id: m, operations: [edits], targets: [{ upstream: a }] }
  - { id: n, operations: [edits], targets: [{ upstream: a, model: x/y }] }
  - { id: p-*, operations: [edits], targets: [{ upstream: a }] }
`;
  const { snapshot } = await loaded(t, text);
  assert.deepEqual(
    snapshot.models.all.map(({ id, targets }) => [id, targets[0].model]),
    [
      ['m', 'm'],
      ['n', 'x/y'],
      ['p-*', 'p-*'],
    ],
  );
});

test('compiled targets keep the order of the file, with their priority and weight', async (t) => {
  const text = `${upstreams}models:
  - id: m
    operations: [embeddings]
    targets: [{ upstream: a, priority: 2, weight: 0 }, { upstream: r, weight: 5 }, { upstream: r, model: m-eu, weight: 0 }]
`;
  const { snapshot } = await loaded(t, text);
  assert.deepEqual(
    snapshot.models.resolve('m')?.model.targets.map((target) => [target.upstream.id, target.priority, target.weight]),
    [
      ['a', 2, 0],
      ['r', 0, 5],
      ['r', 0, 0],
    ],
  );
});

test("built-in models of a family are served by the family's first upstream", async (t) => {
  const { snapshot } = await loaded(t, 'upstreams: [{ id: one, family: local }, { id: two, family: local }]');
  assert.deepEqual(
    snapshot.models.all.map(({ id, operations, space, targets: [{ upstream, model }] }) => [
      id,
      operations,
      space,
      upstream.id,
      model,
    ]),
    [
      ['local/hash-embed', ['embeddings'], 'local/hash-embed', 'one', 'local/hash-embed'],
      ['local/echo', ['completions', 'edits'], undefined, 'one', 'local/echo'],
    ],
  );
});

test('without an upstream of their family, built-in models do not exist', async (t) => {
  const { snapshot } = await loaded(t, upstreams);
  assert.deepEqual(snapshot.models.all, []);
});

test('a configured model replaces the built-in model of the same name', async (t) => {
  const text = `upstreams: [{ id: one, family: local }]
models:
  - { id: local/echo, operations: [edits], visible: false, targets: [{ upstream: one }] }
  - { id: m, aliases: [local/hash-embed], operations: [edits], targets: [{ upstream: one, model: local/echo }] }
`;
  const { snapshot } = await loaded(t, text);
  assert.equal(snapshot.models.resolve('local/echo')?.model.visible, false);
  assert.equal(snapshot.models.resolve('local/hash-embed')?.id, 'm');
  assert.equal(snapshot.models.all.length, 2);
});

test('warns of a hidden model whose routes serve only visible models', async (t) => {
  const text = `${upstreams}models:
  - { id: m, visible: false, operations: [embeddings], targets: [{ upstream: a }] }
  - { id: n, visible: false, operations: [embeddings, edits], targets: [{ upstream: a }] }
`;
  const { warnings } = await loaded(t, text);
  assert.deepEqual(warnings, [
    'models[0]: nothing reaches it, as a hidden model does not answer on the embeddings routes',
  ]);
});

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';
const target = '    targets: [{ upstream: a }]\n';

const faultRows: readonly FaultRow[] = [
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n    targets: [{ upstream: b }]`,
    line: 7,
    path: 'models[0].targets[0].upstream',
    error: /unknown upstream "b"/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n    targets: []`,
    line: 7,
    path: 'models[0].targets',
    error: /at least one/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [embeding]\n${target}`,
    line: 6,
    path: 'models[0].operations[0]',
    error: /did you mean embeddings\?/,
  },
  {
    text: `${upstream}models:\n  - id: m*\n    operations: [edits]\n${target}  - id: "*m*"\n    operations: [edits]\n    targets: [{ upstream: a, model: x }]`,
    line: 8,
    path: 'models[1].id',
    error: /more than one \*/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n    targets: [{ upstream: a, model: "x*" }]`,
    line: 7,
    path: 'models[0].targets[0].model',
    error: /its ID has none/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n${target}  - id: m\n    operations: [edits]\n${target}`,
    line: 8,
    path: 'models[1].id',
    error: /"m" is taken by models\[0\]\.id \(line 5\)/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n${target}  - id: n\n    aliases: [m]\n    operations: [edits]\n${target}`,
    line: 9,
    path: 'models[1].aliases[0]',
    error: /taken by models\[0\]\.id/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    aliases: [n]\n    operations: [edits]\n${target}  - id: n\n    operations: [edits]\n${target}`,
    line: 9,
    path: 'models[1].id',
    error: /taken by models\[0\]\.aliases\[0\] \(line 6\)/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    aliases: ["n*"]\n    operations: [edits]\n${target}`,
    line: 6,
    path: 'models[0].aliases[0]',
    error: /exact name/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n    targets:\n      - { upstream: a, weight: 0 }\n      - { upstream: a, model: n, weight: 0 }`,
    line: 7,
    path: 'models[0].targets',
    error: /every weight is 0, .*; give one of them a weight of 1 or more/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n    targets:\n      - { upstream: a, model: m }\n      - { upstream: a, priority: 1 }`,
    line: 9,
    path: 'models[0].targets[1]',
    error: /the same upstream and model as models\[0\]\.targets\[0\] \(line 8\); keep one/,
  },
  { text: 'default_model: { edits: m }', line: 1, path: 'default_model.edits', error: /unknown model "m"/ },
  {
    text: `${upstream}models:\n  - id: gpt\n    operations: [edits]\n${target}default_model:\n  edits: gtp`,
    line: 9,
    path: 'default_model.edits',
    error: /did you mean gpt\?/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n${target}default_model:\n  completions: m`,
    line: 9,
    path: 'default_model.completions',
    error: /does not serve completions; it serves edits/,
  },
  {
    text: `${upstream}models:\n  - id: m*\n    operations: [edits]\n${target}default_model:\n  edits: m*`,
    line: 9,
    path: 'default_model.edits',
    error: /unknown model/,
  },
  {
    text: 'default_model: { embedding: m }',
    line: 1,
    path: 'default_model.embedding',
    error: /did you mean embeddings\?/,
  },
];

test('reports each fault of a model once, with path, line and expected value', (t) => assertFaults(t, faultRows));
