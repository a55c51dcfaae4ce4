import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intentLine, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { Joiner, nothingJoined } from './joiner.ts';
import { type RowItem, toPayload } from './journal-items.ts';
import { toItem } from './journal-records.ts';

/** Equal last digits, so equal numbers. */
const one = '0123456789abcdef0000000000000001';
const other = '0123456789abcdee0000000000000001';
/** Written as text, without a number. */
const words = ['first', 'second'] as const;

/** What these items leave open, in order; rows of settled exchanges come first. */
function join(...makers: (() => RowItem)[]): string[] {
  const joiner = new Joiner();
  const joined = nothingJoined();
  for (const [index, make] of makers.entries()) {
    joiner.take({ payload: toPayload(make()), isItems: true, end: index + 1 }, 1, joined);
  }
  joiner.endAll(joined);
  assert.deepEqual(joined.damage, []);
  return joined.rows.map(({ row }) => `${row.outcome} ${row.id}`);
}

test('of two requests with similar IDs, the one without an end record gets a row as lost', () => {
  for (const [a, b] of [[one, other], words] as const) {
    const intents = [() => intentLine(a), () => intentLine(b)];
    assert.deepEqual(
      join(...intents, () => settlementLine(a)),
      [`ok ${a}`, `lost ${b}`],
    );
    assert.deepEqual(
      join(...intents, () => settlementLine(b)),
      [`ok ${b}`, `lost ${a}`],
    );
    const both = [() => settlementLine(a), () => settlementLine(b)];
    assert.deepEqual(join(...intents, ...both), [`ok ${a}`, `ok ${b}`]);
  }
});

test('a withdrawn start record gives no row, and a request with a similar ID is not affected', () => {
  for (const [a, b] of [[one, other], words] as const) {
    const taken = () => toItem({ kind: 'void', ids: [a] });
    assert.deepEqual(
      join(
        () => intentLine(a),
        () => intentLine(b),
        taken,
      ),
      [`lost ${b}`],
    );
    assert.deepEqual(
      join(
        () => intentLine(b),
        () => intentLine(a),
        taken,
      ),
      [`lost ${b}`],
    );
  }
});
