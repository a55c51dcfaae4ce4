import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Unfit } from '../../../core/translation.ts';
import { JsonNumber } from '../../../lib/json/json-text.ts';
import { rescaled } from './rerank.ts';

const toSigmoid = (source: string): string => rescaled(new JsonNumber(source), 'raw', 'sigmoid').source;
const toRaw = (source: string): string => rescaled(new JsonNumber(source), 'sigmoid', 'raw').source;

test('converts a raw score (logit) to 1 / (1 + e^-x), and a probability to ln(p / (1 - p))', () => {
  assert.deepEqual(['0', '-0.0', '1e0', '-7.1'].map(toSigmoid), [
    '0.5',
    '0.5',
    '0.7310585786300049',
    '0.0008244246863982953',
  ]);
  assert.deepEqual(['0.5', '0.50', '0.7310585786300049'].map(toRaw), ['0', '0', '1']);
});

test('a score that is already on the wanted scale, or of unknown scale, keeps its digits', () => {
  for (const [from, to] of [
    ['raw', 'raw'],
    ['sigmoid', 'sigmoid'],
    [undefined, 'raw'],
    ['raw', undefined],
  ] as const) {
    assert.equal(rescaled(new JsonNumber('1.50e0'), from, to).source, '1.50e0');
  }
});

test('converting any score gives a JSON number and keeps the order of scores', () => {
  const logit = fc.double({ noNaN: true, noDefaultInfinity: true });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  for (const [number, convert] of [
    [logit, toSigmoid],
    [share, toRaw],
  ] as const) {
    const edges = fc.oneof(number, fc.constantFrom(0, 1, 5e-324, 1 - 2 ** -53));
    fc.assert(
      fc.property(edges, edges, (one, other) => {
        const [first, second] = [one, other].map((value) => JSON.parse(convert(String(value))));
        assert.ok(Number.isFinite(first) && Number.isFinite(second), `${first} ${second}`);
        if (one < other) assert.ok(first <= second, `${one} < ${other}, but ${first} > ${second}`);
      }),
    );
  }
});

test('converting 0, 1 and extreme raw scores gives finite numbers', () => {
  assert.deepEqual(['0', '1', '-0.0000001', '1.0000001'].map(toRaw), [
    '-744.4400719213812',
    '36.7368005696771',
    '-744.4400719213812',
    '36.7368005696771',
  ]);
  assert.deepEqual(['1e308', '-1e308', '800', '-800'].map(toSigmoid), ['1', '0', '1', '0']);
});

test('a score outside 0 to 1 is not treated as a probability, and is not converted', () => {
  for (const source of ['1.1', '-0.1', '7.3']) assert.throws(() => toRaw(source), Unfit);
});
