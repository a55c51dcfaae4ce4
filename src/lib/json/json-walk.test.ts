import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { JsonWalk, JsonWalkError } from './json-walk.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);

function isWalked(text: string): boolean {
  const walk = new JsonWalk(bytesOf(text));
  try {
    walk.value();
    walk.end();
    return true;
  } catch (error) {
    assert.ok(error instanceof JsonWalkError);
    return false;
  }
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('accepts the same texts as JSON.parse', () => {
  const documents = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', ']', '}', '"', '0', '-', '.', 'e', 'null', ' ', '\\', '[', 'NaN'),
    )
    .map(([text, at, junk]) => {
      const path = at % (text.length + 1);
      return text.slice(0, path) + junk + text.slice(path);
    });
  fc.assert(
    fc.property(fc.oneof(fc.json(), documents), (text) => {
      assert.equal(isWalked(text), isParsed(text), text);
    }),
    { numRuns: 3_000 },
  );
});

test('accepts numbers as JSON does', () => {
  const pieces = fc.array(fc.constantFrom('0', '1', '9', '-', '+', '.', 'e', 'E', ',', ' '), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (some) => {
      const text = `[${some.join('')}]`;
      const numbers = new JsonWalk(bytesOf(text)).numbers();
      const isList = isParsed(text) && text.trim() !== '[]' && some.join('').trim() !== '';
      assert.equal(numbers !== undefined, isList, text);
      if (numbers !== undefined) assert.equal(numbers.length, JSON.parse(text).length);
    }),
    { numRuns: 5_000 },
  );
});

test('reports the positions of members and elements', () => {
  const text = '{ "a" : [ 1, {"b":"x\\u0041"} ] , "c": null }';
  const walk = new JsonWalk(bytesOf(text));
  const seen: string[] = [];
  walk.object((name) => {
    if (name !== 'a') {
      const { start, end } = walk.value();
      seen.push(`${name}=${text.slice(start, end)}`);
      return;
    }
    walk.list((index) => {
      const { start, end } = walk.value();
      seen.push(`${index}=${text.slice(start, end)}`);
    });
  });
  walk.end();
  assert.deepEqual(seen, ['0=1', '1={"b":"x\\u0041"}', 'c=null']);
});

test('refuses more than 64 nesting levels', () => {
  assert.equal(isWalked(`${'['.repeat(64)}${']'.repeat(64)}`), true);
  assert.equal(isWalked(`${'['.repeat(65)}${']'.repeat(65)}`), false);
});
