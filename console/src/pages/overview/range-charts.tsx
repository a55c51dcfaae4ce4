/** A longer stretch, drawn from the sums of the ledger. */

import { SimpleGrid } from '@mantine/core';
import type { Overview } from '../../../../src/admin/contract.ts';
import { formatCompact, formatDuration, formatMoney } from '../../parts/words/format.ts';
import { outcomes } from './live-figures.ts';
import { type Range, toBucketWords } from './range.ts';
import { type ChartRow, costSeries, meanSeries, outcomeSeries, tokenSeries } from './series.ts';
import { TimeChart } from './time-chart.tsx';

type Bucket = Overview['buckets'][number];

interface RangeChartsProps {
  readonly range: Range;
  /** Undefined until it is there. */
  readonly overview: Overview | undefined;
}

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
