import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import {
  intentIn,
  intentItem,
  intentLine,
  settlementIn,
  settlementItem,
  settlementLine,
} from '../../test/support/ledger/journal-lines.ts';
import { ledgerRow, rowId } from '../../test/support/ledger/ledger-rows.ts';
import { type LedgerRow, rowOutcomes } from '../core/accounting/ledger-row.ts';
import { systemClock } from '../lib/clock.ts';
import { createJournal } from './journal.ts';
import { systemFiles } from './journal-files.ts';
import { ItemReader, itemKinds, outcomeCodes } from './journal-items.ts';
import { SegmentReader } from './journal-segment.ts';

const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 });
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1));
/** Upstreams' counts, which may be odd numbers. */
const said = fc.option(fc.oneof(count, fc.constantFrom(-1, 0.5, 1e21)));
const tenths = fc.nat(1e9).map((one) => one / 10);
const rows: fc.Arbitrary<LedgerRow> = fc
  .record({
    id: fc.oneof(
      text,
      fc.nat().map((n) => rowId(1_800_000_000_000, n)),
      fc.constantFrom('A'.repeat(32), '0'.repeat(32), 'g'.repeat(32)),
    ),
    clientRequestId: fc.option(text),
    startedAtMs: count,
    node: text,
    key: text,
    project: fc.option(text),
    route: text,
    label: text,
    model: fc.option(text),
    upstream: fc.option(text),
    attempts: count,
    outcome: fc.constantFrom(...rowOutcomes),
    status: fc.nat(999),
    error: fc.option(text),
    promptTokens: said,
    completionTokens: said,
    totalTokens: said,
    searchUnits: said,
    cachedTokens: said,
    billedInputTokens: count,
    billedOutputTokens: count,
    billedSearchUnits: count,
    isEstimated: fc.boolean(),
    items: count,
    costNanos: fc.option(count),
    requestBytes: count,
    responseBytes: count,
    durationMs: tenths,
    cache: fc.option(fc.constantFrom('hit', 'partial', 'miss')),
    clientAddress: fc.option(text),
    traceId: fc.option(fc.constant('4bf92f3577b34da6a3ce929d0e0e4736')),
    queueMs: fc.option(fc.constant(12.5)),
    connectMs: fc.option(fc.constant(7.5)),
    units: fc.option(fc.constant({ audioInputTokens: 2, toolCalls: { web_search: 1 } })),
  })
  .map((row) => {
    const upstreamModel = row.upstream === null ? null : row.upstream.replaceAll('*', '');
    // A client that left has the status 499.
    const error = row.error === 'client_closed' ? null : row.error;
    return ledgerRow({ ...row, error, upstreamModel, firstByteMs: 3.5, upstreamMs: 1.5 });
  });

test('any row and any start record is read back unchanged', () => {
  fc.assert(
    fc.property(rows, count, fc.array(text, { maxLength: 3 }), (row, nanos, accounts) => {
      const settlement = settlementIn(settlementItem(row, accounts));
      assert.deepEqual(settlement, { kind: 'settlement', row, accounts });
      const { id, clientRequestId, startedAtMs, node, key, project, route, operation, label, model } = row;
      const { items, requestBytes, clientAddress, traceId } = row;
      const asked = { id, clientRequestId, startedAtMs, node, key, project, route, operation, label, model };
      assert.deepEqual(intentIn(intentItem(row, { nanos, accounts })), {
        kind: 'intent',
        row: { ...asked, items, requestBytes, clientAddress, traceId },
        reservedNanos: nanos,
        accounts,
      });
    }),
  );
});

test('each outcome is stored as its own number, which never changes', () => {
  assert.deepEqual(outcomeCodes, ['ok', 'error', 'refused', 'aborted', 'cut', 'lost']);
  assert.deepEqual([...outcomeCodes].sort(), [...rowOutcomes].sort());
});

test('a plain request takes less than 200 bytes of the journal for its start and its end', () => {
  const row = ledgerRow({ requestBytes: 19_000, responseBytes: 19_000, costNanos: 2_000_000, durationMs: 123.4 });
  const bytes = intentItem(row, { nanos: 3_000_000, accounts: ['a', 'b'] }).length;
  assert.ok(bytes + settlementItem(row, ['a', 'b']).length < 200);
});

test('a segment repeats its table of names every 256 KiB, and a row whose names are missing is not read', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-items-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const journal = await createJournal({ directory, node: 'node-1', durability: 'fast', clock: systemClock });
  for (let frames = 0; frames < 1_200; frames++) {
    const written = Array.from({ length: 4 }, (_, n) => rowId(frames, n)).flatMap((id) => [
      journal.open(id, intentLine(id)),
      journal.settle(id, settlementLine(id)),
    ]);
    await Promise.all(written);
  }
  await journal.close();
  const segment = new SegmentReader(directory, 1, systemFiles);
  const framesWithNames: number[] = [];
  let frames = 0;
  for (let frame = segment.frameAt(0); frame !== undefined; frame = segment.frameAt(frame.end)) {
    frames += 1;
    if (frame.payload[0] === itemKinds.name) framesWithNames.push(frame.end);
    const unnamed = [...new ItemReader().read(frame)].filter((record) => record === undefined);
    const hasNames = frame.payload[0] === itemKinds.name;
    assert.equal(unnamed.length > 0, !hasNames && frame.payload.length > 200, `frame ${frames}`);
  }
  segment.close();
  const stretches = Math.ceil((framesWithNames.at(-1) ?? 0) / (256 * 1024));
  assert.ok(stretches >= 2);
  assert.equal(framesWithNames.length, 2 * stretches);
});
