import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundaryOf, isMultipart } from './part-head.ts';

test('reads the boundary from the content type, quoted or not', () => {
  for (const [contentType, boundary] of [
    ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk', '----WebKitFormBoundary7MA4YWxk'],
    ['Multipart/Form-Data;boundary="a b:c"', 'a b:c'],
    ['multipart/form-data; charset=utf-8; BOUNDARY=x', 'x'],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ] as const) {
    assert.equal(isMultipart(contentType), true);
    assert.equal(boundaryOf(contentType), boundary);
  }
});

test('refuses a missing, duplicate, too long or invalid boundary', () => {
  for (const rest of [
    '',
    '; boundary',
    '; boundary=',
    '; boundary=""',
    '; boundary=a; boundary=a',
    '; boundary=a; Boundary=b',
    '; boundary="a',
    '; boundary="a "',
    '; boundary="a\\"b"',
    '; boundary="a;b"',
    '; boundary=a b',
    '; boundary=a/b',
    '; boundary=é',
    `; boundary=${'x'.repeat(71)}`,
    '; boundary=a;',
    ', multipart/form-data; boundary=a',
  ]) {
    assert.equal(boundaryOf(`multipart/form-data${rest}`), undefined, rest);
  }
  assert.equal(isMultipart('multipart/mixed; boundary=a'), false);
  assert.equal(isMultipart('multipart/form-data-x; boundary=a'), false);
  assert.equal(isMultipart(undefined), false);
});
