import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readShared, toShared } from './share.ts';

test('a form is restored from a link unchanged, with any text', () => {
  const values = { model: 'a/b', text: 'ünï — 漢字 "quoted"\n+/=', stream: true };
  const address = toShared('chat', values) ?? '';
  assert.match(address, /^\/playground\/chat\?values=[\w-]+$/);
  assert.deepEqual(readShared(new URL(address, 'http://x').searchParams.get('values')), values);
});

test('a form too long for a link is not shared', () => {
  assert.equal(toShared('chat', { text: 'x'.repeat(10_000) }), undefined);
});

test('invalid form values in a link are ignored', () => {
  for (const text of [null, '', '%%%', btoa('[1'), btoa('1')]) assert.equal(readShared(text), undefined, String(text));
  assert.deepEqual(readShared(btoa('{"a":1,"b":"c"}')), { b: 'c' });
});
