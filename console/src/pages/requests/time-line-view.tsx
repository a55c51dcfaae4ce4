/** The calls of a request as bars over its time. */

import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { formatDuration } from '../../parts/words/format.ts';
import { type TimeLineRow, toPlace, toTimeLine } from './time-line.ts';

export function TimeLineView({ row }: { readonly row: LedgerDetail }) {
  const { lanes, totalMs, firstByteMs, isApproximate } = toTimeLine(row);
  return (
    <>
      <ol className="time-line">
        {lanes.map((lane, index) => (
          <LaneView key={lane.id} lane={lane} totalMs={totalMs} firstByteMs={index === 0 ? firstByteMs : undefined} />
        ))}
      </ol>
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed">
          0
        </Text>
        <Text size="xs" c="dimmed">
          {formatDuration(totalMs)}
        </Text>
      </Group>
      {firstByteMs !== undefined && (
        <Text size="xs" c="dimmed">
          The line across the first bar is the first byte of the answer, after {formatDuration(firstByteMs)}.
        </Text>
      )}
      {isApproximate && (
        <Text size="xs" c="dimmed">
          Attempts stand in their order; when exactly each began is not recorded.
        </Text>
      )}
      {row.attempts === 0 && (
        <Text size="xs" c="dimmed">
          No call was sent to an upstream.
        </Text>
      )}
    </>
  );
}

interface LaneViewProps {
  readonly lane: TimeLineRow;
  readonly totalMs: number;
  readonly firstByteMs: number | undefined;
}

function LaneView({ lane, totalMs, firstByteMs }: LaneViewProps) {
  const { left, width } = toPlace(lane, totalMs);
  const tookMs = lane.toMs - lane.fromMs;
  return (
    <li>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" component="span" className="any-wrap">
          <strong>{lane.name}</strong> <span className={`tone-${lane.tone}`}>{lane.words}</span>
        </Text>
        <Text size="sm" c="dimmed" component="span" className="numeric">
          {formatDuration(tookMs)}
        </Text>
      </Group>
      <div className="time-track" aria-hidden="true">
        <div className={`time-bar time-${lane.tone}`} style={{ left: `${left}%`, width: `${width}%` }} />
        {firstByteMs !== undefined && totalMs > 0 && (
          <div className="time-mark" style={{ left: `${Math.min((firstByteMs / totalMs) * 100, 99.5)}%` }} />
        )}
      </div>
      {firstByteMs !== undefined && <VisuallyHidden>First byte after {formatDuration(firstByteMs)}</VisuallyHidden>}
    </li>
  );
}
