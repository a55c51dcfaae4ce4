/** A chart over time as this page has them: quiet, without motion, with its series in words and colours of their own. */

import { Group, Text } from '@mantine/core';
import { memo, useRef, useState } from 'react';
import { ChartCard, type ChartTableData, chartHeight } from './chart-card.tsx';
import { Drawing } from './drawing.tsx';
import { type ChartRow, type Series, toColor } from './series.ts';

interface TimeChartProps {
  readonly title: string;
  readonly about: string;
  readonly kind: 'area' | 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  format(value: number): string;
}

const legendHeight = 22;

export const TimeChart = memo(function TimeChart({ title, about, kind, series, rows, format }: TimeChartProps) {
  const [isHeld, setHeld] = useState(false);
  const held = useRef(rows);
  // Nothing moves under the pointer.
  if (!isHeld) held.current = rows;
  const shown = held.current;
  return (
    <ChartCard title={title} about={about} toTable={() => toTable(shown, series, format)} onHold={setHeld}>
      <Legend series={series} />
      <Drawing
        kind={kind}
        label={toWords(title, shown, series, format)}
        height={chartHeight - legendHeight}
        series={series}
        rows={shown}
        format={format}
      />
    </ChartCard>
  );
});

const Legend = memo(function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <Group gap="md" h={legendHeight} wrap="nowrap" aria-hidden className="legend">
      {series.map(({ name, label, color }) => (
        <Group key={name} gap={6} wrap="nowrap">
          <span className="legend-mark" style={{ backgroundColor: toColor(color) }} />
          <Text size="xs" c="dimmed" truncate>
            {label}
          </Text>
        </Group>
      ))}
    </Group>
  );
});

function toWords(
  title: string,
  rows: readonly ChartRow[],
  series: readonly Series[],
  format: (value: number) => string,
): string {
  const last = rows.at(-1);
  if (last === undefined) return `${title}: nothing yet`;
  const parts = series.map(({ name, label }) => `${label} ${toCell(last[name], format)}`);
  return `${title}, lately: ${parts.join(', ')}. The button above shows all of it as a table.`;
}

function toCell(value: string | number | null | undefined, format: (value: number) => string): string {
  return typeof value === 'number' ? format(value) : '–';
}

function toTable(
  rows: readonly ChartRow[],
  series: readonly Series[],
  format: (value: number) => string,
): ChartTableData {
  return {
    head: ['Time', ...series.map(({ label }) => label)],
    rows: rows.map((row) => [row.time, ...series.map(({ name }) => toCell(row[name], format))]),
  };
}
