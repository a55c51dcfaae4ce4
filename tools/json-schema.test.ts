import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleFamilies } from '../test/support/gateways/configuration.ts';
import { type SchemaNode, toJsonSchema } from './configuration-reference.ts';

const schema = toJsonSchema(sampleFamilies);

function at(...path: readonly string[]): SchemaNode {
  let node: SchemaNode | undefined = schema;
  for (const step of path) node = step === '[]' ? node?.items : node?.properties?.[step];
  assert.ok(node, path.join('.'));
  return node;
}

function* nodesIn(node: SchemaNode): Generator<SchemaNode> {
  yield node;
  for (const child of Object.values(node.properties ?? {})) yield* nodesIn(child);
  for (const child of node.anyOf ?? []) yield* nodesIn(child);
  if (node.items !== undefined) yield* nodesIn(node.items);
}

test('the schema uses a draft that editors support, and allows no unknown keys in any mapping', () => {
  assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
  for (const node of nodesIn(schema)) {
    if (node.properties !== undefined) assert.equal(node.additionalProperties, false);
  }
});

test('every key has a description', () => {
  for (const { properties = {} } of nodesIn(schema)) {
    for (const [key, node] of Object.entries(properties)) assert.ok(node.description, key);
  }
});

test('durations and sizes are text with a unit', () => {
  const patternOf = (...path: string[]) => new RegExp(String(at(...path).anyOf?.[0]?.pattern));
  assert.match('32MiB', patternOf('server', 'body_limit'));
  assert.doesNotMatch('32MB', patternOf('server', 'body_limit'));
  assert.match('30s', patternOf('upstreams', '[]', 'timeouts', 'connect'));
  assert.doesNotMatch('30', patternOf('upstreams', '[]', 'timeouts', 'connect'));
  assert.equal(at('server', 'body_limit').default, '32MiB');
});

test('a number, keyword or restricted text may also be a reference to an environment variable', () => {
  const substitution = { $ref: '#/$defs/substitution' };
  for (const path of [
    ['server', 'port'],
    ['server', 'diagnostics'],
    ['server', 'workers'],
    ['server', 'drain', 'delay'],
    ['upstreams', '[]', 'family'],
    ['keys', '[]', 'secret'],
    ['models', '[]', 'balance'],
    ['models', '[]', 'hedge', 'after'],
    ['server', 'shedding', 'memory'],
  ]) {
    assert.deepEqual(at(...path).anyOf?.at(-1), substitution, path.join('.'));
  }
  const [{ pattern } = {}] = Object.values(Object(schema.$defs)) as SchemaNode[];
  assert.match(`\${PORT:-4000}`, new RegExp(String(pattern)));
  assert.doesNotMatch('4000', new RegExp(String(pattern)));
});

test('a setting that may be a keyword or a mapping has the rules of both', () => {
  const [name, mapping, ...others] = at('models', '[]', 'retry').anyOf ?? [];
  assert.equal(others.length, 0);
  assert.deepEqual(name?.anyOf?.[0]?.enum, ['safe', 'always']);
  assert.deepEqual(Object.keys(mapping?.properties ?? {}), ['scope', 'attempts', 'same_target']);
  assert.equal(mapping?.properties?.attempts?.default, 5);
});

test('patterns are valid regular expressions with the u flag, which validators use', () => {
  for (const { pattern } of nodesIn(schema)) {
    if (pattern !== undefined) assert.doesNotThrow(() => new RegExp(pattern, 'u'));
  }
});

test('families are listed by name', () => {
  assert.deepEqual(at('upstreams', '[]', 'family').anyOf?.[0]?.enum, ['openai', 'ranker', 'homemade', 'local']);
});

test('internal annotations are not in the published schema', () => {
  for (const node of nodesIn(schema)) {
    for (const word of ['restart', 'secret', 'kind', 'defaultText']) {
      assert.ok(!(word in node) || node === at('keys', '[]', 'secret'), word);
    }
  }
});

test('exactly the mandatory keys are required', () => {
  assert.equal(schema.required, undefined);
  assert.deepEqual(at('upstreams', '[]').required, ['id', 'family']);
  assert.deepEqual(at('models', '[]').required, ['id', 'targets']);
  assert.deepEqual(at('models', '[]', 'targets', '[]').required, ['upstream']);
  assert.deepEqual(at('keys', '[]').required, ['id']);
});
