/** The last five minutes, drawn: who was answered how, how long it took, tokens and cost. */

import { SimpleGrid } from '@mantine/core';
import type { LiveSample, Overview } from '../../../../src/admin/contract.ts';
import { formatCompact, formatDuration, formatMoney, formatPercent } from '../../parts/words/format.ts';
import {
  type ChartRow,
  costSeries,
  itemSeries,
  latencySeries,
  meanSeries,
  outcomeSeries,
  tokenSeries,
} from './drawing.tsx';
import { dollarsOf, formatRate, type LivePoint, outcomes, rateAt, savings, toPoints } from './live-figures.ts';
import { type Range, toBucketWords } from './range.ts';
import { TimeChart } from './time-chart.tsx';
import { useLive } from './use-live.ts';

const times = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const secondsPerMinute = 60;

export function LiveCharts() {
  const { samples } = useLive();
  const points = toPoints(samples);
  const rowsOf = (columns: (point: LivePoint) => Readonly<Record<string, number | null>>): ChartRow[] =>
    points.map((point) => ({ time: times.format(point.atMs), ...columns(point) }));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      <TimeChart
        title="Requests"
        about="Per second, by what came of them"
        kind="area"
        series={outcomeSeries}
        rows={rowsOf(toOutcomes)}
        format={formatRate}
      />
      <TimeChart
        title="Latency"
        about="Of ten seconds each, estimated from buckets"
        kind="lines"
        series={latencySeries}
        rows={rowsOf(({ samples: own }) => {
          const latency = own?.at(-1)?.latency;
          return { p50: latency?.p50 ?? null, p95: latency?.p95 ?? null, p99: latency?.p99 ?? null };
        })}
        format={formatDuration}
      />
      <TimeChart
        title="Tokens"
        about="Per second, as billed"
        kind="area"
        series={tokenSeries}
        rows={rowsOf((point) => ({
          input: rateAt(point, ({ inputTokens }) => inputTokens),
          output: rateAt(point, ({ outputTokens }) => outputTokens),
        }))}
        format={formatRate}
      />
      <TimeChart
        title="Cost"
        about="Per minute, of what has a known price"
        kind="area"
        series={costSeries}
        rows={rowsOf((point) => ({ cost: perMinute(rateAt(point, dollarsOf)) }))}
        format={formatMoney}
      />
      {samples.some(({ savedItems }) => savedItems > 0) && (
        <TimeChart
          title="Items of lists"
          about={aboutItems(samples)}
          kind="area"
          series={itemSeries}
          rows={rowsOf((point) => ({
            asked: rateAt(point, ({ items }) => items),
            known: rateAt(point, ({ savedItems }) => savedItems),
          }))}
          format={formatRate}
        />
      )}
    </SimpleGrid>
  );
}

function aboutItems(samples: readonly LiveSample[]): string {
  const saved = savings(samples);
  if (saved === undefined) return 'Per second; none was remembered in the last minute';
  const { share, dollars } = saved;
  return `Per second; ${formatPercent(share)} of the last minute's were remembered, which saved ${formatMoney(dollars)}`;
}

const toOutcomes = (point: LivePoint): Readonly<Record<string, number | null>> =>
  Object.fromEntries(outcomes.map((one) => [one, rateAt(point, ({ byOutcome }) => byOutcome[one] ?? 0)]));

const perMinute = (rate: number | null): number | null => (rate === null ? null : rate * secondsPerMinute);

type Bucket = Overview['buckets'][number];

interface RangeChartsProps {
  readonly range: Range;
  /** Undefined until it is there. */
  readonly overview: Overview | undefined;
}

/** A longer stretch, drawn from the sums of the ledger. */
export function RangeCharts({ range, overview }: RangeChartsProps) {
  const bucket = overview?.bucket ?? 'hour';
  const each = bucket === 'day' ? 'Per day, in UTC' : `Per ${bucket}`;
  const rowsOf = (columns: (one: Bucket) => Readonly<Record<string, number | null>>): ChartRow[] =>
    (overview?.buckets ?? []).map((one) => ({ time: toBucketWords(one.at, { bucket, range }), ...columns(one) }));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      <TimeChart
        title="Requests"
        about={`${each}, by what came of them`}
        kind="bars"
        series={outcomeSeries}
        rows={rowsOf(({ byOutcome }) => Object.fromEntries(outcomes.map((one) => [one, byOutcome[one] ?? 0])))}
        format={formatCompact}
      />
      <TimeChart
        title="Latency"
        about="How long a request took on average"
        kind="lines"
        series={meanSeries}
        rows={rowsOf(({ meanMs }) => ({ mean: meanMs }))}
        format={formatDuration}
      />
      <TimeChart
        title="Tokens"
        about={`${each}, as billed`}
        kind="bars"
        series={tokenSeries}
        rows={rowsOf(({ inputTokens, outputTokens }) => ({ input: inputTokens, output: outputTokens }))}
        format={formatCompact}
      />
      <TimeChart
        title="Cost"
        about={`${each}, of what has a known price`}
        kind="bars"
        series={costSeries}
        rows={rowsOf(({ cost }) => ({ cost: Number(cost) }))}
        format={formatMoney}
      />
    </SimpleGrid>
  );
}
