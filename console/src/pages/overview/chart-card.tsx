/** The frame of a chart: its name, what it is of, and the same as a table for those who would rather read. */

import { ActionIcon, Box, Group, Paper, ScrollArea, Table, Text, Title, Tooltip } from '@mantine/core';
import { memo, type ReactNode, useCallback, useRef, useState } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';

export const chartHeight = 190;

export interface ChartTableData {
  readonly head: readonly string[];
  /** The oldest first. */
  readonly rows: readonly (readonly string[])[];
}

interface ChartCardProps {
  readonly title: string;
  readonly about: string;
  /** Made when it is asked for; the table then stands still. */
  toTable(): ChartTableData;
  /** The pointer is on it, or no more. */
  onHold?(isHeld: boolean): void;
  readonly children: ReactNode;
}

export function ChartCard({ title, about, toTable, onHold, children }: ChartCardProps) {
  const [table, setTable] = useState<ChartTableData>();
  const latest = useRef(toTable);
  latest.current = toTable;
  const toggle = useCallback(() => setTable((shown) => (shown === undefined ? latest.current() : undefined)), []);
  return (
    <Paper withBorder p="sm" component="section" aria-label={title} className="chart-card">
      <ChartHead title={title} about={about} isTable={table !== undefined} onToggle={toggle} />
      {table === undefined ? (
        <div
          style={{ height: chartHeight }}
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

interface ChartHeadProps extends Pick<ChartCardProps, 'title' | 'about'> {
  readonly isTable: boolean;
  onToggle(): void;
}

/** The same while the chart below it moves. */
const ChartHead = memo(function ChartHead({ title, about, isTable, onToggle }: ChartHeadProps) {
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start" mb="xs">
      <Box miw={0}>
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="xs" c="dimmed">
          {about}
        </Text>
      </Box>
      <Tooltip label={isTable ? 'As a chart' : 'As a table'} withinPortal>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`${title}: show as a ${isTable ? 'chart' : 'table'}`}
          onClick={onToggle}
        >
          <Icon name={isTable ? 'overview' : 'requests'} size={16} />
        </ActionIcon>
      </Tooltip>
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
