/** Random JSON documents, ways to break them, and known tricky documents. */

import fc from 'fast-check';

/** Keys that the documents made at random have at their top level more often than others, and in several spellings. */
export const frequentKeys: readonly string[] = ['model', 'input', 'task', 'k'];

export const space: fc.Arbitrary<string> = fc.oneof(
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
  { weight: 2, arbitrary: fc.constantFrom(...frequentKeys.map((name) => `"${name}"`)) },
  fc.constantFrom('"Model"', '"\\u006dodel"', '"INPUT"', '"ta\u017fk"', '"\u212a"', '"K"', '"tas"', '"modelo"'),
  fc.constantFrom('""', '"__proto__"', '"constructor"'),
);

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
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

export type Member = readonly [before: string, key: string, colon: string, value: string, after: string];

export const toMember = (...[before, key, colon, value, after]: Member): string =>
  `${before}${key}${colon}:${value}${after}`;

/** Any value, without space around it. */
export const valueText: fc.Arbitrary<string> = value;

export const members: fc.Arbitrary<Member[]> = fc.array(fc.tuple(space, keyText, space, valueText, space), {
  maxLength: 7,
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
export const someByte: fc.Arbitrary<number> = fc.oneof(interesting, fc.nat(255));

interface Mutation {
  readonly kind: 'flip' | 'insert' | 'cut' | 'truncate';
  readonly at: number;
  readonly bytes: readonly number[];
}

export const mutation: fc.Arbitrary<Mutation> = fc.oneof(
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

export function mutate(body: Buffer, { kind, at, bytes }: Mutation): Buffer {
  const index = body.length === 0 ? 0 : at % body.length;
  if (kind === 'truncate') return body.subarray(0, index);
  const removed = kind === 'insert' ? 0 : bytes.length;
  const put = kind === 'cut' ? [] : bytes;
  return Buffer.concat([body.subarray(0, index), Buffer.from(put), body.subarray(index + removed)]);
}

/** Texts, spaces, other words and single structural bytes; what is between them in a broken document too. */
const token = /"(?:[^"\\]|\\.)*"|\s+|[\w.+-]+|\S/g;

const structural = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '0', 'null', '""', '{}', '[]', ' ');

interface TokenChange {
  readonly kind: 'drop' | 'double' | 'insert';
  readonly at: number;
  readonly put: string;
}

/** Breaks a document where bytes changed at random seldom do: in its structure. */
export const tokenChange: fc.Arbitrary<TokenChange> = fc.record({
  kind: fc.constantFrom('drop', 'double', 'insert'),
  at: fc.nat(),
  put: structural,
});

export function changeToken(text: string, { kind, at, put }: TokenChange): string {
  const tokens = text.match(token) ?? [];
  const index = tokens.length === 0 ? 0 : at % tokens.length;
  const there = tokens[index] ?? '';
  if (kind === 'drop') tokens.splice(index, 1);
  else tokens.splice(index, 0, kind === 'double' ? there : put);
  return tokens.join('');
}

/** Short strings of the bytes that give a document its structure. */
export const soup: fc.Arbitrary<string> = fc
  .array(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '1', '-', '.', 'e', '0', ' ', '\\', 'u', 'null', '"a"'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

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

export const nastyDocuments: readonly (string | Buffer)[] = [
  ...nastyTexts,
  ...nastyCharacters,
  ...nastyBytes,
  ...nastyLong,
];
