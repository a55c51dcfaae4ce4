/** How a budget is spent within its period: what was spent, an even pace, and where this pace leads. */

import { Stack, Text } from '@mantine/core';
import type { BudgetPeriod, BurnDown as BurnDownFacts } from '../../../../src/admin/contract.ts';
import { LineChart } from '../../parts/charts/charts.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { formatDay, formatHour, formatMoney } from '../../parts/words/format.ts';
import { type Spender, useBurnDown } from './data.ts';

const height = 220;

interface BurnDownProps {
  readonly spender: Spender;
  readonly period: BudgetPeriod;
}

export function BurnDown({ spender, period }: BurnDownProps) {
  const { data, error, refetch } = useBurnDown(spender, period);
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={1} rowHeight={height + 24} />;
  const words = inWords(data);
  return (
    <Stack gap={6}>
      <LineChart
        height={height}
        label={words}
        data={toRows(data)}
        dataKey="ms"
        series={[
          { name: 'spent', label: 'Spent', color: 'teal.6' },
          { name: 'ahead', label: 'At this pace', color: 'teal.6', strokeDasharray: '2 4' },
          { name: 'pace', label: 'Even pace', color: 'gray.6', strokeDasharray: '6 4' },
          { name: 'budget', label: 'Budget', color: 'red.6' },
        ]}
        curveType="linear"
        withDots={false}
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        strokeWidth={2}
        connectNulls
        valueFormatter={formatMoney}
        xAxisProps={{
          type: 'number',
          domain: ['dataMin', 'dataMax'],
          minTickGap: 40,
          tickFormatter: (ms: number) => labelOf(data, ms),
        }}
        tooltipProps={{ labelFormatter: (ms: unknown) => labelOf(data, Number(ms)) }}
        yAxisProps={{ width: 56 }}
      />
      <Text size="xs" c="dimmed">
        {words}
      </Text>
    </Stack>
  );
}

function inWords({ budget, projected }: BurnDownFacts): string {
  const spent = `${formatMoney(budget.spent)} of ${formatMoney(budget.amount)} is spent.`;
  if (Number(budget.left) === 0) return `${spent} Nothing is left.`;
  if (projected.runsOutAt !== null) return `${spent} At this pace it runs out on ${formatDay(projected.runsOutAt)}.`;
  if (projected.atEnd === null) return `${spent} At this pace it lasts for long.`;
  return `${spent} At this pace it comes to ${formatMoney(projected.atEnd)} by the end.`;
}

/** The chart asks for a label also where its pointer is over nothing. */
function labelOf({ step }: BurnDownFacts, ms: number): string {
  if (!Number.isFinite(ms)) return '';
  return step === 'hour' ? formatHour(ms) : toShortDay(ms);
}

interface Row {
  readonly ms: number;
  readonly spent?: number;
  readonly ahead?: number;
  readonly pace?: number;
  readonly budget: number;
  // What charts want of a row.
  readonly [name: string]: number | undefined;
}

const stepsMs = { hour: 3_600_000, day: 86_400_000 } as const;

function toRows({ budget, step, points, projected }: BurnDownFacts): Row[] {
  const amount = Number(budget.amount);
  const startMs = budget.startsAt === null ? undefined : Date.parse(budget.startsAt);
  const endMs = budget.endsAt === null ? undefined : Date.parse(budget.endsAt);
  const paceAt = (ms: number): { pace?: number } =>
    startMs === undefined || endMs === undefined ? {} : { pace: (amount * (ms - startMs)) / (endMs - startMs) };
  const past = points.map(({ at, spent }) => {
    const ms = Date.parse(at);
    return { ms, spent: Number(spent), ...paceAt(ms), budget: amount };
  });
  const now = points.at(-1);
  if (endMs === undefined || now === undefined || projected.atEnd === null) return past;

  const nowMs = Date.parse(now.at);
  const atEnd = Number(projected.atEnd);
  const aheadAt = (ms: number): number =>
    Number(now.spent) + ((atEnd - Number(now.spent)) * (ms - nowMs)) / Math.max(1, endMs - nowMs);
  const future: Row[] = [];
  const stepMs = stepsMs[step];
  for (let ms = Math.ceil((nowMs + 1) / stepMs) * stepMs; ms <= endMs; ms += stepMs) {
    future.push({ ms, ahead: aheadAt(ms), ...paceAt(ms), budget: amount });
  }
  // The two lines meet now.
  const [last, ...before] = past.toReversed();
  const joint = last === undefined ? [] : [{ ...last, ahead: last.spent }];
  return [...before.toReversed(), ...joint, ...future];
}

const shortDays = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const toShortDay = (ms: number): string => shortDays.format(new Date(ms));
