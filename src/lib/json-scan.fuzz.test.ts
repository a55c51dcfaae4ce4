/** The scanner against `JSON.parse`, on documents made at random, on broken ones and on known nasty ones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compileWatchedKeys,
  type JsonKind,
  type JsonScan,
  kindBits,
  scanJson,
  scanJsonInTurns,
  textOf,
  type WatchedKeys,
} from './json-scan.ts';

const RUNS = 2000;

const names = ['model', 'input', 'task', 'k'];
const watched = compileWatchedKeys(names);
const nothingWatched = compileWatchedKeys([]);

/** What `JSON.parse` says of the bytes, which must be UTF-8 and may not begin with a byte order mark. */
type Verdict = { readonly valid: true; readonly value: unknown } | { readonly valid: false };

function judge(body: Buffer): Verdict {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { valid: true, value: JSON.parse(text) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError || error instanceof TypeError);
    return { valid: false };
  }
}

function isUtf8Text(body: Buffer): boolean {
  return Buffer.from(body.toString()).equals(body);
}

function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const kind = typeof value;
  assert.ok(kind === 'string' || kind === 'number' || kind === 'object' || kind === 'boolean');
  return kind;
}

/** Scans at once and in turns of some bytes, which must come to the same. */
async function scanBothWays(body: Buffer, keys: WatchedKeys, bytesPerTurn: number): Promise<JsonScan> {
  const scan = scanJson(body, keys, 1000);
  assert.deepEqual(await scanJsonInTurns(body, keys, { maxDepth: 1000, bytesPerTurn }), scan);
  return scan;
}

/** Nothing is watched and depth does not matter here, so that the scanner has to agree in everything. */
async function agrees(body: Buffer, bytesPerTurn: number): Promise<void> {
  const verdict = judge(body);
  const scan = await scanBothWays(body, nothingWatched, bytesPerTurn);
  if (scan.ok) {
    assert.ok(verdict.valid);
    assert.equal(kindOf(verdict.value), 'object');
    assert.equal(scan.empty, Object.keys(verdict.value ?? {}).length === 0);
    return;
  }
  switch (scan.fault) {
    case 'not-object':
      assert.ok(verdict.valid);
      assert.equal(scan.kind, kindOf(verdict.value));
      assert.notEqual(scan.kind, 'object');
      break;
    case 'utf8':
      assert.equal(isUtf8Text(body), false);
      assert.equal(isUtf8Text(body.subarray(0, scan.at)), true);
      break;
    default:
      assert.equal(scan.fault, 'syntax');
      assert.equal(verdict.valid, false);
      pointsAtTheFirstFault(body, scan.at);
  }
}

/** Up to the fault the document could still have become valid or was complete; with the byte at fault it is neither. */
function pointsAtTheFirstFault(body: Buffer, at: number): void {
  const before = scanJson(body.subarray(0, at), nothingWatched, 1000);
  if (!before.ok && before.fault === 'syntax') assert.equal(before.at, at);
  if (at === body.length) return;
  const including = scanJson(body.subarray(0, at + 1), nothingWatched, 1000);
  assert.deepEqual(including, { ok: false, fault: 'syntax', at });
}

const space = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  fc.constantFrom(' ', '\n', '\t', '\r\n', '\n      ', ' '.repeat(20)),
);

const numberText = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '-1.5',
    '1e2',
    '1E+2',
    '0.001e-05',
    '0e0',
    '1e999',
    '123456789012345678901234567890',
  ),
  fc.integer().map(String),
  fc.nat(200_000).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
);

const textUnit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'the ', ' ', 'model', '/', "'", '{', ']', ',', ':', '\u007f') },
  { weight: 2, arbitrary: fc.constantFrom('é', '€', '模', '\u{1f600}', '\u2028', '\ufeff', '\u017f', '\u212a') },
  { weight: 2, arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\b', '\\u0041', '\\u00E9', '\\uD83D\\ude00') },
  fc.constantFrom(
    '\\ud800',
    '\\uDFFF',
    '\\u0000',
    'a'.repeat(70),
    '模'.repeat(30),
    '\\"'.repeat(50),
    '\\u6a21'.repeat(50),
  ),
);
const stringText = fc.array(textUnit, { maxLength: 12 }).map((units) => `"${units.join('')}"`);

const keyText = fc.oneof(
  { weight: 3, arbitrary: stringText },
  { weight: 2, arbitrary: fc.constantFrom(...names.map((name) => `"${name}"`)) },
  fc.constantFrom('"Model"', '"\\u006dodel"', '"INPUT"', '"ta\u017fk"', '"\u212a"', '"K"', '"tas"', '"modelo"'),
  fc.constantFrom('""', '"__proto__"', '"constructor"'),
);

const { value: valueText } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    fc.constantFrom('true', 'false', 'null'),
    numberText,
    stringText,
    fc.array(numberText, { maxLength: 20 }).map((numbers) => `[${numbers.join(',')}]`),
    fc.array(stringText, { maxLength: 8 }).map((texts) => `[${texts.join(', ')}]`),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 5, depthIdentifier: 'json' }))
    .map(([inside, elements]) => `[${elements.map((parts) => parts.join('')).join(',') || inside}]`),
  object: fc
    .tuple(
      space,
      fc.array(fc.tuple(space, keyText, space, tie('value'), space), { maxLength: 5, depthIdentifier: 'json' }),
    )
    .map(([inside, members]) => `{${members.map((parts) => toMember(...parts)).join(',') || inside}}`),
}));

type Member = readonly [before: string, key: string, colon: string, value: string, after: string];

const toMember = (...[before, key, colon, value, after]: Member): string => `${before}${key}${colon}:${value}${after}`;

const members = fc.array(fc.tuple(space, keyText, space, valueText, space), { maxLength: 7 });
const bytesPerTurn = fc.integer({ min: 1, max: 7 });

const fold = (text: string): string => text.toLowerCase().toUpperCase();

test('finds in any valid body what JSON.parse finds', async () => {
  const property = fc.asyncProperty(space, members, space, bytesPerTurn, async (before, list, after, perTurn) => {
    const text = `${before}{${list.map((member) => toMember(...member)).join(',')}}${after}`;
    const body = Buffer.from(text);
    const keys = list.map(([, key]) => String(JSON.parse(key)));
    const scan = await scanBothWays(body, watched, perTurn);
    const twice = names.filter((name) => keys.filter((key) => fold(key) === fold(name)).length > 1);
    if (twice.length > 0) {
      assert.ok(!scan.ok && scan.fault === 'duplicate');
      assert.ok(scan.name !== undefined && twice.includes(scan.name));
      return;
    }
    assert.ok(scan.ok, JSON.stringify(scan));
    for (const name of names) {
      const field = scan.fields.get(name);
      const index = keys.indexOf(name);
      assert.equal(field !== undefined, index !== -1);
      assert.equal(scan.foldedOnly.includes(name), index === -1 && keys.some((key) => fold(key) === fold(name)));
      if (field === undefined) continue;
      const raw = body.toString('utf8', field.start, field.end);
      assert.equal(raw, list[index]?.[3].trim());
      const value: unknown = JSON.parse(raw);
      assert.equal(field.kind, kindOf(value));
      const elements = Array.isArray(value) ? value.map(kindOf) : [];
      assert.equal(field.firstElement, elements[0]);
      assert.equal(field.elementKinds, kindBits(...elements));
      if (typeof value === 'string') assert.equal(textOf(body, field), value);
    }
    assert.equal(scan.empty, list.length === 0);
    const inserted = `${body.subarray(0, scan.insertAt)}"inserted":1${scan.empty ? '' : ','}${body.subarray(scan.insertAt)}`;
    assert.deepEqual(Object.keys(JSON.parse(inserted)).includes('inserted'), true);
  });
  await fc.assert(property, { numRuns: RUNS });
});

const interesting = fc.constantFrom(
  ...Buffer.from('{}[]",:\\/u0129.-+eEtfn \n\t\0\x0b\x0c\x1f\x7f'),
  0x80,
  0xbf,
  0xc2,
  0xe2,
  0xed,
  0xff,
);
const someByte = fc.oneof(interesting, fc.nat(255));

const mutation = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bytes: fc.tuple(someByte) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    bytes: fc.array(someByte, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('cut' as const),
    at: fc.nat(),
    bytes: fc.array(someByte, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('truncate' as const), at: fc.nat(), bytes: fc.constant([]) }),
);

function mutate(body: Buffer, { kind, at, bytes }: { kind: string; at: number; bytes: readonly number[] }): Buffer {
  const place = body.length === 0 ? 0 : at % body.length;
  if (kind === 'truncate') return body.subarray(0, place);
  const removed = kind === 'insert' ? 0 : bytes.length;
  const put = kind === 'cut' ? [] : bytes;
  return Buffer.concat([body.subarray(0, place), Buffer.from(put), body.subarray(place + removed)]);
}

test('judges any document, however broken, as JSON.parse does', async () => {
  const documents = fc.tuple(space, valueText, space).map((parts) => Buffer.from(parts.join('')));
  const changes = fc.array(mutation, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(documents, changes, bytesPerTurn, (document, list, perTurn) =>
    agrees(list.reduce(mutate, document), perTurn),
  );
  await fc.assert(property, { numRuns: 2 * RUNS });
});

test('judges short strings of structural bytes as JSON.parse does', async () => {
  const soup = fc.array(
    fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '1', '-', '.', 'e', '0', ' ', '\\', 'u', 'null', '"a"'),
    {
      maxLength: 12,
    },
  );
  const property = fc.asyncProperty(soup, bytesPerTurn, (parts, perTurn) =>
    agrees(Buffer.from(parts.join('')), perTurn),
  );
  await fc.assert(property, { numRuns: 2 * RUNS });
});

test('judges any bytes inside of a text as JSON.parse does', async () => {
  const property = fc.asyncProperty(fc.array(someByte, { maxLength: 100 }), bytesPerTurn, (bytes, perTurn) =>
    agrees(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]), perTurn),
  );
  await fc.assert(property, { numRuns: RUNS });
});

test('judges every prefix of a valid body as JSON.parse does', async () => {
  const bodies = [
    '{"model":"text-embedding-3-small","input":["a","b \\u00e9 \\n",""],"dimensions":1.5e+10}',
    ' { "a" : [ 1 , -0.5 , 123456789 , [ ] , { } , true , false , null ] , "é€😀" : "\\ud83d\\ude00" } \n',
    '[[1,22,333,4444,55555,666666,7777777,88888888,999999999],["","a",", ","\\"",":"]]',
    '"a long text that is over the size of any word and a \\\\ in it, plus some 模型 after it"',
    '-12345678901234567890.1234567890e-12',
  ];
  for (const text of bodies) {
    const body = Buffer.from(text);
    for (let end = 0; end <= body.length; end++) await agrees(body.subarray(0, end), 1 + (end % 7));
  }
});

/** Cases are a line each or more, with ` ~ ` between them. */
const cases = (lines: string): string[] => lines.trim().split(/ ~ |\n/);

const nastyTexts = cases(String.raw`
- ~ -0 ~ -00 ~ 00 ~ 01 ~ -01 ~ 1. ~ -1. ~ .5 ~ -.5 ~ 1.e1 ~ 1e ~ 1e+ ~ 1e- ~ 1E+2 ~ 1e05 ~ 0e1 ~ 0.0e0 ~ 1e400 ~ -1e400
+1 ~ ++1 ~ 1+1 ~ 1..2 ~ 1.2.3 ~ 1e1e1 ~ 1e1.5 ~ 0x1 ~ 1_000 ~ 1,000 ~ -a ~ - 1 ~ 1 2 ~ 1a ~ 0b1 ~ 1f ~ 1eE2 ~ ١ ~ １
NaN ~ -NaN ~ Infinity ~ -Infinity ~ 12345678 ~ 1234567 ~ 123456 ~ 01234567 ~ 0.12345678901234567890 ~ 1e12345678901234567890
[0,1] ~ [00,1] ~ [1,01] ~ [1,-01,2] ~ [1, 02, 3] ~ [123456789,1] ~ [1,2,3,] ~ [1,2,,3] ~ [,1] ~ [,] ~ [1 2] ~ [1,  2,3]
[ ~ ] ~ [[] ~ []] ~ [1,2 ~ [1} ~ {"a":[} ~ [1.5,-2e3,0.1] ~ [1.,2] ~ [1.5.1,2] ~ [12345678901234567890,1] ~ [1,2;3] ~ [--1]
["a","b",] ~ ["a",,"b"] ~ ["a" "b"] ~ ["a","b" ~ ["a", ~ ["a";"b"] ~ ["a",1,"b"] ~ ["a","b","\"] ~ ["a", "b",  "c"] ~ ["a":"b"]
"" ~ " ~ "a ~ "\ ~ "\" ~ "\u ~ "\u12" ~ "\u123" ~ "\u123g" ~ "\uD800" ~ "\uDC00\uD800" ~ "\ud83d\ude00" ~ "\u12345" ~ "\u0000"
"\a" ~ "\'" ~ "\0" ~ "\x41" ~ "\U0041" ~ "\ " ~ "\u 041" ~ "\u+041" ~ "\/\b\f\n\r\t\\\"" ~ "\u00e9\u00g9" ~ 'a' ~ a ~ "\\\\\\\\"
true ~ True ~ tru ~ truee ~ true1 ~ fals ~ falsee ~ nul ~ nulll ~ NULL ~ undefined ~ truefalse ~ t ~ f ~ n ~ trux ~ t rue
{} ~ {,} ~ {"a":1,} ~ {"a":1,,"b":2} ~ {"a"} ~ {"a":} ~ {"a",1} ~ {"a":1 "b":2} ~ {a:1} ~ {'a':1} ~ {1:1} ~ {null:1} ~ {[]:1}
{"":0} ~ {"":0,"":1} ~ {"a":1] ~ {"a":1 ~ {"a": ~ {"a" ~ {" ~ { ~ } ~ {"a":1}} ~ {"a"::1} ~ {:1} ~ {"a":1:2} ~ {"a":1;"b":2}
{"__proto__":1} ~ {"__proto__":{"a":1},"constructor":{"prototype":1}} ~ {"\u0000":1} ~ {"\x":1} ~ {"a" :1} ~ {"a": 1 , "b" :2}
1 // c ~ /* c */ 1 ~ 1 /* c */ ~ # c ~ <!-- -->1 ~ 1; ~ (1) ~ [1]x ~ {}{} ~ [][] ~ 1,2 ~ , ~ : ~ -- ~ {"a":1}// ~ ...
`);

const nastyCharacters = [
  ...[
    '\0',
    '\n',
    '\t',
    '\r',
    '\b',
    '\u000b',
    '\f',
    '\u001f',
    '\u007f',
    '\u0080',
    '\u0085',
    '\u00a0',
    '\u2003',
    '\u2028',
  ],
  ...['\u2029', '\u3000', '\ufeff', '\uffff', '\u{10ffff}'],
].flatMap((c) => [c, `${c}1`, `1${c}`, `[${c}1]`, `[1${c},2]`, `{"a"${c}:1}`, `"${c}"`, `"\\${c}"`, `{"${c}":1}`]);

/** Stray, overlong, surrogates, too large, cut, in text and outside of it; and what is just about well-formed. */
const nastyBytes = cases(`
22 80 22 ~ 22 bf 22 ~ 22 c0 80 22 ~ 22 c0 af 22 ~ 22 c1 bf 22 ~ 22 e0 80 af 22 ~ 22 e0 9f bf 22 ~ 22 f0 80 80 af 22
22 f0 8f bf bf 22 ~ 22 ed a0 80 22 ~ 22 ed bf bf 22 ~ 22 ed a0 bd ed b8 80 22 ~ 22 f4 90 80 80 22 ~ 22 f5 80 80 80 22
22 ff 22 ~ 22 fe 22 ~ 22 f8 88 80 80 80 22 ~ 22 c3 22 ~ 22 e2 82 22 ~ 22 f0 9f 98 22 ~ 22 c3 ~ 22 e2 82 ~ 22 c3 28 22
22 e2 28 a1 22 ~ 22 f0 28 8c bc 22 ~ 80 ~ c3 a9 ~ ef bb bf 31 ~ ff fe 31 00 ~ fe ff 00 31 ~ 31 00 ~ 22 61 00 62 22
22 c2 80 22 ~ 22 df bf 22 ~ 22 e0 a0 80 22 ~ 22 ed 9f bf 22 ~ 22 ee 80 80 22 ~ 22 f0 90 80 80 22 ~ 22 f4 8f bf bf 22
`).map((bytes) => Buffer.from(bytes.replaceAll(' ', ''), 'hex'));

const nastyLong = [`1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`, `"${'a'.repeat(400)}\n"`, `"${'é'.repeat(400)}"`];

test('judges known nasty documents as JSON.parse does, wherever they stand', async () => {
  for (const nasty of [...nastyTexts, ...nastyCharacters, ...nastyBytes, ...nastyLong]) {
    const wraps = [
      ['', ''],
      ['{"a":', '}'],
      ['{"a":1,"b":', ',"c":1}'],
      ['[', ']'],
      ['[1,', ',2]'],
      ['["a",', ',"b"]'],
      ['{"a":"', '"}'],
      ['{"', '":1}'],
      [`{"${'a'.repeat(5000)}":`, '}'],
    ] as const;
    for (const [before, after] of wraps) {
      const body = Buffer.concat([Buffer.from(before), Buffer.from(nasty), Buffer.from(after)]);
      await agrees(body, before.length > 100 ? 1000 : 3);
    }
  }
});
