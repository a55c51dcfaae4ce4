import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sharesOf, sumOf } from './decimals.ts';

test('adds decimals without losing a digit', () => {
  assert.equal(sumOf(['7', '35']), '42');
  assert.equal(sumOf(['0.1', '0.2']), '0.3');
  assert.equal(sumOf(['1.5e-5', '0.000985']), '0.001');
  assert.equal(sumOf(['2e3', '1']), '2001');
  assert.equal(sumOf(['9007199254740993', '1']), '9007199254740994');
  assert.equal(sumOf(['1.50']), '1.50');
});

test('a decimal split into shares by weight adds up to the whole, with each share in proportion', () => {
  const counts = fc.oneof(
    fc.nat({ max: 1_000_000 }).map(String),
    fc.tuple(fc.nat({ max: 999 }), fc.nat({ max: 9_999 })).map(([whole, part]) => `${whole}.${part}1`),
  );
  fc.assert(
    fc.property(
      counts,
      fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 2, maxLength: 40 }),
      (source, weights) => {
        const shares = sharesOf(source, weights);
        assert.equal(Number(sumOf(shares)), Number(source));
        const total = weights.reduce((sum, one) => sum + one, 0);
        const step = 10 ** -(source.split('.')[1] ?? '').length;
        for (const [index, share] of shares.entries()) {
          const exact = (Number(source) * (weights[index] ?? 0)) / total;
          assert.ok(Math.abs(Number(share) - exact) <= step * (1 + 1e-9), `${share} of ${exact}`);
        }
      },
    ),
  );
});
