import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonMediaType } from './media-type.ts';

test('JSON, anything that ends in +json, and nothing at all are taken', () => {
  for (const type of [
    undefined,
    '',
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; boundary=x; charset=us-ascii',
    'application/vnd.api+json',
    'application/problem+json ; charset=utf8',
  ]) {
    assert.equal(isJsonMediaType(type), true, String(type));
  }
});

test('other types, and JSON in another charset, are not', () => {
  for (const type of [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '+json',
    'application/+json/x',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json, text/plain',
  ]) {
    assert.equal(isJsonMediaType(type), false, type);
  }
});
