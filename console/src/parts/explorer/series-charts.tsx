/** Draws four charts over the same times: rate, errors, latency and cost. They share the pointer; dragging zooms in. */

import { NativeSelect, SimpleGrid } from '@mantine/core';
import { useMemo, useState } from 'react';
import { type Series as Answer, latencyKinds } from '../../../../src/admin/contract.ts';
import type { Series } from '../charts/chart-geometry.ts';
import { costSeries, type Linked, latencySeries, resultSeries } from '../charts/drawing.tsx';
import { chartHeight, TimeChart } from '../charts/time-chart.tsx';
import { IconButton } from '../layout/button.tsx';
import { formatDuration, formatMoney, formatPercent, formatRate } from '../words/format.ts';
import { latencyWords } from '../words/labels.ts';
import { HeatMap } from './heat-map.tsx';
import {
  failedShareAt,
  isOfAll,
  type NamedLine,
  ratesOf,
  rateUnitOf,
  shareAt,
  spansOf,
  toRows,
} from './series-rows.ts';
import type { LatencyKind, Sight } from './sight.ts';

interface SeriesChartsProps {
  readonly answer: Answer;
  readonly sight: Sight;
  readonly lines: readonly NamedLine[];
  readonly isNarrow: boolean;
  onZoom(from: string, to: string): void;
  onLatency(kind: LatencyKind): void;
  onHeat(isHeat: boolean): void;
}

const errorSeries: readonly Series[] = [
  { name: 'failed', label: 'Failed requests', color: 'red.6' },
  { name: 'attempts', label: 'Failed attempts', color: 'grape.6' },
];
const beforeSeries: Series = { name: 'before', label: 'Before', color: 'indigo.4', isDashed: true };

export function SeriesCharts({ answer, sight, lines, isNarrow, onZoom, onLatency, onHeat }: SeriesChartsProps) {
  const [at, setAt] = useState<number>();
  const linked: Linked = {
    at,
    onPoint: setAt,
    onZoom(from, to) {
      const [begin, last] = [answer.times[from], answer.times[to]];
      if (begin === undefined || last === undefined) return;
      onZoom(begin, new Date(Date.parse(last) + answer.stepMs).toISOString());
    },
  };
  const charts = useMemo(() => toCharts(answer, lines, isOfAll(sight.by)), [answer, lines, sight.by]);
  const isSplit = lines.length > 0;
  const { heatmap } = answer;
  return (
    <SimpleGrid cols={{ base: 1, md: isNarrow ? 1 : 2 }} spacing="sm">
      <TimeChart {...charts.rate} title="Rate" kind="area" format={formatRate} linked={linked} />
      <TimeChart {...charts.errors} title="Errors" kind="lines" format={formatPercent} linked={linked} />
      <TimeChart
        {...charts.latency}
        title="Latency"
        kind="lines"
        format={formatDuration}
        linked={linked}
        controls={
          <>
            <NativeSelect
              size="xs"
              aria-label="Latency of"
              value={sight.latency}
              data={latencyKinds.map((value) => ({ value, label: latencyWords[value] }))}
              onChange={({ currentTarget }) => onLatency(currentTarget.value as LatencyKind)}
            />
            {!isSplit && (
              <IconButton
                icon="heat"
                label="Heat map"
                title="Heat map"
                aria-pressed={sight.isHeat}
                onClick={() => onHeat(!sight.isHeat)}
              />
            )}
          </>
        }
      >
        {heatmap !== null && !isSplit && (
          <HeatMap
            heat={heatmap}
            rows={charts.latency.rows}
            label="Latency as a heat map; the button above shows its percentiles as a table."
            height={chartHeight}
            linked={linked}
          />
        )}
      </TimeChart>
      <TimeChart {...charts.cost} title="Cost" kind="bars" format={formatMoney} linked={linked} />
    </SimpleGrid>
  );
}

/** The charts. With a split, each has a line for each value; without one, its own series and the previous period. */
function toCharts(answer: Answer, lines: readonly NamedLine[], ofAll: boolean) {
  const { total, comparison } = answer;
  const spans = spansOf(answer);
  const unit = rateUnitOf(answer);
  const isSplit = lines.length > 0;
  const split = lines.map(({ series }) => series);
  const columnsOf = (pick: (points: Answer['total']['points'], at: number) => number | null) => (at: number) =>
    Object.fromEntries(lines.map(({ series, line }) => [series.name, pick(line.points, at)]));
  const before = comparison?.isCovered === true ? comparison.points : undefined;
  const withBefore = (own: readonly Series[]): readonly Series[] =>
    before === undefined ? own : [...own, beforeSeries];
  const rateAt = (points: Answer['total']['points'], name: 'requests' | 'succeeded' | 'failed', at: number) =>
    ratesOf(points, name, spans, unit)[at] ?? null;
  const each = `Requests ${unit.words}`;
  return {
    rate: {
      about: isSplit ? each : `${each}, by result`,
      series: isSplit ? split : withBefore(resultSeries),
      rows: toRows(answer, (at) =>
        isSplit
          ? columnsOf((points) => rateAt(points, 'requests', at))(at)
          : {
              ...Object.fromEntries(
                resultSeries.map(({ name }) => [name, rateAt(total.points, name as 'succeeded', at)]),
              ),
              before: before === undefined ? null : rateAt(before, 'requests', at),
            },
      ),
    },
    errors: {
      about: isSplit
        ? `Failed, of ${ofAll ? 'all' : 'the'} requests that succeeded or failed`
        : 'Of the requests that succeeded or failed; of attempts',
      series: isSplit ? split : withBefore(errorSeries),
      rows: toRows(answer, (at) =>
        isSplit
          ? columnsOf((points) => failedShareAt(points, at, ofAll ? total.points : points))(at)
          : {
              failed: failedShareAt(total.points, at),
              attempts: shareAt(total.points.failedAttempts[at], total.points.attempts[at]),
              before: before === undefined ? null : failedShareAt(before, at),
            },
      ),
    },
    latency: {
      about: isSplit ? 'p95' : before === undefined ? 'Percentiles' : 'Percentiles; before: p95',
      series: isSplit ? split : withBefore(latencySeries),
      rows: toRows(answer, (at) =>
        isSplit
          ? columnsOf(({ p95 }) => p95[at] ?? null)(at)
          : {
              p50: total.points.p50[at] ?? null,
              p95: total.points.p95[at] ?? null,
              p99: total.points.p99[at] ?? null,
              before: before?.p95[at] ?? null,
            },
      ),
    },
    cost: {
      about: 'Of what has a known price',
      series: isSplit ? split : withBefore(costSeries),
      rows: toRows(answer, (at) =>
        isSplit
          ? columnsOf(({ cost }) => cost[at] ?? null)(at)
          : { cost: total.points.cost[at] ?? null, before: before?.cost[at] ?? null },
      ),
    },
  };
}
