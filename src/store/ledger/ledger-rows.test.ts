import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ledgerRow } from '../../../test/support/ledger/ledger-rows.ts';
import { toFigures, toNames, toRowValues, toTableRow } from './ledger-rows.ts';

test("a row's values are in column order, and complete", () => {
  const made = ledgerRow();
  const names = Object.keys(toTableRow({ names: toNames(made), row: toFigures(made) }));
  // Each value is the name of its column.
  const row = Object.fromEntries(names.map((name) => [name, name])) as unknown as ReturnType<typeof toTableRow>;
  assert.deepEqual(toRowValues(row), names);
});
