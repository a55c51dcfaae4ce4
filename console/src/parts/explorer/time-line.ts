/** Computes when each part of a request and its calls happened. Rows of older versions lack the start of calls, which their order shows. */

import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { describeTry, isAnswered } from './request-words.ts';

interface TimeLineRow {
  readonly id: string;
  readonly name: string;
  readonly words: string;
  readonly tone: 'good' | 'bad' | 'quiet';
  readonly fromMs: number;
  readonly toMs: number;
  /** The parts of its time, as far as the row has them. */
  readonly spans: readonly Span[];
}

export interface Span {
  /**
   * `wait`: before the call was sent; of that, `queue`: in the upstream's queue, `connect`: until there was a connection; `first`: until the first
   * byte of the answer; `body`: from there to the last byte.
   */
  readonly phase: 'wait' | 'queue' | 'connect' | 'first' | 'body';
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TimeLine {
  readonly totalMs: number;
  /** The gateway's lane first, then a lane for each call in order. */
  readonly lanes: readonly [TimeLineRow, ...TimeLineRow[]];
  /** Whether the row does not say when each call began, so that the calls are drawn one after the other. */
  readonly isApproximate: boolean;
}

export function toTimeLine(row: LedgerDetail): TimeLine {
  const totalMs = Math.max(row.durationMs, row.firstByteMs ?? 0, 0);
  const gateway: TimeLineRow = {
    id: 'gateway',
    name: 'Gateway',
    words: row.outcome === 'ok' ? 'answered the client' : 'ended the request',
    tone: row.outcome === 'ok' ? 'good' : 'bad',
    fromMs: 0,
    toMs: totalMs,
    spans: gatewaySpans(row, totalMs),
  };
  const calls = row.tries.length > 0 ? toLanes(row, totalMs) : toOnlyCall(row, totalMs);
  return {
    totalMs,
    lanes: [gateway, ...calls],
    isApproximate: row.tries.length > 1 && row.tries.some(({ startMs }) => startMs === null),
  };
}

/** The parts of the gateway's time. For one call, the row has the time of sending; for several, only that of the answer's beginning. */
function gatewaySpans(row: LedgerDetail, totalMs: number): Span[] {
  const { firstByteMs, upstreamMs, queueMs, connectMs, tries } = row;
  if (firstByteMs === null) return [{ phase: 'first', fromMs: 0, toMs: totalMs }];
  const firstMs = clamp(firstByteMs, totalMs);
  const sentMs = tries.length > 0 || upstreamMs === null ? 0 : clamp(firstMs - upstreamMs, firstMs);
  const takenMs = clamp(sentMs - (connectMs ?? 0), sentMs);
  const queuedMs = clamp(takenMs - (queueMs ?? 0), takenMs);
  const spans: Span[] = [
    { phase: 'wait', fromMs: 0, toMs: queuedMs },
    { phase: 'queue', fromMs: queuedMs, toMs: takenMs },
    { phase: 'connect', fromMs: takenMs, toMs: sentMs },
    { phase: 'first', fromMs: sentMs, toMs: firstMs },
    { phase: 'body', fromMs: firstMs, toMs: totalMs },
  ];
  return spans.filter(({ fromMs, toMs }) => toMs > fromMs);
}

interface Call {
  readonly fromMs: number;
  readonly toMs: number;
  readonly connectMs: number | null;
  /** When the client got the first byte; null if there was no answer. */
  readonly firstByteMs: number | null;
}

function callSpans({ fromMs, toMs, connectMs, firstByteMs }: Call): Span[] {
  const sentMs = Math.min(fromMs + (connectMs ?? 0), toMs);
  const firstMs = firstByteMs === null || firstByteMs <= sentMs ? toMs : Math.min(firstByteMs, toMs);
  const spans: Span[] = [
    { phase: 'connect', fromMs, toMs: sentMs },
    { phase: 'first', fromMs: sentMs, toMs: firstMs },
    { phase: 'body', fromMs: firstMs, toMs },
  ];
  const drawn = spans.filter((span) => span.toMs > span.fromMs);
  return drawn.length === 0 ? spans.slice(1, 2) : drawn;
}

/** The bar of a single successful call, which is not in the list of calls: its times are those of the row. */
function toOnlyCall(row: LedgerDetail, totalMs: number): TimeLineRow[] {
  if (row.attempts === 0 || row.upstream === null) return [];
  const answeredMs = row.firstByteMs;
  const sentMs = answeredMs === null ? 0 : Math.max(answeredMs - (row.upstreamMs ?? answeredMs), 0);
  const fromMs = clamp(sentMs - (row.connectMs ?? 0), totalMs);
  const isGood = row.outcome === 'ok';
  return [
    {
      id: 'call',
      name: row.upstream,
      words: answeredMs === null ? 'gave no answer' : `answered (${row.status})`,
      tone: isGood ? 'good' : 'bad',
      fromMs,
      toMs: totalMs,
      spans: callSpans({ fromMs, toMs: totalMs, connectMs: row.connectMs, firstByteMs: answeredMs }),
    },
  ];
}

function toLanes(row: LedgerDetail, totalMs: number): TimeLineRow[] {
  const all = row.tries.reduce((sum, { durationMs }) => sum + durationMs, 0);
  // If the calls together took longer than the request, some of them ran side by side.
  const isSideBySide = all > totalMs * 1.05 + 1;
  let atMs = 0;
  return row.tries.map((one, index) => {
    const { durationMs, startMs, connectMs } = one;
    const isLast = isAnswered(one);
    const latestMs = Math.max((isLast ? (row.firstByteMs ?? totalMs) : totalMs) - durationMs, 0);
    const fromMs = startMs ?? (isLast ? latestMs : Math.min(isSideBySide ? 0 : atMs, latestMs));
    atMs = fromMs + durationMs;
    const [beginMs, endMs] = [clamp(fromMs, totalMs), isLast ? totalMs : clamp(atMs, totalMs)];
    return {
      id: `call ${index + 1}`,
      name: one.upstream,
      words: describeTry(one),
      tone: isLast ? 'good' : one.outcome === 'outrun' ? 'quiet' : 'bad',
      fromMs: beginMs,
      // The body of an answered call lasts until the request is over.
      toMs: endMs,
      spans: callSpans({ fromMs: beginMs, toMs: endMs, connectMs, firstByteMs: isLast ? row.firstByteMs : null }),
    };
  });
}

const clamp = (ms: number, mostMs: number): number => Math.min(Math.max(ms, 0), mostMs);

/** Position in percent of the whole, for drawing; parts that take no time are still visible. */
export function toPosition({ fromMs, toMs }: Pick<Span, 'fromMs' | 'toMs'>, totalMs: number) {
  if (totalMs <= 0) return { left: 0, width: 100 };
  const least = 0.8;
  const width = Math.max(((toMs - fromMs) / totalMs) * 100, least);
  return { left: Math.min((fromMs / totalMs) * 100, 100 - width), width };
}
