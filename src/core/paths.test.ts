import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayMeanTheSame } from './paths.ts';

test('two route paths overlap if one request path could match both', () => {
  for (const [one, other, may] of [
    ['/v1/a', '/v1/a', true],
    ['/v1/a', '/v1/b', false],
    ['/v1/models/a', '/v1/models/{model}', true],
    ['/v1/models', '/v1/models/{model}', false],
    ['/v1/files/x/content', '/v1/files/{id}/content', true],
    ['/v1/files/x/contents', '/v1/files/{id}/content', false],
    ['/v1/{model}/a', '/v1/engines/{model}/a', true],
    ['/v1/{model}/a', '/v1/engines/{model}/b', false],
    ['/v1/{model}/a', '/v2/{model}/a', false],
    ['/v1beta/x', '/v1beta/{model=tunedModels/*}:generateContent', false],
    ['/v1beta/tunedModels/x:generateContent', '/v1beta/{model=tunedModels/*}:generateContent', true],
  ] as const) {
    assert.equal(mayMeanTheSame(one, other), may, `${one} ${other}`);
    assert.equal(mayMeanTheSame(other, one), may, `${other} ${one}`);
  }
});
