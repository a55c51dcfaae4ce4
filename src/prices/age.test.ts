import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText } from './listed.ts';

test("reports a price list's age once it is half a year old", () => {
  const at = (day: string) => ageText('2025-11-01', Date.parse(day));
  assert.deepEqual(
    [at('2025-11-01'), at('2026-04-30'), at('2026-05-01'), at('2026-11-22T23:59:59Z')],
    ['', '', ', 181 days old', ', 386 days old'],
  );
});
