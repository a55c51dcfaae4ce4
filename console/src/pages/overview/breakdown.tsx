/** Who makes up the whole: by operation, model, key, project or upstream, each a way to its requests. */

import { Box, Group, NativeSelect, Paper, Skeleton, Stack, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { Overview, OverviewSums } from '../../../../src/admin/contract.ts';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { formatCompact, formatMoney, formatPercent } from '../../parts/words/format.ts';
import {
  type Grouping,
  groupings,
  groupingWords,
  type Order,
  orders,
  orderWords,
  type Range,
  rangeOf,
  rangeWords,
  type Sight,
} from './range.ts';

interface BreakdownProps {
  readonly sight: Sight;
  readonly overview: Overview | undefined;
  onChange(more: Partial<Pick<Sight, 'by' | 'order'>>): void;
}

const placeholders = ['first', 'second', 'third', 'fourth', 'fifth'];

export function Breakdown({ sight, overview, onChange }: BreakdownProps) {
  const { by, order, view } = sight;
  const range = rangeOf(view);
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="breakdown" className="breakdown">
      <Group justify="space-between" mb="xs" gap="xs">
        <Box>
          <Title order={2} size="h5" id="breakdown">
            Where it comes from
          </Title>
          <Remark>In {rangeWords[range]}, from the ledger</Remark>
        </Box>
        <Group gap="xs" wrap="nowrap">
          <NativeSelect
            size="xs"
            aria-label="By"
            value={by}
            data={groupings.map((value) => ({ value, label: `By ${groupingWords[value].toLowerCase()}` }))}
            onChange={({ currentTarget }) => onChange({ by: currentTarget.value as Grouping })}
          />
          <NativeSelect
            size="xs"
            aria-label="Measure"
            value={order}
            data={orders.map((value) => ({ value, label: orderWords[value] }))}
            onChange={({ currentTarget }) => onChange({ order: currentTarget.value as Order })}
          />
        </Group>
      </Group>
      {overview === undefined ? (
        <Stack gap="xs">
          {placeholders.map((key) => (
            <Skeleton key={key} height={38} />
          ))}
        </Stack>
      ) : (
        <Lines by={by} order={order} range={range} overview={overview} />
      )}
    </Paper>
  );
}

interface LinesProps {
  readonly by: Grouping;
  readonly order: Order;
  readonly range: Range;
  readonly overview: Overview;
}

function Lines({ by, order, range, overview: { top, others, total } }: LinesProps) {
  if (top.length === 0) {
    return (
      <Muted py="xl" ta="center">
        No requests in {rangeWords[range]}.
      </Muted>
    );
  }
  const whole = amountOf(total, order);
  return (
    <ol className="bars">
      {top.map((line) => (
        <li key={line.id ?? ''}>
          <Bar
            name={line.id ?? `No ${groupingWords[by].toLowerCase()}`}
            amount={toWords(line, order)}
            share={whole === 0 ? 0 : amountOf(line, order) / whole}
            errors={line.requests === 0 ? 0 : line.errors / line.requests}
            {...(line.id === null ? {} : { href: `/requests?${new URLSearchParams({ range, [by]: line.id })}` })}
          />
        </li>
      ))}
      {others !== null && (
        <li>
          <Bar
            name={`${others.count} others`}
            amount={toWords(others, order)}
            share={whole === 0 ? 0 : amountOf(others, order) / whole}
            errors={others.requests === 0 ? 0 : others.errors / others.requests}
          />
        </li>
      )}
    </ol>
  );
}

interface BarProps {
  readonly name: string;
  readonly amount: string;
  /** Of the whole. */
  readonly share: number;
  /** Of its own requests. */
  readonly errors: number;
  readonly href?: string;
}

function Bar({ name, amount, share, errors, href }: BarProps) {
  const inside = (
    <>
      <span className="bar-name">{name}</span>
      <span className="bar-amount">
        {amount}
        <span className="bar-share"> {formatPercent(share)}</span>
      </span>
      <span className="bar-track" aria-hidden="true">
        <span className="bar-fill" style={{ width: `${Math.min(1, Math.max(0, share)) * 100}%` }} />
      </span>
      <span className="bar-errors">{errors > 0 ? `${formatPercent(errors)} failed` : ''}</span>
    </>
  );
  if (href === undefined) return <div className="bar">{inside}</div>;
  return (
    <Link href={href} className="bar bar-link" title={`Show the requests of ${name}`}>
      {inside}
    </Link>
  );
}

const amountOf = (sums: OverviewSums, order: Order): number => (order === 'cost' ? Number(sums.cost) : sums[order]);

const toWords = (sums: OverviewSums, order: Order): string =>
  order === 'cost' ? formatMoney(sums.cost) : formatCompact(sums[order]);
