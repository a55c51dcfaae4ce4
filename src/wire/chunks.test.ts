import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChunkReader } from './chunks.ts';

/** The body, its trailers and what stands behind it; a fault; or what has come so far. */
function read(pieces: readonly Buffer[]): unknown {
  const body: Buffer[] = [];
  const reader = new ChunkReader({ onBody: (piece) => body.push(piece) });
  const text = (): string => Buffer.concat(body).toString('latin1');
  for (const [index, piece] of pieces.entries()) {
    const stoppedAt = reader.push(piece, 0);
    if (typeof stoppedAt === 'object') return `${stoppedAt.kind}: ${stoppedAt.message}`;
    if (!reader.isOver) assert.equal(stoppedAt, piece.length);
    else {
      const behind = Buffer.concat([piece.subarray(stoppedAt), ...pieces.slice(index + 1)]).toString('latin1');
      return { body: text(), trailers: reader.trailers.list, behind };
    }
  }
  return { soFar: text() };
}

function everySplit(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'latin1');
  const splits = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))];
  for (let at = 1; at < bytes.length; at += 1) splits.push([bytes.subarray(0, at), bytes.subarray(at)]);
  return splits;
}

test('a chunked body is read whatever the boundaries of reads, and bytes after it are left unread', () => {
  const cases: readonly [string, unknown][] = [
    ['0\r\n\r\n', { body: '', trailers: [], behind: '' }],
    ['3\r\nabc\r\n0\r\n\r\nGET', { body: 'abc', trailers: [], behind: 'GET' }],
    ['3; a\t= b ;c = "\xe4\\";" ; d\r\nabc\r\n0;e\r\n\r\n', { body: 'abc', trailers: [], behind: '' }],
    ['3;a=b;c="d e"\r\nabc\r\n2\r\n\r\n\r\n000\r\n\r\n', { body: 'abc\r\n', trailers: [], behind: '' }],
    [
      'A\r\n0123456789\r\n0\r\nX: 1\r\ny:\t2 \r\n\r\n',
      { body: '0123456789', trailers: ['X', '1', 'y', '2'], behind: '' },
    ],
    ['0a\r\n0123456789\r\n0\r\nHost: h\r\n\r\nmore', { body: '0123456789', trailers: ['Host', 'h'], behind: 'more' }],
  ];
  for (const [text, expected] of cases) {
    for (const pieces of everySplit(text)) assert.deepEqual(read(pieces), expected, JSON.stringify(pieces.map(String)));
  }
});

test('data of a chunk is passed on before the chunk is complete', () => {
  assert.deepEqual(read([Buffer.from('5\r\nab')]), { soFar: 'ab' });
});

test('ambiguous chunk framing is refused, whatever the boundaries of reads', () => {
  const cases: readonly [string, RegExp][] = [
    ['\r\n', /plain hexadecimal/],
    ['+3\r\nabc\r\n', /plain hexadecimal/],
    ['-1\r\n', /plain hexadecimal/],
    ['0x3\r\nabc\r\n', /plain hexadecimal/],
    [' 3\r\nabc\r\n', /plain hexadecimal/],
    ['3 \r\nabc\r\n', /plain hexadecimal/],
    ['3\nabc\r\n', /plain hexadecimal/],
    ['3\rabc\r\n', /does not end with CR LF/],
    ['3;a\nb\r\nabc', /extension/],
    ['3;\0\r\nabc', /extension/],
    ['3;\r\nabc\r\n', /extension/],
    ['3;;a\r\nabc\r\n', /extension/],
    ['3;a=\r\nabc\r\n', /extension/],
    ['3;a=b=c\r\nabc\r\n', /extension/],
    ['3;a \r\nabc\r\n', /extension/],
    ['3;a b\r\nabc\r\n', /extension/],
    ['3;a="b\r\nabc\r\n', /extension/],
    ['3;a="b\\"\r\nabc\r\n', /extension/],
    ['3;a="b"c\r\nabc\r\n', /extension/],
    ['3;"a"\r\nabc\r\n', /extension/],
    ['3;\xe4\r\nabc\r\n', /extension/],
    ['3\r\nabcd\r\n', /longer than its size/],
    ['3\r\nabc\n0\r\n\r\n', /longer than its size/],
    ['3\r\nabc\rx', /does not end with CR LF/],
    ['000000000\r\n\r\n', /more than 8 digits/],
    ['fffffffff\r\n', /more than 8 digits/],
    [`3;${'x'.repeat(4097)}`, /longer than 4096/],
    ['0\r\nContent-Length: 1\r\n\r\n', /content-length would change/],
    ['0\r\nTRANSFER-ENCODING: chunked\r\n\r\n', /transfer-encoding would change/],
    ['0\r\nX : 1\r\n\r\n', /blank stands before the colon/],
    ['0\r\nX: 1\r\n y\r\n\r\n', /second line/],
    ['0\r\nX: 1\n\r\n\r\n', /CR LF/],
    ['0\r\nX: 1\r\n\n', /CR LF/],
    ['0\r\nX: 1\r\nY: 2\n', /CR LF/],
    ['0\r\n\rX: 1\r\n\r\n', /CR LF|not allowed/],
    [`0\r\n${'X: 1\r\n'.repeat(51)}\r\n`, /more than 50/],
    [`0\r\nX: ${'y'.repeat(17_000)}`, /longer than 16384/],
  ];
  for (const [text, message] of cases) {
    const splits = text.length > 200 ? everySplit(text).slice(0, 2) : everySplit(text);
    for (const pieces of splits) assert.match(String(read(pieces)), message, JSON.stringify(text.slice(0, 60)));
  }
});

test('small chunks are merged; long ones are not copied', () => {
  const pieces: Buffer[] = [];
  const reader = new ChunkReader({ onBody: (piece) => pieces.push(piece) });
  const long = Buffer.from(`3\r\nabc\r\n2\r\nde\r\n1388\r\n${'x'.repeat(5_000)}\r\n1\r\nf\r\n0\r\n\r\n`);
  assert.equal(reader.push(long, 0), long.length);
  assert.deepEqual(
    pieces.map((piece) => piece.toString().slice(0, 5)),
    ['abcde', 'xxxxx', 'f'],
  );
  assert.equal(pieces[1]?.buffer, long.buffer);
});
