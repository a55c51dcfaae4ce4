import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeOutProtoKeys } from './proto-keys.ts';

test('finds and removes __proto__ keys at any depth, and nothing else', () => {
  const value = JSON.parse(
    '{"a":{"__proto__":{"x":1},"b":[0,{"__proto__":null}]},"__proto__":[{"__proto__":1}],"c":"__proto__"}',
  );
  const paths = takeOutProtoKeys(value).map((path) => path.join('.'));
  assert.deepEqual(paths.toSorted(), ['__proto__', 'a.__proto__', 'a.b.1.__proto__']);
  assert.equal(JSON.stringify(value), '{"a":{"b":[0,{}]},"c":"__proto__"}');
  assert.deepEqual(takeOutProtoKeys(value), []);
});

test('finds a __proto__ key in an object without prototype, and none in null, texts or numbers', () => {
  const bare: object = Object.create(null);
  Reflect.set(bare, '__proto__', 1);
  assert.deepEqual(takeOutProtoKeys(bare), [['__proto__']]);
  for (const value of [null, undefined, 1, 'text', true, []]) assert.deepEqual(takeOutProtoKeys(value), []);
});

test('handles any depth', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}{"__proto__":1}${'}'.repeat(5_000)}`);
  assert.equal(takeOutProtoKeys(deep)[0]?.length, 5_001);
});
