import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextSlice } from 'node:timers/promises';
import fc from 'fast-check';
import { heldHeapBytes } from '../../../test/support/held-bytes.ts';
import { slowClock } from '../../../test/support/time/slow-clock.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  JsonNumbers,
  JsonTextError,
  JsonTooMuch,
  parseJson,
  parseJsonSliced,
  writeJson,
  writeJsonSliced,
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

test('a parsed object inherits no members such as toString, and takes less than 100 bytes when empty', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const empty = read('{}');
  assert.ok(isJsonObject(empty));
  for (const name of names) {
    assert.equal(empty[name], undefined, name);
    const made = read(`{"${name}":{"a":1}}`);
    assert.ok(isJsonObject(made) && Object.hasOwn(made, name), name);
    assert.equal(made.a, undefined);
  }
  const startBytes = heldHeapBytes();
  const many = read(`[${'{},'.repeat(100_000)}{}]`);
  const eachBytes = (heldHeapBytes() - startBytes) / 100_000;
  assert.ok(isJsonList(many) && many.length === 100_001);
  // A dictionary-mode object takes two hundred.
  assert.ok(eachBytes < 100, `${eachBytes} bytes`);
});

test('reads what JSON.parse reads, with the same result', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      // After a key that ends in a backslash, V8 of Node 26 misreads one that ends in a quote.
      fc.pre(!text.includes('\\"'));
      assert.deepEqual(toPlain(read(text)), toPlain(read(JSON.stringify(JSON.parse(text)))));
      assert.equal(JSON.stringify(JSON.parse(rewritten(text))), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 2_000 },
  );
});

test('accepts and refuses the same texts as JSON.parse', () => {
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

test('keeps a list of numbers unparsed, with its length and values', () => {
  const numbers = read(' [ 1 , -2.5e1,0 ] ');
  assert.ok(numbers instanceof JsonNumbers);
  assert.equal(numbers.length, 3);
  assert.deepEqual(numbers.values(), [1, -25, 0]);
});

test('accepts any name, such as __proto__, and the last of duplicates', () => {
  const value = read('{"__proto__":{"x":true},"constructor":"c","a":"1","a":"2"}');
  assert.ok(isJsonObject(value));
  assert.deepEqual(toPlain(Object.entries(value)[0]?.[1]), { x: true });
  assert.equal(value.constructor, 'c');
  assert.equal(value.a, '2');
  assert.equal(Object.getPrototypeOf({}), Object.prototype);
});

test('refuses nesting beyond the given depth, and invalid UTF-8', () => {
  assert.throws(() => parseJson(Buffer.from('[[["x"]]]'), { maxDepth: 2 }), /more than 2 levels/);
  assert.throws(() => parseJson(Buffer.from('[[[1]]]'), { maxDepth: 2 }), /more than 2 levels/);
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), /UTF-8/);
});

test('writes lone surrogates as escapes and leaves out undefined', () => {
  assert.equal(rewritten('"\\ud800"'), '"\\ud800"');
  assert.equal(writeJson({ a: undefined, b: [null, true, 1.5, 'é'] }).toString(), '{"b":[null,true,1.5,"é"]}');
});

test('parses the values of a list of numbers as JavaScript does', () => {
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

test('time-sliced parsing gives the same result and yields to other work', async (t) => {
  await slowClock(t);
  const rows = Array.from({ length: 3_000 }, (_, index) => ({
    index,
    text: 'Zwölf "Boxkämpfer"\n'.repeat(20),
    deep: [[[{}]]],
  }));
  const bytes = Buffer.from(JSON.stringify({ rows, vectors: rows.map(({ index }) => [index, 0.5]) }));
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextSlice();
  })();
  const value = await parseJsonSliced(bytes);
  assert.ok(turns > 10, String(turns));
  turns = 0;
  const written = await writeJsonSliced(value);
  assert.ok(turns > 10, String(turns));
  isOver = true;
  await counting;
  assert.ok(written.equals(bytes));
  assert.ok(writeJson(parseJson(bytes)).equals(bytes));
});

test('time-sliced parsing refuses invalid JSON', async () => {
  for (const text of ['', '{', '[1,]', '[1 2]', '{"a":1,}', 'nul', '01', '-', '1.', '"\\u12"', '[1]x']) {
    await assert.rejects(parseJsonSliced(Buffer.from(text)), JsonTextError, text);
  }
});

test('limits the number of values; a list of numbers counts as one', () => {
  const limits = { maxValues: 4 };
  assert.throws(() => parseJson(Buffer.from('["a","b","c","d"]'), limits), JsonTooMuch);
  assert.throws(() => parseJson(Buffer.from('{"a":[],"b":{},"c":1,"d":null}'), limits), /more than 4 values/);
  assert.throws(() => parseJson(Buffer.from('["a",1,2,3]'), limits), JsonTooMuch);
  parseJson(Buffer.from('["a",[1,2,3,4,5,6],{}]'), limits);
});

test('limits the size of lists, objects and names', () => {
  assert.throws(
    () => parseJson(Buffer.from('[["a","b","c"]]'), { maxElements: 2 }),
    /more than 2 elements in one list/,
  );
  parseJson(Buffer.from('[["a","b"],[1,2,3,4]]'), { maxElements: 2 });
  assert.throws(() => parseJson(Buffer.from('{"a":1,"b":2,"a":3}'), { maxMembers: 2 }), /more than 2 members/);
  parseJson(Buffer.from('[{"a":1,"b":2},{"c":1}]'), { maxMembers: 2 });
  assert.throws(
    () => parseJson(Buffer.from('{"abc":1}'), { maxNameCharacters: 2 }),
    /more than 2 characters in one name/,
  );
  assert.throws(() => parseJson(Buffer.from(`{"${'a'.repeat(100_000)}":1}`)), JsonTooMuch);
});

/** One character longer than a piece, so that the end of a piece falls into each kind of content. */
const longTexts = [
  'x',
  'é',
  '🚀',
  '\\',
  '"',
  '\n',
  '\u0041',
  '\ud83d\ude80',
  'a\\',
  '\\"',
  '\\u0041',
  'abc\u00e9\\\\"\t模',
].flatMap((unit) => {
  const units = JSON.stringify(unit).slice(1, -1);
  const count = Math.ceil(33_000 / units.length);
  return ['', 'a', 'ab', 'abc', 'abcd', 'abcde'].map((before) => `"${before}${units.repeat(count)}"`);
});

test('reads and writes long texts as JSON does, wherever their chunks end', () => {
  for (const text of [...longTexts, `"${'\\u0041'.repeat(9_000)}"`, `"a${'\\ud83d\\ude80'.repeat(5_000)}"`]) {
    const expected: unknown = JSON.parse(text);
    assert.ok(read(text) === expected, text.slice(0, 40));
    assert.ok(writeJson(String(expected)).toString() === JSON.stringify(expected), text.slice(0, 40));
  }
  const random = fc.string({
    unit: fc.constantFrom('\\', '"', 'a', 'é', '\ud83d', '\ude80', '🚀', '\n'),
    minLength: 500,
  });
  fc.assert(
    fc.property(random, fc.integer({ min: 40, max: 80 }), (unit, count) => {
      const text = unit.repeat(count);
      assert.ok(read(JSON.stringify(text)) === text);
      assert.ok(writeJson(text).toString() === JSON.stringify(text));
    }),
    { numRuns: 50, endOnFailure: true },
  );
});

test('yields within long texts and long lists of numbers, too', async (t) => {
  await slowClock(t);
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextSlice();
  })();
  t.after(async () => {
    isOver = true;
    await counting;
  });
  for (const text of [`"${'x'.repeat(300_000)}"`, `"${'\\\\'.repeat(150_000)}"`, `[${'12345,'.repeat(50_000)}1]`]) {
    turns = 0;
    const value = await parseJsonSliced(Buffer.from(text));
    assert.ok(turns >= 10, `${turns} turns for ${text.slice(0, 20)}`);
    turns = 0;
    const written = await writeJsonSliced(value);
    assert.ok(turns >= (text.startsWith('[') ? 0 : 3), `${turns} turns to write ${text.slice(0, 20)}`);
    assert.ok(written.equals(Buffer.from(text)));
  }
});

test('refuses malformed long texts', () => {
  const long = 'x'.repeat(40_000);
  for (const text of [
    `"${long}`,
    `"${long}\\"`,
    `"${long}\n${long}"`,
    `"${long}\\u00g0${long}"`,
    `"${long}\\x${long}"`,
  ]) {
    assert.throws(() => read(text), JsonTextError, text.slice(-20));
  }
});

test('reads long lists of numbers, long numbers and long white space', () => {
  const numbers = read(`[${'-1.5e2 , 7,'.repeat(20_000)}0]`);
  assert.ok(numbers instanceof JsonNumbers);
  assert.equal(numbers.length, 40_001);
  const mixed = read(`[${'1,'.repeat(30_000)}"x",[${'2,'.repeat(30_000)}3]]`);
  assert.ok(isJsonList(mixed));
  assert.equal(mixed.length, 30_002);
  const digits = '1'.repeat(50_000);
  assert.equal(
    rewritten(`{${' '.repeat(50_000)}"a"${'\n'.repeat(50_000)}:${digits}.${digits}e${digits}}`),
    `{"a":${digits}.${digits}e${digits}}`,
  );
  assert.throws(() => read(`[1${' '.repeat(50_000)}`), JsonTextError);
  assert.throws(() => read(`1${'0'.repeat(50_000)}x`), JsonTextError);
});

test('reads a long body to the same result at any chunk offset', () => {
  const text = `["${'模é🚀a'.repeat(60_000)}"]`;
  for (const before of ['', ' ', '  ', '   ']) assert.deepEqual(read(before + text), JSON.parse(text));
  const bytes = Buffer.from(text);
  bytes[bytes.length - 4] = 0xff;
  assert.throws(() => parseJson(bytes), /UTF-8/);
});
