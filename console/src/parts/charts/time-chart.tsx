/** Shows a time chart with title and table, in the console's style: no animation, series with labels and colours. */

import { Box, Group, Paper, ScrollArea, Table, Title, Tooltip } from '@mantine/core';
import { memo, type ReactNode, useCallback, useRef, useState } from 'react';
import './charts.css';
import { IconButton } from '../layout/button.tsx';
import { Remark } from '../layout/text.tsx';
import type { ChartRow, Series } from './chart-geometry.ts';
import { Drawing, LegendMark, type Linked } from './drawing.tsx';

interface TimeChartProps {
  readonly title: string;
  readonly about: string;
  readonly kind: 'area' | 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  format(value: number): string;
  readonly linked?: Linked | undefined;
  readonly controls?: ReactNode;
  /** Replaces the drawing; the rows are still shown as a table. */
  readonly children?: ReactNode;
}

const legendHeight = 22;

export const TimeChart = memo(function TimeChart(props: TimeChartProps) {
  const { title, about, kind, series, rows, format, linked, controls, children } = props;
  const [isHeld, setHeld] = useState(false);
  const held = useRef(rows);
  // The rows stay the same while the pointer is on the chart.
  if (!isHeld) held.current = rows;
  const shown = held.current;
  return (
    <ChartCard
      title={title}
      about={about}
      controls={controls}
      toTable={() => toTable(shown, series, format)}
      onHold={setHeld}
    >
      {children || (
        <>
          <Legend series={series} />
          <Drawing
            kind={kind}
            label={toWords(title, shown, series, format)}
            height={chartHeight - legendHeight}
            series={series}
            rows={shown}
            format={format}
            linked={linked}
          />
        </>
      )}
    </ChartCard>
  );
});

const Legend = memo(function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <Group gap="0 var(--mantine-spacing-md)" mih={legendHeight} aria-hidden className="legend">
      {series.map(({ name, label, color, isDashed = false }) => (
        <Group key={name} gap={6} wrap="nowrap">
          <LegendMark color={color} isDashed={isDashed} />
          <Remark truncate>{label}</Remark>
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

const toCell = (value: string | number | null | undefined, format: (value: number) => string): string =>
  typeof value === 'number' ? format(value) : '–';

const toTable = (
  rows: readonly ChartRow[],
  series: readonly Series[],
  format: (value: number) => string,
): ChartTableData => ({
  head: ['Time', ...series.map(({ label }) => label)],
  rows: rows.map((row) => [row.time, ...series.map(({ name }) => toCell(row[name], format))]),
});

export const chartHeight = 190;

interface ChartTableData {
  readonly head: readonly string[];
  /** The rows, the oldest first. */
  readonly rows: readonly (readonly string[])[];
}

interface ChartCardProps {
  readonly title: string;
  readonly about: string;
  readonly controls: ReactNode;
  /** Makes the table when it is opened; it does not change after that. */
  toTable(): ChartTableData;
  onHold?(isHeld: boolean): void;
  readonly children: ReactNode;
}

function ChartCard({ title, about, controls, toTable, onHold, children }: ChartCardProps) {
  const [table, setTable] = useState<ChartTableData>();
  const latest = useRef(toTable);
  latest.current = toTable;
  const toggle = useCallback(() => setTable((shown) => (shown === undefined ? latest.current() : undefined)), []);
  return (
    <Paper withBorder p="sm" component="section" aria-label={title} className="chart-card">
      <ChartHead title={title} about={about} controls={controls} isTable={table !== undefined} onToggle={toggle} />
      {table === undefined ? (
        <div
          style={{ minHeight: chartHeight }}
          onPointerEnter={() => onHold?.(true)}
          onPointerLeave={() => onHold?.(false)}
        >
          {children}
        </div>
      ) : (
        <ChartTable title={title} table={table} />
      )}
    </Paper>
  );
}

interface ChartHeadProps extends Pick<ChartCardProps, 'title' | 'about' | 'controls'> {
  readonly isTable: boolean;
  onToggle(): void;
}

/** The title and its buttons; not rendered again while the chart below changes. */
const ChartHead = memo(function ChartHead({ title, about, controls, isTable, onToggle }: ChartHeadProps) {
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start" mb="xs">
      <Box miw={0}>
        <Title order={2} size="h5">
          {title}
        </Title>
        <Remark>{about}</Remark>
      </Box>
      <Group gap={4} wrap="nowrap">
        {controls}
        <Tooltip label={isTable ? 'As a chart' : 'As a table'} withinPortal>
          <IconButton
            icon={isTable ? 'overview' : 'requests'}
            label={`${title}: show as a ${isTable ? 'chart' : 'table'}`}
            onClick={onToggle}
          />
        </Tooltip>
      </Group>
    </Group>
  );
});

function ChartTable({ title, table: { head, rows } }: { readonly title: string; readonly table: ChartTableData }) {
  const [first = 'Time', ...others] = head;
  return (
    <ScrollArea h={chartHeight} viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': `${title}, as a table` }}>
      <Table stickyHeader fz="xs" verticalSpacing={2}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{first}</Table.Th>
            {others.map((name) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.toReversed().map(([time = '', ...values]) => (
            <Table.Tr key={time}>
              <Table.Th scope="row" fw={400}>
                {time}
              </Table.Th>
              {others.map((name, at) => (
                <Table.Td key={name} ta="right" className="numeric">
                  {values[at]}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
