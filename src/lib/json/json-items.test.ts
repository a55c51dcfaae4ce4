import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countItems, type ItemCount } from './json-items.ts';
import { compileWatchedKeys, scanJson } from './json-scan.ts';

const watched = compileWatchedKeys(['input']);

function fieldIn(body: Buffer) {
  const scan = scanJson(body, watched);
  assert.ok(scan.ok);
  const field = scan.fields.get('input');
  assert.ok(field);
  return field;
}

function countIn(text: string): ItemCount {
  const body = Buffer.from(text);
  const count = countItems(body, fieldIn(body));
  assert.ok(!(count instanceof Promise));
  return count;
}

test('counts what stands in a list, whatever is in its texts', () => {
  const long = 'x'.repeat(500);
  const rows: readonly [list: string, elements: number, values?: number][] = [
    ['[]', 0],
    ['[ \n ]', 0],
    ['[""]', 1],
    ['["a, b", "c\\"d", "e\\\\", "]", "[,"]', 5],
    ['[1, 2,3]', 3],
    ['[[1,2],[3],[4,5,6]]', 3, 6],
    [`[${Array(100).fill('"a"').join(' , ')}]`, 100],
    [`[${Array(100).fill(`"${long}\\"${long}\\\\\\\\"`).join(',')}]`, 100],
    [
      `[${Array(99)
        .fill(`"${'\\\\\\"'.repeat(100)}"`)
        .join(',')}]`,
      99,
    ],
    [`[${Array(1000).fill('12345').join(',')}]`, 1000],
    [
      `[${Array(50)
        .fill(`[${Array(20).fill('1e3').join(', ')}]`)
        .join(',')}]`,
      50,
      1000,
    ],
    [`[${Array(50).fill(`["${long}",1]`).join(',')}]`, 50, 100],
    [`[${Array(60).fill('{"text":"a,b","n":[1,2]}').join(',')}]`, 60],
    [`["${long}", {"a":[1,"${long}"]}, [[]], null, true]`, 5],
  ];
  for (const [list, elements, values] of rows) {
    const count = countIn(`{"before":"${'"'.length}","input":${list},"after":["x",{}]}`);
    assert.equal(count.elements, elements, list.slice(0, 60));
    if (values !== undefined) assert.equal(count.values, values, list.slice(0, 60));
  }
});

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('\\', '"', ',', '[', ']', 'a', '\n', 'é', '😀'), maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('x', '"'), minLength: 0, maxLength: 300 }),
);

test('agrees with JSON.parse on lists of every kind', () => {
  const lists = fc.oneof(
    fc.array(text),
    fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })), { maxLength: 300 }),
    fc.array(fc.array(fc.nat(), { maxLength: 40 }), { maxLength: 40 }),
    fc.array(fc.jsonValue()),
    fc.array(fc.record({ text, type: fc.constant('text') })),
  );
  fc.assert(
    fc.property(lists, fc.constantFrom(undefined, 1), (list, space) => {
      assert.equal(countIn(JSON.stringify({ a: 1, input: list, z: ['"'] }, undefined, space)).elements, list.length);
    }),
    { numRuns: 200 },
  );
});

test('counts a long list in turns, to the same', async () => {
  for (const list of [
    Array(200_000).fill(12_345),
    Array(4000).fill(Array(100).fill(7)),
    Array(20_000).fill({ text: 'some text, with a comma and "quotes"' }),
  ]) {
    const body = Buffer.from(JSON.stringify({ input: list }));
    const count = countItems(body, fieldIn(body));
    assert.ok(count instanceof Promise);
    assert.equal((await count).elements, list.length);
  }
});

test('a list of texts was counted by the scan, however long it is', () => {
  for (const list of [
    Array(30_000).fill('a "quoted" text\n and a backslash \\'),
    ['x'.repeat(1_000_000), 'y'],
    ['', '', ''],
  ]) {
    assert.deepEqual(countIn(JSON.stringify({ input: list })), { elements: list.length, values: list.length });
  }
});
