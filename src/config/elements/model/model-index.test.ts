import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../../../test/support/gateways/configuration.ts';

const text = `upstreams: [{ id: a, family: openai }]
models:
  - { id: "*", operations: [edits], targets: [{ upstream: a, model: any }] }
  - { id: gpt-*, operations: [edits], targets: [{ upstream: a, model: short }] }
  - { id: gpt-4*, operations: [edits], targets: [{ upstream: a, model: long }] }
  - { id: "*-gpt", operations: [edits], targets: [{ upstream: a, model: tail }] }
  - { id: "a*z", operations: [edits], targets: [{ upstream: a, model: both }] }
  - { id: gpt-4o, aliases: [omni, gpt-4-omni], operations: [edits], targets: [{ upstream: a, model: exact }] }
`;

test('an exact ID or alias is preferred to patterns, and of patterns the one with the most literal characters', async (t) => {
  const { snapshot } = await loaded(t, text);
  for (const [name, model, id, matched] of [
    ['gpt-4o', 'exact', 'gpt-4o', ''],
    ['omni', 'exact', 'gpt-4o', ''],
    ['gpt-4-omni', 'exact', 'gpt-4o', ''],
    ['gpt-4', 'long', 'gpt-4', ''],
    ['gpt-4.1', 'long', 'gpt-4.1', '.1'],
    ['gpt-3', 'short', 'gpt-3', '3'],
    ['my-gpt', 'tail', 'my-gpt', 'my'],
    ['abz', 'both', 'abz', 'b'],
    ['az', 'both', 'az', ''],
    ['a', 'any', 'a', 'a'],
    ['GPT-4o', 'any', 'GPT-4o', 'GPT-4o'],
  ] as const) {
    const resolved = snapshot.models.resolve(name);
    assert.deepEqual([resolved?.model.targets[0].model, resolved?.id, resolved?.matched], [model, id, matched], name);
  }
});

test('an empty name or the text of a pattern matches no model', async (t) => {
  const { snapshot } = await loaded(t, text);
  for (const name of ['', '*', 'gpt-*', 'gpt-*x']) assert.equal(snapshot.models.resolve(name), undefined, name);
});

test("in a name that matches a pattern, the pattern's prefix and suffix do not overlap", async (t) => {
  const pattern =
    'upstreams: [{ id: a, family: openai }]\nmodels: [{ id: "ab*ba", operations: [edits], targets: [{ upstream: a }] }]';
  const { snapshot } = await loaded(t, pattern);
  assert.equal(snapshot.models.resolve('aba'), undefined);
  assert.equal(snapshot.models.resolve('abba')?.matched, '');
});

test('names such as "constructor" match no model', async (t) => {
  const { snapshot } = await loaded(t, 'upstreams: [{ id: a, family: openai }]');
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(snapshot.models.resolve(name), undefined);
});

test('a model name like a path (.., //) matches no pattern, and is found only as an exact ID or alias', async (t) => {
  const { snapshot } = await loaded(
    t,
    `upstreams: [{ id: a, family: openai }]
models:
  - { id: az/*, operations: [edits], targets: [{ upstream: a, model: "*" }] }
  - { id: "x*", operations: [edits], targets: [{ upstream: a, model: "team/*" }, { upstream: a, model: "*" }] }
  - { id: az/50%/../as-written, aliases: [az//alias], operations: [edits], targets: [{ upstream: a, model: b }] }
`,
  );
  const leading = [
    'az/',
    'az//b',
    'az/b/',
    'az/.',
    'az/..',
    'az/../b',
    'az/b/./c',
    'az/team-/../gpt',
    'az/../../admin',
  ];
  const commanding = ['\\', '?', '#', '%', '%2f', '\0', '\n', '\r', '\x7f', '\x85', '\ud800', '\udc00'];
  for (const name of [...leading, ...commanding.map((text) => `az/b${text}c`)]) {
    assert.equal(snapshot.models.resolve(name), undefined, JSON.stringify(name));
  }
  // Harmless names whose upstream names would not be.
  for (const name of ['x', 'x..', 'x../b', 'x/b', 'x./b', 'x/../b']) {
    assert.equal(snapshot.models.resolve(name), undefined, name);
  }
  for (const name of ['az/b', 'az/b..c', 'az/...', 'az/b c', 'az/é😀', 'az/b:c@d', 'x..b', 'xy/..z']) {
    assert.equal(snapshot.models.resolve(name)?.id, name);
  }
  assert.equal(snapshot.models.resolve('az/50%/../as-written')?.id, 'az/50%/../as-written');
  assert.equal(snapshot.models.resolve('az//alias')?.id, 'az/50%/../as-written');
});

test('warns of a pattern that no name can match, or whose upstream model name would always be invalid', async (t) => {
  const { warnings } = await loaded(
    t,
    `upstreams: [{ id: a, family: openai }]
models:
  - { id: /*, operations: [edits], targets: [{ upstream: a, model: b }] }
  - { id: 50%-*, operations: [edits], targets: [{ upstream: a, model: b }] }
  - { id: az/*, operations: [edits], targets: [{ upstream: a, model: "../*" }] }
  - { id: ok/*, operations: [edits], targets: [{ upstream: a, model: "*" }] }
`,
  );
  const paths = warnings.filter((text) => text.includes('no name can match')).map((text) => text.split(':')[0]);
  assert.deepEqual(paths, ['models[0].id', 'models[1].id', 'models[2].targets[0].model']);
});

test('a default model with a name like a path cannot be one that only a pattern matches', async (t) => {
  const text = (name: string) => `upstreams: [{ id: a, family: openai }]
default_model: { edits: ${name} }
models: [{ id: az/*, operations: [edits], targets: [{ upstream: a, model: "*" }] }]`;
  assert.equal((await loaded(t, text('az/b'))).snapshot.defaultModels.edits, 'az/b');
  await assert.rejects(loaded(t, text('az/../b')), /unknown model/);
});
