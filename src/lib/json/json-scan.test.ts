import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowClock } from '../../../test/support/time/slow-clock.ts';
import {
  compileWatchedKeys,
  type JsonScan,
  kindBits,
  replaceSpan,
  scanJson,
  scanJsonHead,
  scanJsonSliced,
  textOf,
} from './json-scan.ts';

const watched = compileWatchedKeys(['model', 'input', 'dimensions', 'task']);
const noKeys = compileWatchedKeys([]);

const scan = (text: string | Buffer, maxDepth?: number): JsonScan => scanJson(Buffer.from(text), watched, maxDepth);

function scanObject(text: string) {
  const result = scan(text);
  assert.ok(result.ok, `${text} is refused: ${JSON.stringify(result)}`);
  return result;
}

const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

test('finds the spans and types of watched top-level fields', () => {
  const text = '{ "input" : ["a", "b"] , "other": {"model": 1}, "model":"m-1","dimensions":1.0 }';
  const { fields } = scanObject(text);
  const found = ['model', 'input', 'dimensions', 'task', 'other'].map((name) => {
    const field = fields.get(name);
    return field === undefined ? undefined : [field.kind, text.slice(field.start, field.end)];
  });
  assert.deepEqual(found, [['string', '"m-1"'], ['array', '["a", "b"]'], ['number', '1.0'], undefined, undefined]);
});

test('reports the type of each value', () => {
  const kinds = { '"a"': 'string', '-1e5': 'number', '{}': 'object', '[]': 'array', false: 'boolean', null: 'null' };
  for (const [value, kind] of Object.entries(kinds)) {
    const field = scanObject(`{"model":${value}}`).fields.get('model');
    assert.deepEqual([field?.kind, field?.start, field?.end], [kind, 9, 9 + value.length]);
  }
});

test('reports the types of the elements of a watched array', () => {
  const rows = [
    ['[]', undefined, kindBits()],
    ['["a","b", "c"]', 'string', kindBits('string')],
    ['[1,2,300000,-4,5.5,6]', 'number', kindBits('number')],
    ['[[1,2],[3]]', 'array', kindBits('array')],
    ['[ null , {"a":[true]}, "b", 1]', 'null', kindBits('null', 'object', 'string', 'number')],
    ['["a",1,2,"b",false]', 'string', kindBits('string', 'number', 'boolean')],
  ] as const;
  for (const [value, firstElement, elementKinds] of rows) {
    const field = scanObject(`{"model":[0],"input":${value},"other":[null]}`).fields.get('input');
    assert.deepEqual([field?.firstElement, field?.elementKinds], [firstElement, elementKinds], value);
  }
});

test('counts the elements of a watched array, whatever its texts contain', () => {
  const long = 'x'.repeat(500);
  const repeat = (count: number, text: string, between = ','): string => `[${Array(count).fill(text).join(between)}]`;
  const rows: readonly [list: string, elements: number, values: number][] = [
    ['[]', 0, 0],
    ['[ \n ]', 0, 0],
    ['[""]', 1, 1],
    ['["a, b", "c\\"d", "e\\\\", "]", "[,"]', 5, 5],
    ['[1, 2,3]', 3, 3],
    ['[[1,2],[3],[4,5,6]]', 3, 6],
    [repeat(100, '"a"', ' , '), 100, 100],
    [repeat(100, `"${long}\\"${long}\\\\\\\\"`), 100, 100],
    [repeat(1000, '12345'), 1000, 1000],
    [repeat(50, repeat(20, '1e3', ', ')), 50, 1000],
    [repeat(50, `["${long}",1]`), 50, 100],
    [repeat(60, '{"text":"a,b","n":[1,2]}'), 60, 180],
    [`["${long}", {"a":[1,"${long}"]}, [[]], null, true]`, 5, 6],
  ];
  for (const [value, elements, values] of rows) {
    const field = scanObject(`{"model":[0,1],"input":${value},"other":["x",{},1]}`).fields.get('input');
    assert.deepEqual([field?.elements, field?.values], [elements, values], value.slice(0, 60));
  }
});

test('reports where a field can be inserted', () => {
  const { insertAt, empty } = scanObject(' {"a":1}');
  assert.deepEqual([insertAt, empty], [2, false]);
  assert.deepEqual(scanObject('{ }').empty, true);
});

test('refuses a duplicate watched key, in any spelling', () => {
  const twice = [
    '"model":1,"model":1',
    '"model":1,"Model":1',
    '"MODEL":1,"model":1',
    '"model":1,"\\u006dodel":1',
    '"m\\u004fdel":1,"mode\\u006c":1',
  ];
  for (const members of twice) {
    const at = members.indexOf(',') + 2;
    assert.deepEqual(scan(`{${members}}`), { ok: false, fault: 'duplicate', at, name: 'model' }, members);
  }
});

test("treats a key with a non-ASCII character whose other case is an ASCII letter as that letter's key", () => {
  const names = compileWatchedKeys([...'abcdefghijklmnopqrstuvwxyz']);
  for (let code = 0x80; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    const folded = character.toLowerCase().toUpperCase();
    const expected = /^[A-Z]$/.test(folded) ? [folded.toLowerCase()] : [];
    for (const key of [character, `\\u${code.toString(16).padStart(4, '0')}`]) {
      const result = scanJson(Buffer.from(`{"${key}":1}`), names);
      assert.deepEqual(result.ok && result.foldedOnly, expected, key);
    }
  }
});

test('a key with a long s or Kelvin sign is a duplicate of the key with s or k, as in Go', () => {
  assert.deepEqual(scan('{"task":1,"ta\u017fk":1}'), { ok: false, fault: 'duplicate', at: 10, name: 'task' });
  assert.deepEqual(scan('{"tas\u212a":1,"ta\\u017fk":1}'), { ok: false, fault: 'duplicate', at: 12, name: 'task' });
});

test('decodes an escaped key', () => {
  assert.equal(scanObject('{"\\u006dodel":"m"}').fields.get('model')?.kind, 'string');
});

test('lists a watched key in another letter case, but does not use its value', () => {
  const { fields, foldedOnly } = scanObject('{"Model":"m","\\u0054ask":1,"input":[]}');
  assert.deepEqual(foldedOnly, ['model', 'task']);
  assert.equal(fields.get('model'), undefined);
  assert.equal(fields.get('input')?.kind, 'array');
});

test('allows duplicate unknown and nested keys', () => {
  assert.deepEqual(
    scanObject('{"a":1,"a":2,"":0,"":0,"b":{"model":1,"model":2},"__proto__":{"model":3}}').foldedOnly,
    [],
  );
});

test('refuses watched keys that differ only in case, are no plain words, or are more than 32', () => {
  for (const names of [['model', 'Model'], [''], ['modèle'], ['a b'], ['a'.repeat(65)]]) {
    assert.throws(() => compileWatchedKeys(names), TypeError);
  }
  const names = (count: number, letter: string) => Array.from({ length: count }, (_, i) => `${letter}${i}`);
  assert.throws(() => compileWatchedKeys(names(33, 'k')), RangeError);
  assert.throws(() => compileWatchedKeys([], names(33, 'k')), RangeError);
});

test('with 32 common and 32 rare keys, reports whether a rare one occurs, and refuses duplicates', () => {
  const common = Array.from({ length: 32 }, (_, i) => `c${i}`);
  const rare = Array.from({ length: 32 }, (_, i) => `r${i}`);
  const both = compileWatchedKeys(common, rare);
  const scanned = (names: readonly string[]) =>
    scanJson(Buffer.from(`{${names.map((name) => `"${name}":1`).join(',')}}`), both);
  for (const [names, hasRare] of [
    [common, false],
    [['c0', 'r31'], true],
    [['R0'], true],
    [[...common, ...rare], true],
    [[], false],
  ] as const) {
    const found = scanned(names);
    assert.equal(found.ok && found.hasRare, hasRare);
  }
  for (const name of ['c0', 'c31', 'r0', 'r31']) {
    const found = scanned([...common, ...rare, name.toUpperCase()]);
    assert.deepEqual([found.ok, found.ok === false && found.name], [false, name]);
  }
});

test('refuses the 65th nesting level at its bracket', () => {
  assert.equal(scan(nested(64)).ok, true);
  assert.deepEqual(scan(nested(65)), { ok: false, fault: 'depth', at: 5 + 63 });
  assert.deepEqual(scan('['.repeat(5_000_000)), { ok: false, fault: 'depth', at: 64 });
  assert.deepEqual(scan(nested(4), 3), { ok: false, fault: 'depth', at: 5 + 2 });
  assert.equal(scan(nested(200), 200).ok, true);
});

test('reports the type of valid JSON that is no object', () => {
  const kinds = { '[1,2]': 'array', '"a"': 'string', '-1': 'number', '0': 'number', true: 'boolean', ' null ': 'null' };
  for (const [text, kind] of Object.entries(kinds)) {
    assert.deepEqual(scan(text), { ok: false, fault: 'not-object', at: text.search(/\S/), kind });
  }
});

test('reports the position of the first invalid byte', () => {
  const rows: readonly [text: string, at: number][] = [
    ['', 0],
    ['  ', 2],
    ['nope', 1],
    ['nul', 3],
    ['\ufeff{}', 0],
    ['{"a":1', 6],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['{"a" 1}', 5],
    ['{"a":01}', 6],
    ['{"a":-x}', 6],
    ['{"a":1.}', 7],
    ['{"a":1e+}', 8],
    ['{"a":[1 2]}', 8],
    ['{"a":[1,]}', 8],
    ['{"a":"b\nc"}', 7],
    ['{"a":"\\x"}', 7],
    ['{"a":"\\u12G4"}', 10],
    ['{"a":1}}', 7],
    ['{"a":1} {}', 8],
    ['{"a":[1}', 7],
    ['{"a":1]', 6],
  ];
  for (const [text, at] of rows) assert.deepEqual(scan(text), { ok: false, fault: 'syntax', at }, JSON.stringify(text));
});

test('reports the position of the first invalid UTF-8 character', async () => {
  for (const filler of [0, 3, 100, 5000, 100_000]) {
    const before = `{"model":"${'é€😀'.repeat(filler)}`;
    for (const bad of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80]]) {
      const body = Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from('"}')]);
      const expected = { ok: false, fault: 'utf8', at: Buffer.byteLength(before) };
      assert.deepEqual(scanJson(body, watched), expected);
      assert.deepEqual(await scanJsonSliced(body, watched, { bytesPerPiece: 10_000 }), expected);
    }
  }
});

test('reads a body of a hundred thousand unknown keys', () => {
  const members = Array.from({ length: 100_000 }, (_, i) => `"m${i}":${i},"\\u006d${i}":"é"`);
  const text = `{${members.join(',')},"model":"m"}`;
  const field = scanObject(text).fields.get('model');
  assert.equal(field?.end, Buffer.byteLength(text) - 1);
});

test('yields to the event loop, also inside one long text, list or number', async (t) => {
  await slowClock(t);
  const bodies = [
    `{"model":"${'a'.repeat(300_000)}"}`,
    `{"model":[${'12345,'.repeat(50_000)}1]}`,
    `{"model":${'1'.repeat(300_000)}}`,
    `{"model":${' '.repeat(300_000)}1}`,
    `{"model":"${'\\n'.repeat(150_000)}"}`,
  ];
  for (const text of bodies) {
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const result = await scanJsonSliced(Buffer.from(text), watched, { bytesPerPiece: 1000 });
    done = true;
    assert.deepEqual(result, scan(text));
    assert.ok(turns >= 300, `only ${turns} turns for ${text.slice(0, 20)}`);
  }
});

test('keeps interleaved scans apart', async () => {
  const texts = ['{"model":"a","input":[1,2]}', '{"input":{"b":[[]]},"task":null}', '{"dimensions":5,"model":[{}]}'];
  const results = await Promise.all(
    texts.map((text) => scanJsonSliced(Buffer.from(text), watched, { bytesPerPiece: 1 })),
  );
  assert.deepEqual(
    results,
    texts.map((text) => scan(text)),
  );
});

test('scans a view that begins anywhere in a larger buffer', () => {
  const text = '{"model":"text-embedding","input":[1,23,456]}';
  for (let offset = 0; offset < 9; offset++) {
    const large = Buffer.from(`${'"'.repeat(offset)}${text}${' '.repeat(5000)}"rest`);
    assert.deepEqual(scanJson(large.subarray(offset, offset + text.length), watched), scan(text));
    assert.equal(scanJson(large.subarray(offset, offset + text.length + 4900), watched).ok, true);
  }
});

test('decodes the text of a string field', () => {
  for (const text of ['', 'plain', 'é\u{1f600}', 'a "quoted"\n\\', '\ud800']) {
    const body = Buffer.from(`{"model":${JSON.stringify(text)}}`);
    const result = scanJson(body, watched);
    const field = result.ok ? result.fields.get('model') : undefined;
    assert.ok(field !== undefined);
    assert.equal(textOf(body, field), text);
  }
});

test('replaces a span and leaves every other byte', () => {
  const body = Buffer.from('{"model": "a" , "n":1.0}');
  assert.equal(String(replaceSpan(body, 10, 13, Buffer.from('"longer"'))), '{"model": "longer" , "n":1.0}');
});

test('reports the complete fields of a truncated document', () => {
  const head = scanJsonHead(Buffer.from('{"model":"m","task":{"a":[1]},"input":[1,2'), watched);
  assert.deepEqual([head.get('model')?.end, head.get('task')?.kind, head.get('input')], [12, 'object', undefined]);
  assert.equal(scanJsonHead(Buffer.from('{"dimensions":12'), watched).get('dimensions'), undefined);
});

test('accepts a valid body if nothing is watched', () => {
  assert.equal(scanJson(Buffer.from('{"model":1,"model":2}'), noKeys).ok, true);
});
