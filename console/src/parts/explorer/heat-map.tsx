/** Draws a heat map of durations over time, with percentile lines. */

import { memo } from 'react';
import type { Series as Answer } from '../../../../src/admin/contract.ts';
import { barX, type ChartRow, type Plot } from '../charts/chart-geometry.ts';
import { ChartFrame, type Linked, latencySeries, toColor } from '../charts/drawing.tsx';
import { formatDuration } from '../words/format.ts';

interface HeatMapProps {
  readonly heat: NonNullable<Answer['heatmap']>;
  readonly rows: readonly ChartRow[];
  readonly label: string;
  readonly height: number;
  readonly linked: Linked;
}

export const HeatMap = ({ heat, rows, ...frame }: HeatMapProps) => (
  <ChartFrame {...frame} isBands series={latencySeries} rows={rows} format={formatDuration}>
    {(plot) => <Cells heat={heat} plot={plot} rows={rows} />}
  </ChartFrame>
);

const mostMarks = 5;

const Cells = memo(function Cells({ heat, plot, rows }: Pick<HeatMapProps, 'heat' | 'rows'> & { readonly plot: Plot }) {
  const { bounds, counts } = heat;
  const used = bounds.flatMap((_, row) => (counts.some((column) => (column[row] ?? 0) > 0) ? [row] : []));
  const [first = 0, last = 0] = [used[0], used.at(-1)];
  const count = last - first + 1;
  const band = plot.width / Math.max(1, counts.length);
  const rowHeight = plot.height / count;
  const most = Math.max(1, ...counts.flat());
  const topOf = (row: number): number => plot.top + (last - row) * rowHeight;
  // Between two bounds as far as it is between their logarithms.
  const yOf = (ms: number): number => {
    const row = Math.max(
      first,
      bounds.findIndex((bound) => ms <= bound),
    );
    const [low, high] = [bounds[row - 1] ?? (bounds[row] ?? 1) / 2, bounds[row] ?? 1];
    const share = Math.min(1, Math.max(0, Math.log(ms / low) / Math.log(high / low)));
    return topOf(row) + rowHeight * (1 - share);
  };
  const step = Math.max(1, Math.ceil(count / mostMarks));
  const marks = Array.from({ length: Math.ceil(count / step) }, (_, at) => last - at * step);
  return (
    <>
      {marks.map((row) => (
        <text key={row} x={plot.left - 8} y={topOf(row) + 4} textAnchor="end">
          {formatDuration(bounds[row] ?? 0)}
        </text>
      ))}
      {counts.flatMap((column, at) =>
        column.map((value, row) =>
          value === 0 ? null : (
            <rect
              key={`${rows[at]?.time} ${bounds[row]}`}
              x={plot.left + band * at}
              y={topOf(row)}
              width={Math.max(1, band - 0.5)}
              height={Math.max(1, rowHeight - 0.5)}
              className="heat-cell"
              style={{ fillOpacity: 0.12 + 0.88 * Math.sqrt(value / most) }}
            />
          ),
        ),
      )}
      {latencySeries.map(({ name, color }) => (
        <path
          key={name}
          className="line"
          style={{ stroke: toColor(color) }}
          d={rows
            .map((row, at) => {
              const ms = row[name];
              if (typeof ms !== 'number') return '';
              const isGoing = typeof rows[at - 1]?.[name] === 'number';
              return `${isGoing ? 'L' : 'M'}${barX(at, rows.length, plot).toFixed(1)} ${yOf(ms).toFixed(1)}`;
            })
            .join('')}
        />
      ))}
    </>
  );
});
