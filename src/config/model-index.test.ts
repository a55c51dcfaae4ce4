import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../test/support/configuration.ts';

const text = `upstreams: [{ id: a, family: openai }]
models:
  - { id: "*", operations: [edits], targets: [{ upstream: a, model: any }] }
  - { id: gpt-*, operations: [edits], targets: [{ upstream: a, model: short }] }
  - { id: gpt-4*, operations: [edits], targets: [{ upstream: a, model: long }] }
  - { id: "*-gpt", operations: [edits], targets: [{ upstream: a, model: tail }] }
  - { id: "a*z", operations: [edits], targets: [{ upstream: a, model: both }] }
  - { id: gpt-4o, aliases: [omni, gpt-4-omni], operations: [edits], targets: [{ upstream: a, model: exact }] }
`;

test('an exact ID or alias goes before every pattern, and of patterns the one with the most literal characters', async (t) => {
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

test('an empty name is no model, and a pattern is none for itself', async (t) => {
  const { snapshot } = await loaded(t, text);
  for (const name of ['', '*', 'gpt-*', 'gpt-*x']) assert.equal(snapshot.models.resolve(name), undefined, name);
});

test('what a pattern’s two ends share is not counted twice', async (t) => {
  const pattern =
    'upstreams: [{ id: a, family: openai }]\nmodels: [{ id: "ab*ba", operations: [edits], targets: [{ upstream: a }] }]';
  const { snapshot } = await loaded(t, pattern);
  assert.equal(snapshot.models.resolve('aba'), undefined);
  assert.equal(snapshot.models.resolve('abba')?.matched, '');
});

test('names that every object has are unknown', async (t) => {
  const { snapshot } = await loaded(t, 'upstreams: [{ id: a, family: openai }]');
  for (const name of ['constructor', '__proto__', 'toString']) assert.equal(snapshot.models.resolve(name), undefined);
});
