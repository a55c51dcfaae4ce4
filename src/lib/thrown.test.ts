import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, reasonOf, traceOf } from './thrown.ts';

test('the reason is the message, or the thrown value if it is no error', () => {
  assert.equal(reasonOf(new TypeError('no such field')), 'no such field');
  assert.equal(reasonOf('gone'), 'gone');
  assert.equal(reasonOf(undefined), 'undefined');
});

test('errors nested in one without a message are listed one by one', () => {
  assert.equal(reasonOf(new AggregateError([new Error('::1 refused'), '127.0.0.1'])), '::1 refused, 127.0.0.1');
  assert.equal(reasonOf(new AggregateError([new Error('refused')], 'nobody answers')), 'nobody answers');
});

test("the code is the system's error code, never a number", () => {
  assert.equal(codeOf(Object.assign(new Error('full'), { code: 'ENOSPC' })), 'ENOSPC');
  assert.equal(codeOf(new DOMException('stopped', 'AbortError')), undefined);
  assert.equal(codeOf({ code: 'ENOSPC' }), undefined);
});

test('the stack of an error shows where it was created', () => {
  assert.match(traceOf(new Error('here')), /^Error: here\n {4}at .*thrown\.test\.ts/);
  assert.equal(traceOf(7), '7');
});
