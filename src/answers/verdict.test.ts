import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import type { Answer } from '../core/outcome.ts';
import { cooldownAskedForMs, verdictOn } from './verdict.ts';

const answerOf = (more: Partial<Answer>): Answer => ({ status: 200, headers: [], waiting: [], ...more }) as Answer;

test('maps each upstream status to a verdict', () => {
  const verdicts = [200, 304, 301, 307, 400, 401, 402, 403, 404, 429, 500, 529];
  assert.deepEqual(
    verdicts.map((status) => `${status} ${verdictOn(answerOf({ status }))}`),
    [
      ...['200 serves', '304 serves', '301 redirects', '307 redirects', '400 serves', '401 rejected', '402 rejected'],
      ...['403 rejected', '404 serves', '429 limited', '500 failed', '529 failed'],
    ],
  );
});

test('reads Retry-After in seconds and retry-after-ms in milliseconds, and ignores other values', () => {
  const restOf = (...headers: string[]): number | undefined => cooldownAskedForMs(answerOf({ headers }), 0);
  assert.equal(restOf('retry-after-ms', '1250'), 1_250);
  assert.equal(restOf('retry-after-ms', '1250.5', 'retry-after', '9'), 1_250.5);
  assert.equal(restOf('retry-after-ms', 'soon', 'retry-after', '9'), 9_000);
  assert.equal(restOf('retry-after', '9'), 9_000);
  assert.equal(restOf(), undefined);
});

test("reads the retry delay from the body of a 429 or 503 if the upstream's family defines where it is", () => {
  const errors = { retryAfterS: (): number => 6 };
  const restOf = (status: number, body: string, headers: string[] = []): number | undefined =>
    cooldownAskedForMs(answerOf({ status, headers, ended: true, waiting: [Buffer.from(body)] }), 0, errors);
  assert.deepEqual(
    [restOf(429, '{}'), restOf(503, '{}'), restOf(500, '{}'), restOf(429, '{')],
    [6_000, 6_000, undefined, undefined],
  );
  assert.equal(restOf(429, '{}', ['retry-after', '9']), 9_000);
  assert.equal(restOf(429, '{}', ['content-encoding', 'gzip']), undefined);
  assert.equal(cooldownAskedForMs(answerOf({ status: 429, ended: true, waiting: [Buffer.from('{}')] }), 0), undefined);
});
