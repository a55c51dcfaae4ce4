/** Shows recent usage and the state of budgets, for a key or a project. */

import { Group, Progress, Stack, Text } from '@mantine/core';
import type { BudgetPeriod, BudgetState, BurnDown as BurnDownFacts } from '../../../../src/admin/contract.ts';
import '../../parts/charts/charts.css';
import type { ChartRow, Series } from '../../parts/charts/chart-geometry.ts';
import { Drawing } from '../../parts/charts/drawing.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Heading, Remark } from '../../parts/layout/text.tsx';
import { periodWords } from '../../parts/words/caps.ts';
import { formatCount, formatDay, formatHour, formatMoney } from '../../parts/words/format.ts';
import { Count, Money, When } from '../../parts/words/numbers.tsx';
import { type Spender, useBurnDown, useSpend } from './data.ts';

const days = 30;

export function UsageFacts({ spender }: { readonly spender: Spender }) {
  const { data, error, refetch } = useSpend(spender, days);
  return (
    <Stack gap="xs" component="section">
      <Heading>Last {days} days</Heading>
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={1} rowHeight={72} />}
      {data !== undefined && (
        <>
          <Group gap="xl">
            <Figure title="Requests">
              <Count value={data.total.requests} />
            </Figure>
            <Figure title="Tokens">
              <Count value={data.total.inputTokens + data.total.outputTokens} compact />
            </Figure>
            <Figure title="Cost">
              <Money dollars={data.total.cost} />
            </Figure>
          </Group>
          <Trend
            values={data.days.map(({ requests }) => requests)}
            label={`Requests on each of the last ${days} days`}
            width={440}
            height={40}
          />
          {data.total.unpriced > 0 && (
            <Remark>The cost of {formatCount(data.total.unpriced)} requests is not known, and not in the sum.</Remark>
          )}
        </>
      )}
    </Stack>
  );
}

const Figure = ({ title, children }: { readonly title: string; readonly children: React.ReactNode }) => (
  <div>
    <Remark>{title}</Remark>
    <Text fw={600}>{children}</Text>
  </div>
);

interface BudgetFactsProps {
  readonly spender: Spender;
  readonly budgets: readonly BudgetState[];
}

export function BudgetFacts({ spender, budgets }: BudgetFactsProps) {
  if (budgets.length === 0) return null;
  return (
    <Stack gap="md" component="section">
      <Heading>Budgets</Heading>
      {budgets.map((budget) => (
        <Stack key={budget.every} gap="xs">
          <BudgetBar budget={budget} wide />
          <BurnDown spender={spender} period={budget.every} />
        </Stack>
      ))}
    </Stack>
  );
}

interface BudgetBarProps {
  readonly budget: BudgetState;
  /** Whether to show also what gateways have drawn, and when the period restarts. */
  readonly wide?: boolean;
}

const nearShare = 0.8;

export function BudgetBar({ budget, wide = false }: BudgetBarProps) {
  const { every, amount, spent, outstanding, endsAt } = budget;
  const share = Number(spent) / Number(amount);
  const held = Number(outstanding) / Number(amount);
  // Gateways may still spend what they have drawn, so it is not subtracted.
  const left = Math.max(0, Number(amount) - Number(spent));
  const isOver = left === 0;
  const words = `${formatMoney(spent)} of ${formatMoney(amount)} ${periodWords[every]}`;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap={6}>
        <Text size={wide ? 'sm' : 'xs'} className="numeric">
          {words}
        </Text>
        {isOver && (
          <Text size="xs" fw={600} className="tone-bad">
            Spent
          </Text>
        )}
      </Group>
      <Progress.Root size={wide ? 'md' : 'sm'}>
        <Progress.Section value={toPercent(share)} color={colorOf(share, isOver)} aria-label={words} />
        {wide && <Progress.Section value={toPercent(Math.min(held, 1 - share))} color="gray.5" aria-label="Held" />}
      </Progress.Root>
      {wide && (
        <Group justify="space-between" gap={6}>
          <Remark>
            {formatMoney(left)} left
            {held > 0 && `, ${formatMoney(outstanding)} of it held by gateways for their requests`}
          </Remark>
          {endsAt !== null && (
            <Remark>
              Resets <When at={endsAt} />
            </Remark>
          )}
        </Group>
      )}
    </Stack>
  );
}

const toPercent = (share: number): number => Math.max(0, Math.min(100, share * 100));

function colorOf(share: number, isOver: boolean): string {
  if (isOver) return 'red';
  return share >= nearShare ? 'yellow' : 'teal';
}

const height = 220;

const burnDownSeries: readonly Series[] = [
  { name: 'spent', label: 'Spent', color: 'teal.6' },
  { name: 'ahead', label: 'At this pace', color: 'teal.6', isDashed: true },
  { name: 'pace', label: 'Even pace', color: 'gray.6', isDashed: true },
  { name: 'budget', label: 'Budget', color: 'red.6' },
];

/** Draws spending within the budget's period: actual, at an even pace, and the forecast. */
function BurnDown({ spender, period }: { readonly spender: Spender; readonly period: BudgetPeriod }) {
  const { data, error, refetch } = useBurnDown(spender, period);
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={1} rowHeight={height + 24} />;
  const words = inWords(data);
  return (
    <Stack gap={6}>
      <Drawing
        kind="lines"
        label={words}
        height={height}
        series={burnDownSeries}
        rows={toRows(data)}
        format={formatMoney}
      />
      <Remark>{words}</Remark>
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

const stepsMs = { hour: 3_600_000, day: 86_400_000 } as const;

function toRows({ budget, step, points, projected }: BurnDownFacts): ChartRow[] {
  const amount = Number(budget.amount);
  const startMs = budget.startsAt === null ? undefined : Date.parse(budget.startsAt);
  const endMs = budget.endsAt === null ? undefined : Date.parse(budget.endsAt);
  const rowAt = (ms: number, values: Readonly<Record<string, number>>): ChartRow => ({
    time: step === 'hour' ? formatHour(ms) : toShortDay(ms),
    ...(startMs !== undefined && endMs !== undefined && { pace: (amount * (ms - startMs)) / (endMs - startMs) }),
    budget: amount,
    ...values,
  });
  const now = points.at(-1);
  const isForecast = endMs !== undefined && now !== undefined && projected.atEnd !== null;
  const past = points.map(({ at, spent }) =>
    // Actual and forecast meet at the present time.
    rowAt(Date.parse(at), { spent: Number(spent), ...(isForecast && at === now.at && { ahead: Number(spent) }) }),
  );
  if (!isForecast) return past;
  const nowMs = Date.parse(now.at);
  const perMs = (Number(projected.atEnd) - Number(now.spent)) / Math.max(1, endMs - nowMs);
  const stepMs = stepsMs[step];
  for (let ms = Math.ceil((nowMs + 1) / stepMs) * stepMs; ms <= endMs; ms += stepMs) {
    past.push(rowAt(ms, { ahead: Number(now.spent) + perMs * (ms - nowMs) }));
  }
  return past;
}

const shortDays = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const toShortDay = (ms: number): string => shortDays.format(new Date(ms));

interface TrendProps {
  readonly values: readonly number[];
  /** The label for screen readers. */
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
}

/** Draws the values of a few days as a small trend line, as high as text. */
export function Trend({ values, label, width = 96, height = 24 }: TrendProps) {
  const most = Math.max(1, ...values);
  const step = values.length < 2 ? 0 : (width - 2) / (values.length - 1);
  const points = values.map((value, index) => `${1 + index * step},${height - 2 - (value / most) * (height - 4)}`);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className="trend"
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.6}
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
