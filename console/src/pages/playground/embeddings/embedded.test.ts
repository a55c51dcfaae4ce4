import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../call.ts';
import { wholeAnswer } from '../whole-answer.ts';
import { type Embedded, toEmbedded, toMismatch } from './embedded.ts';

const answering = (data: unknown, input: unknown, headers: Record<string, string> = {}): Answer =>
  wholeAnswer({ call: { route: 'embeddings', model: 'm', body: { input } }, json: { data }, headers });

test('vectors are assigned to texts by index, not by order', () => {
  const data = [
    { index: 1, embedding: [0, 1] },
    { index: 0, embedding: [1, 0] },
  ];
  const embedded = toEmbedded(answering(data, ['a', 'b'], { 'x-postern-space': 's' }));
  assert.ok(typeof embedded === 'object');
  assert.deepEqual(embedded.texts, ['a', 'b']);
  assert.deepEqual([...(embedded.vectors[0] ?? [])], [1, 0]);
  assert.equal(embedded.space, 's');
  assert.equal(embedded.encoding, 'float');
});

test('an embeddings response that cannot be drawn gives the reason', () => {
  assert.match(String(toEmbedded(answering([{ index: 0, embedding: [1] }], ['a', 'b']))), /text 2/);
  assert.match(String(toEmbedded(answering([{ index: 0, embedding: 'no?' }], 'a'))), /text 1/);
  const uneven = [
    { index: 0, embedding: [1] },
    { index: 1, embedding: [1, 2] },
  ];
  assert.match(String(toEmbedded(answering(uneven, ['a', 'b']))), /widths/);
  assert.equal(toEmbedded(undefined), undefined);
});

test('comparing responses of different vector spaces, widths or models gives a warning', () => {
  const of = (parts: Partial<Embedded>): Embedded => ({
    model: 'm',
    texts: [],
    vectors: [],
    width: 2,
    space: undefined,
    encoding: 'float',
    ...parts,
  });
  assert.equal(toMismatch(of({ space: 'a' }), of({ space: 'a' })), undefined);
  assert.match(toMismatch(of({ space: 'a' }), of({ space: 'b' })) ?? '', /a and b/);
  assert.match(toMismatch(of({}), of({ width: 3 })) ?? '', /2 and 3/);
  assert.match(toMismatch(of({}), of({ model: 'n' })) ?? '', /Nobody/);
  assert.equal(toMismatch(of({}), of({})), undefined);
});
