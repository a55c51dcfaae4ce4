import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settlementLine } from '../../test/support/ledger/journal-lines.ts';
import type { Frame } from './journal-frame.ts';
import { toPayload } from './journal-items.ts';
import { RowsBehind } from './journal-reader.ts';
import type { SegmentReader } from './journal-segment.ts';

test('rows that wait for import are counted once per frame, without those that were imported', () => {
  const payload = Buffer.from(toPayload(settlementLine('a')));
  const frames = [1, 2, 3].map((end) => ({ payload, isItems: true, end }) as Frame);
  let reads = 0;
  const segment: Pick<SegmentReader, 'frameAt'> = {
    frameAt(offset) {
      const frame = frames[offset];
      if (frame !== undefined) reads += 1;
      return frame;
    },
  };
  const behind = new RowsBehind({ segment: 1, offset: 0 });
  const count = () => behind.count([1], (_, look) => look(segment as SegmentReader));
  assert.deepEqual([count(), count(), reads], [3, 3, 3]);
  for (const frame of frames.slice(0, 2)) behind.took(frame);
  behind.imported({ segment: 1, offset: 2 });
  assert.deepEqual([count(), reads], [1, 3]);
});
