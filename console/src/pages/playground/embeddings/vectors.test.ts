import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareAll, cosine, decodeVector } from './embedded.ts';

test('floats and base64 of the same numbers give the same vector', () => {
  const numbers = [0.5, -1.25, 0, 3];
  const base64 = Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
  assert.deepEqual(decodeVector(numbers), Float64Array.from(numbers));
  assert.deepEqual(decodeVector(base64), Float64Array.from(numbers));
});

test('an invalid vector is recognised', () => {
  for (const value of [undefined, null, 'not base64!', 'AAA=', ['1'], { 0: 1 }, 7])
    assert.equal(decodeVector(value), undefined);
});

test('cosine gives the similarity of two directions', () => {
  const of = (...numbers: number[]) => Float64Array.from(numbers);
  assert.equal(cosine(of(1, 0), of(2, 0)), 1);
  assert.equal(cosine(of(1, 0), of(0, 5)), 0);
  assert.equal(cosine(of(1, 1), of(-1, -1)), -1);
  assert.ok(Math.abs(cosine(of(1, 0), of(1, 1)) - Math.SQRT1_2) < 1e-12);
  assert.ok(Number.isNaN(cosine(of(0, 0), of(1, 1))));
  assert.ok(Number.isNaN(cosine(of(1), of(1, 1))));
});

test('compares all pairs, and stops when cancelled', async () => {
  const vectors = [
    [1, 0],
    [0, 1],
    [1, 1],
  ].map((numbers) => Float64Array.from(numbers));
  let pauses = 0;
  const rows = await compareAll(vectors, async () => {
    pauses += 1;
  });
  assert.equal(pauses, 3);
  for (const [i, row] of rows.entries()) for (const [j, value] of row.entries()) assert.equal(value, rows[j]?.[i]);
  assert.equal(rows[0]?.[1], 0);
  await assert.rejects(compareAll(vectors, async () => undefined, AbortSignal.abort()));
});
