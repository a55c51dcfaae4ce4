import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { heldBytes } from '../../../test/support/held-bytes.ts';
import { type MultipartFault, type MultipartLimits, MultipartReader } from './reader.ts';

const limits: MultipartLimits = { parts: 8, headBytes: 512, nameBytes: 32 };
const boundary = 'a-Bound_ary';

interface Result {
  readonly parts: unknown[];
  readonly fault: MultipartFault | undefined;
}

function read(pieces: readonly Buffer[], most: MultipartLimits = limits): Result {
  const parts: { head: unknown; from: number; to?: number; data: Buffer }[] = [];
  const last = () => {
    const part = parts.at(-1);
    assert.ok(part);
    return part;
  };
  const reader = new MultipartReader(
    boundary,
    {
      onPart: (head, from) => parts.push({ head, from, data: Buffer.alloc(0) }),
      onData(piece) {
        assert.ok(piece.length > 0);
        last().data = Buffer.concat([last().data, piece]);
      },
      onPartEnd(to) {
        last().to = to;
      },
    },
    most,
  );
  for (const piece of pieces) reader.push(piece);
  const fault = reader.end();
  return { parts: parts.map(({ data, ...rest }) => ({ ...rest, data: data.toString('latin1') })), fault };
}

const whole = (text: string, most?: MultipartLimits): Result => read([Buffer.from(text, 'latin1')], most);

/** Pieces that end at `cuts`. */
function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts, bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const part = (head: string, data: string): string => `--${boundary}\r\n${head}\r\n\r\n${data}\r\n`;
const field = (name: string, data: string): string => part(`Content-Disposition: form-data; name="${name}"`, data);
const end = `--${boundary}--\r\n`;

const file = part(
  'content-disposition: form-data; name=file; filename="C:\\sounds\\a b.wav"\r\nContent-Type: audio/wav',
  `RIFF\x00\xff\r\n--${boundary.slice(0, 5)}\r\n\r\r\n-\n--a\r`,
);
const form = `${file}${field('model', 'a-model')}${field('empty', '')}${end}`;

test('reports the parts of a form and the positions of their contents', () => {
  const { parts, fault } = whole(form);
  assert.equal(fault, undefined);
  const contents = parts.map((one) => {
    const { from, to, data } = Object(one);
    assert.equal(form.slice(from, to), data);
    return data;
  });
  assert.deepEqual(contents, [`RIFF\x00\xff\r\n--${boundary.slice(0, 5)}\r\n\r\r\n-\n--a\r`, 'a-model', '']);
  assert.deepEqual(Object(parts[0]).head, {
    name: 'file',
    filename: 'C:\\sounds\\a b.wav',
    contentType: 'audio/wav',
  });
});

test('accepts a form with no, one or two final line ends, and one with a leading line end', () => {
  assert.equal(whole(form.slice(0, -2)).fault, undefined);
  assert.equal(whole(`${form}\r\n`).fault, undefined);
  assert.equal(whole(`\r\n${form}`).fault, undefined);
});

/** Ambiguous bodies, by the expected fault. */
const hostile: Readonly<Record<string, readonly string[]>> = {
  'it does not begin': ['x', `\n${form}`, `hello\r\n${form}`, `--${boundary.slice(1)}${form}`, `\r\n\r\n${form}`],
  'it ends before': [
    '',
    form.slice(0, -4),
    file,
    `--${boundary}`,
    file.slice(0, 30),
    `${form.slice(0, -1)}`,
    `${form}\r`,
  ],
  'it goes on': [`${form}x`, `${form}\r\n\r\n`, `${form}\n`, `${form}${field('model', 'b')}`, `${form.slice(0, -2)}x`],
  'more behind it': [form.replace(`${boundary}\r\n`, `${boundary} \r\n`), `--${boundary}x\r\n`, `--${boundary}\nx`],
  'beginning of a line': [
    `${field('a', `x\n--${boundary}\r\n`)}${end}`,
    `${field('a', `x\r--${boundary}`)}${end}`,
    `${field('a', `--${boundary}`)}${end}`,
    `${field('a', `\n--${boundary}`)}${end}`,
  ],
  'no header field': [
    `${part('Content-Disposition: form-data; name=a\r\n b', 'x')}${end}`,
    `${part('Content-Disposition: form-data;\r\n\tname=a', 'x')}${end}`,
    `${part('Content-Disposition: form-data; name=a\nX: y', 'x')}${end}`,
    `${part('Content-Disposition: form-data; name=a\rX: y', 'x')}${end}`,
    `${part('Content-Disposition: form-data; name="a\0"', 'x')}${end}`,
    `${part('Content-Disposition : form-data; name=a', 'x')}${end}`,
    `--${boundary}\r\n\r\n\r\n\r\n${end}`,
  ],
  'no Content-Disposition': [
    `${part('X: y', 'x')}${end}`,
    `${part('Content-Disposition: attachment; name=a', 'x')}${end}`,
    `${part('Content-Disposition: form-datax; name=a', 'x')}${end}`,
  ],
  'in no way that is clear': [
    'form-data',
    'form-data; filename=a',
    'form-data; name=a; name=b',
    'form-data; name=a; NAME=b',
    "form-data; name=a; name*=utf-8''b",
    'form-data; name="a',
    'form-data; name=a b',
    'form-data; name="a"b',
    'form-data; name=a; filename="x\\"; name="b"',
    'form-data; name = a',
    'form-data; name=',
  ].map((disposition) => `${part(`Content-Disposition: ${disposition}`, 'x')}${end}`),
  'a backslash': [`${field('mo\\del', 'x')}${end}`],
  twice: [`${part('Content-Disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b', 'x')}${end}`],
  'Content-Transfer-Encoding': [
    `${part('Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64', 'eA==')}${end}`,
  ],
  'longer than 512 bytes': [`${part(`Content-Disposition: form-data; name=a\r\nX: ${'y'.repeat(500)}`, 'x')}${end}`],
  'longer than 32 bytes': [`${field('n'.repeat(33), 'x')}${end}`],
  'more than 8 parts': [field('a', 'x').repeat(9) + end],
};

test('refuses ambiguous forms, and names the ambiguity', () => {
  for (const [words, forms] of Object.entries(hostile)) {
    for (const one of forms) assert.match(whole(one).fault?.what ?? 'no fault', new RegExp(words), JSON.stringify(one));
  }
});

test('accepts names, heads and parts at their maximum', () => {
  assert.equal(whole(field('n'.repeat(32), 'x').repeat(8) + end).fault, undefined);
  const rest = 'Content-Disposition: form-data; name=a\r\nX: '.length;
  const head = (bytes: number): string => `Content-Disposition: form-data; name=a\r\nX: ${'y'.repeat(bytes - rest)}`;
  assert.equal(whole(part(head(512), 'x') + end).fault, undefined);
  assert.match(whole(part(head(513), 'x') + end).fault?.what ?? '', /longer than 512/);
});

test('accepts a part with a Content-Transfer-Encoding that changes nothing', () => {
  const form = part('Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: Binary', 'x') + end;
  assert.equal(whole(form).fault, undefined);
});

test('every split of every form gives the same result', () => {
  for (const one of [form, ...Object.values(hostile).flat()]) {
    const bytes = Buffer.from(one, 'latin1');
    const expected = read([bytes]);
    assert.deepEqual(read(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), expected, JSON.stringify(one));
    for (let at = 0; at <= bytes.length; at += 1) assert.deepEqual(read(cutAt(bytes, [at])), expected);
  }
});

/** The same numbers for a seed. */
function* numbersFrom(seed: number): Generator<number, never, undefined> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

test('any sequence of chunks gives the same result as one', () => {
  const numbers = numbersFrom(20_261_123);
  const random = (below: number): number => Math.floor(numbers.next().value * below);
  const scraps = ['\r', '\n', '\r\n', '-', '--', `--${boundary}`, `\r\n--${boundary}`, boundary.slice(0, 4), 'x', '\0'];
  let sound = 0;
  for (let round = 0; round < 3_000; round += 1) {
    const scrap = (): string => Array.from({ length: random(6) }, () => scraps[random(scraps.length)]).join('');
    const text =
      round % 2 === 0
        ? Array.from({ length: 1 + random(3) }, () => field('a', scrap())).join('') + end
        : `${form.slice(0, random(form.length))}${scrap()}${form.slice(random(form.length))}`;
    const bytes = Buffer.from(text, 'latin1');
    const expected = read([bytes]);
    if (expected.fault === undefined) sound += 1;
    const cuts = Array.from({ length: 1 + random(5) }, () => random(bytes.length)).toSorted((a, b) => a - b);
    assert.deepEqual(read(cutAt(bytes, cuts)), expected, JSON.stringify({ text, cuts }));
  }
  assert.ok(sound > 300 && sound < 2_700, `${sound} of 3000 are sound`);
});

test('keeps nothing of a long content in memory', () => {
  const piece = Buffer.alloc(64 * 1024, `\r\n--${boundary.slice(0, -1)} and no more`);
  let bytes = 0;
  const reader = new MultipartReader(
    boundary,
    {
      onPart: () => undefined,
      onData(data) {
        bytes += data.length;
      },
      onPartEnd: () => undefined,
    },
    limits,
  );
  reader.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n`));
  const before = heldBytes();
  for (let pushed = 0; pushed < 1_600; pushed += 1) assert.equal(reader.push(piece), undefined);
  reader.push(Buffer.from(`\r\n${end}`));
  assert.equal(reader.end(), undefined);
  assert.equal(bytes, 1_600 * piece.length);
  assert.ok(heldBytes() - before < 1024 ** 2);
});
