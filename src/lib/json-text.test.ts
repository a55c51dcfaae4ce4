import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  JsonTextError,
  JsonTooMany,
  parseJson,
  parseJsonInTurns,
  writeJson,
  writeJsonInTurns,
} from './json-text.ts';

const read = (text: string): Json => parseJson(Buffer.from(text));
const rewritten = (text: string): string => writeJson(read(text)).toString();

function toPlain(value: Json | undefined): unknown {
  if (value instanceof JsonNumber) return value.value;
  if (value instanceof JsonNumbers) return value.values();
  if (isJsonList(value)) return value.map(toPlain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toPlain(member)]));
}

test('keeps every number as it was written', () => {
  const text = '{"a":1.0,"b":1e3,"c":12345678901234567890,"d":-0.50,"e":[1.10,2E+2],"f":[[0.0],[]]}';
  assert.equal(rewritten(text), text);
});

test('reads what JSON.parse reads, and says the same', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      assert.deepEqual(toPlain(read(text)), toPlain(read(JSON.stringify(JSON.parse(text)))));
      assert.equal(JSON.stringify(JSON.parse(rewritten(text))), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 2_000 },
  );
});

test('refuses what JSON.parse refuses, and takes what it takes', () => {
  const piece = fc.constantFrom(
    ...'{}[]",:-+.eE01 \n\t\\ut"aé\u0007'.split(''),
    'true',
    'null',
    'NaN',
    '1.5',
    '"a"',
    '\\"',
    '\\u00e9',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.throws(() => read(text), JsonTextError);
        return;
      }
      assert.deepEqual(JSON.parse(rewritten(text)), expected);
    }),
    { numRuns: 20_000 },
  );
});

test('holds a list of numbers unread, with its length and its values', () => {
  const numbers = read(' [ 1 , -2.5e1,0 ] ');
  assert.ok(numbers instanceof JsonNumbers);
  assert.equal(numbers.length, 3);
  assert.deepEqual(numbers.values(), [1, -25, 0]);
});

test('takes any name, prototypes and accessors included, and the last of two', () => {
  const value = read('{"__proto__":{"x":true},"constructor":"c","a":"1","a":"2"}');
  assert.ok(isJsonObject(value));
  assert.deepEqual(toPlain(Object.entries(value)[0]?.[1]), { x: true });
  assert.equal(value.constructor, 'c');
  assert.equal(value.a, '2');
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

test('stops at the depth it is given and at bytes that are no UTF-8', () => {
  assert.throws(() => parseJson(Buffer.from('[[["x"]]]'), { maxDepth: 2 }), /more than 2 levels/);
  assert.throws(() => parseJson(Buffer.from('[[[1]]]'), { maxDepth: 2 }), /more than 2 levels/);
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), /UTF-8/);
});

test('writes lone surrogates as escapes and leaves out what is undefined', () => {
  assert.equal(rewritten('"\\ud800"'), '"\\ud800"');
  assert.equal(writeJson({ a: undefined, b: [null, true, 1.5, 'é'] }).toString(), '{"b":[null,true,1.5,"é"]}');
});

test('reads the values of a list of numbers as JavaScript reads them', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }), (values) => {
      const numbers = read(JSON.stringify(values));
      assert.ok(numbers instanceof JsonNumbers);
      assert.deepEqual(numbers.values(), JSON.parse(JSON.stringify(values)));
    }),
  );
  const odd = read('[ -0,1e400 ,\n0.1E-2]');
  assert.ok(odd instanceof JsonNumbers);
  assert.deepEqual(odd.values(), [-0, Number.POSITIVE_INFINITY, 0.001]);
});

test('says the same in turns, and lets others have theirs', async () => {
  const rows = Array.from({ length: 3_000 }, (_, index) => ({
    index,
    text: 'Zwölf "Boxkämpfer"\n'.repeat(20),
    deep: [[[{}]]],
  }));
  const bytes = Buffer.from(JSON.stringify({ rows, vectors: rows.map(({ index }) => [index, 0.5]) }));
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const value = await parseJsonInTurns(bytes);
  assert.ok(turns > 10, String(turns));
  turns = 0;
  const written = await writeJsonInTurns(value);
  assert.ok(turns > 10, String(turns));
  isOver = true;
  await counting;
  assert.ok(written.equals(bytes));
  assert.ok(writeJson(parseJson(bytes)).equals(bytes));
});

test('what is no JSON is refused in turns as well', async () => {
  for (const text of ['', '{', '[1,]', '[1 2]', '{"a":1,}', 'nul', '01', '-', '1.', '"\\u12"', '[1]x']) {
    await assert.rejects(parseJsonInTurns(Buffer.from(text)), JsonTextError, text);
  }
});

test('stops at the number of values that it is given; a list of numbers is one', () => {
  const limits = { maxValues: 4 };
  assert.throws(() => parseJson(Buffer.from('["a","b","c","d"]'), limits), JsonTooMany);
  assert.throws(() => parseJson(Buffer.from('{"a":[],"b":{},"c":1,"d":null}'), limits), /more than 4 values/);
  assert.throws(() => parseJson(Buffer.from('["a",1,2,3]'), limits), JsonTooMany);
  parseJson(Buffer.from('["a",[1,2,3,4,5,6],{}]'), limits);
});
