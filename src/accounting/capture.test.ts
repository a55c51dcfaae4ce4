import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Captured, mostKeptBytes } from '../core/accounting/captured.ts';
import { systemClock } from '../lib/clock.ts';
import { captureOf } from './ledger.ts';

type Wanted = Parameters<typeof captureOf>[0];

const secret = 'upstream-credential-1';

function capture(request: string | Buffer, response: string | Buffer = '{}', headers: Partial<Captured> = {}) {
  const captured = new Captured(Buffer.from(request));
  captured.contentType = 'contentType' in headers ? headers.contentType : 'application/json';
  captured.contentEncoding = headers.contentEncoding;
  const bytes = Buffer.from(response);
  for (let start = 0; start < bytes.length; start += 1_000) captured.push(bytes.subarray(start, start + 1_000));
  const upstreams = new Map([['up', { secrets: [secret] }]]);
  const exchange: unknown = {
    key: { captureMs: 60_000 },
    captured,
    snapshot: { upstreams, ledger: { hiddenFields: [] } },
  };
  const made = captureOf(exchange as Wanted, { ...systemClock, nowMs: () => 1_000 });
  assert.ok(made);
  return made;
}

test('captures request and response body unchanged, for the capture time of the key', () => {
  const request = '{"model":"m","input":"größer \\"x\\""}';
  const events = 'data: {"text":"a"}\n\ndata: [DONE]\n\n';
  assert.deepEqual(capture(request, events, { contentType: 'text/event-stream; charset=utf-8' }), {
    request,
    response: events,
    expiresAtMs: 61_000,
  });
});

test('captures no bodies if the key has no capture time, or if no body was read', () => {
  const captured = new Captured(Buffer.from('{}'));
  const upstreams = new Map();
  for (const exchange of [
    { key: { captureMs: undefined }, captured, snapshot: { upstreams } },
    { key: { captureMs: 60_000 }, captured: undefined, snapshot: { upstreams } },
    { key: undefined, captured, snapshot: { upstreams } },
  ]) {
    const wanted: unknown = exchange;
    assert.equal(captureOf(wanted as Wanted, systemClock), undefined);
  }
});

test('redacts the credentials of all upstreams in captured bodies', () => {
  const { request, response } = capture(`{"input":"${secret}"}`, `{"error":"${secret}"}`);
  assert.equal(request, '{"input":"[credential]"}');
  assert.equal(response, '{"error":"[credential]"}');
});

test('truncates long captured bodies and notes the original length', () => {
  const long = `{"input":"${'a'.repeat(mostKeptBytes * 2)}"}`;
  const { request, response } = capture(long, long);
  const mark = `… [cut: ${long.length} bytes in all]`;
  assert.equal(request, long.slice(0, mostKeptBytes) + mark);
  assert.equal(response, request);
  const whole = 'b'.repeat(mostKeptBytes);
  assert.equal(capture(whole).request, whole);
});

test('truncation splits no multi-byte character and leaves no part of a secret', () => {
  const umlauts = `a${'ä'.repeat(mostKeptBytes)}`;
  assert.equal(
    capture(umlauts).request,
    `a${'ä'.repeat(mostKeptBytes / 2 - 1)}… [cut: ${umlauts.length * 2 - 1} bytes in all]`,
  );
  for (const before of [5, 12, 20]) {
    const text = `${'. '.repeat((mostKeptBytes - before - 1) / 2)} ${secret}${' .'.repeat(mostKeptBytes)}`;
    const { request } = capture(text, text);
    assert.match(request, /\[credential\]… \[cut/);
    assert.equal(request.includes('upstr'), false);
  }
});

test('reveals no secret behind the truncation when JSON escapes shrink the captured text', () => {
  // Six bytes for each character: the whole overlap, and a secret that is cut at its end.
  const text = `${String.raw`\u00e9`.repeat(13_000)}${'x'.repeat(80 * 1024 - 78_000 - 9)} sk-abcdefghijklmnop`;
  const { request } = capture(text);
  assert.equal(request.includes('sk-'), false);
  assert.match(request, /^é{10922}/);
});

test('stores the size and type of a binary or compressed body in place of the body', () => {
  assert.equal(
    capture('{}', Buffer.alloc(70), { contentType: 'application/octet-stream' }).response,
    '[not kept: 70 bytes of application/octet-stream]',
  );
  assert.equal(
    capture('{}', Buffer.alloc(1_234), { contentEncoding: 'gzip' }).response,
    '[not kept: 1234 bytes, compressed with gzip]',
  );
  assert.equal(capture('{}', 'x', { contentEncoding: 'identity' }).response, 'x');
  assert.equal(capture('{}', 'x', { contentType: undefined }).response, 'x');
  assert.equal(capture('{}', '', { contentEncoding: 'gzip' }).response, '');
});
