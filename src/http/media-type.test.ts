import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonMediaType } from './request-body.ts';

test('accepts a Content-Type of JSON or of a type ending in +json, and an absent one', () => {
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

test('refuses a Content-Type of another type, and JSON in another charset', () => {
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
