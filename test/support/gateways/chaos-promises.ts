/** Short versions of the promises: violations fail, and figures are printed. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { findPromises, type PromiseFile, runPromise } from '../../chaos/support/promise-process.ts';

const seed = randomInt(2 ** 31);

/** Those of one file of tests; files run beside each other. */
export function testPromises(isHere: (file: PromiseFile) => boolean): void {
  for (const file of findPromises().filter(isHere)) {
    test(`promise ${file.no} holds: ${file.slug.replaceAll('-', ' ')}`, async (t) => {
      const { figures, failure } = await runPromise(file, { scale: 'short', seed });
      t.diagnostic(`seed ${seed}`);
      for (const { name, measured, bar } of figures) t.diagnostic(`${name}: ${measured} (bar: ${bar})`);
      assert.equal(failure, undefined);
      assert.deepEqual(
        figures.filter(({ broken }) => broken),
        [],
      );
      assert.ok(figures.length > 0, 'it measured nothing');
    });
  }
}
