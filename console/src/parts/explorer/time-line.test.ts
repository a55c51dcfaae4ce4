import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { toPosition, toTimeLine } from './time-line.ts';

const call = (outcome: string, durationMs: number, upstream = 'near', startMs: number | null = null) => ({
  upstream,
  model: 'm',
  credential: null,
  outcome,
  detail: null,
  startMs,
  durationMs,
  connectMs: null as number | null,
});

function row(parts: Partial<LedgerDetail>): LedgerDetail {
  return {
    outcome: 'ok',
    status: 200,
    upstream: 'near',
    attempts: 1,
    tries: [],
    durationMs: 100,
    firstByteMs: 60,
    upstreamMs: 50,
    queueMs: null,
    connectMs: null,
    ...parts,
  } as LedgerDetail;
}

const spans = (detail: LedgerDetail): (string | number)[][] =>
  toTimeLine(detail).lanes.map(({ name, fromMs, toMs }) => [name, fromMs, toMs]);

test("a request's single successful call is drawn by the times in the ledger row", () => {
  assert.deepEqual(spans(row({})), [
    ['Gateway', 0, 100],
    ['near', 10, 100],
  ]);
});

test('a refused request has no bar for a call', () => {
  assert.deepEqual(spans(row({ outcome: 'refused', attempts: 0, upstream: null, firstByteMs: null })), [
    ['Gateway', 0, 100],
  ]);
});

test('a call is drawn at its start time, if the ledger row has one', () => {
  const tries = [call('failed', 20, 'far', 3), call('answered', 30, 'last', 55)];
  const line = toTimeLine(row({ tries, attempts: 2, firstByteMs: 85 }));
  assert.deepEqual(
    line.lanes.map(({ fromMs, toMs }) => [fromMs, toMs]),
    [
      [0, 100],
      [3, 23],
      [55, 100],
    ],
  );
  assert.equal(line.isApproximate, false);
});

test('without start times, failed calls are drawn one after another, and the successful one by its first byte', () => {
  const tries = [call('not-sent', 5), call('failed', 20, 'far'), call('answered', 30, 'last')];
  const line = toTimeLine(row({ tries, attempts: 3 }));
  assert.deepEqual(
    line.lanes.map(({ fromMs, toMs, tone }) => [fromMs, toMs, tone]),
    [
      [0, 100, 'good'],
      [0, 5, 'bad'],
      [5, 25, 'bad'],
      [30, 100, 'good'],
    ],
  );
  assert.equal(line.isApproximate, true);
});

test('parallel calls are not drawn one after another', () => {
  const tries = [call('outrun', 100), call('answered', 40, 'far')];
  assert.deepEqual(spans(row({ tries })), [
    ['Gateway', 0, 100],
    ['near', 0, 100],
    ['far', 20, 100],
  ]);
});

test('every bar is visible within the range, whatever the numbers', () => {
  const odd = [
    row({ durationMs: 0, firstByteMs: 0, upstreamMs: 0 }),
    row({ durationMs: 10, firstByteMs: 50, upstreamMs: 500 }),
    row({ durationMs: 10, tries: [call('failed', 1_000), call('failed', 0), call('answered', 9_999)] }),
    row({ durationMs: -5, firstByteMs: null, upstreamMs: null }),
  ];
  for (const detail of odd) {
    const { lanes, totalMs } = toTimeLine(detail);
    for (const lane of lanes) {
      const { left, width } = toPosition(lane, totalMs);
      assert.ok(left >= 0 && width > 0 && left + width <= 100.001, JSON.stringify(lane));
    }
  }
});

test("the gateway's bar distinguishes wait, queue, first byte and body", () => {
  const [gateway] = toTimeLine(row({ queueMs: 4 })).lanes;
  assert.deepEqual(
    gateway.spans.map(({ phase, fromMs, toMs }) => [phase, fromMs, toMs]),
    [
      ['wait', 0, 6],
      ['queue', 6, 10],
      ['first', 10, 60],
      ['body', 60, 100],
    ],
  );
  const [refused] = toTimeLine(row({ outcome: 'refused', attempts: 0, upstream: null, firstByteMs: null })).lanes;
  assert.equal(refused.spans.length, 1);
});

test('the wait for a connection is part of its call, before the wait for the first byte', () => {
  const phasesOf = (detail: LedgerDetail) =>
    toTimeLine(detail).lanes.map(({ name, spans }) => [
      name,
      ...spans.map(({ phase, fromMs, toMs }) => `${phase} ${fromMs}-${toMs}`),
    ]);
  assert.deepEqual(phasesOf(row({ connectMs: 6, queueMs: 3 })), [
    ['Gateway', 'wait 0-1', 'queue 1-4', 'connect 4-10', 'first 10-60', 'body 60-100'],
    ['near', 'connect 4-10', 'first 10-60', 'body 60-100'],
  ]);
  const tries = [
    { ...call('not-sent', 20, 'far', 3), connectMs: 20 },
    { ...call('answered', 30, 'last', 55), connectMs: 12 },
  ];
  assert.deepEqual(phasesOf(row({ tries, attempts: 2, firstByteMs: 85 })).slice(1), [
    ['far', 'connect 3-23'],
    ['last', 'connect 55-67', 'first 67-85', 'body 85-100'],
  ]);
  // The client left before there was an answer.
  const left = row({ outcome: 'aborted', firstByteMs: null, upstreamMs: null, connectMs: 100 });
  assert.deepEqual(phasesOf(left).slice(1), [['near', 'connect 0-100']]);
});
