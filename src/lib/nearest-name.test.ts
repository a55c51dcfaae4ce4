import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName } from './nearest-name.ts';

const keys = ['id', 'aliases', 'operations', 'visible', 'space', 'targets', 'base_url', 'body_limit'];

test('finds the name meant by a typing error', () => {
  for (const [slip, meant] of [
    ['visble', 'visible'],
    ['vsiible', 'visible'],
    ['alias', 'aliases'],
    ['baseUrl', 'base_url'],
    ['body-limit', 'body_limit'],
    ['Targets', 'targets'],
    ['target', 'targets'],
    ['operation', 'operations'],
  ] as const) {
    assert.equal(nearestName(slip, keys), meant, slip);
  }
});

test('of two similar names suggests the more similar one', () => {
  assert.equal(nearestName('opena', ['openapi', 'openai']), 'openai');
});

test('suggests nothing if no name is near', () => {
  for (const name of ['', 'colour', 'zzz', 'timeouts', 'x'.repeat(10_000)]) {
    assert.equal(nearestName(name, keys), undefined, name.slice(0, 20));
  }
});
