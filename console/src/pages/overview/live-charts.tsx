/** The last five minutes, drawn: who was answered how, how long it took, tokens and cost. */

import { SimpleGrid } from '@mantine/core';
import type { LiveSample } from '../../../../src/admin/contract.ts';
import { formatDuration, formatMoney, formatPercent } from '../../parts/words/format.ts';
import { dollarsOf, type LivePoint, outcomes, rateAt, savings, toPoints } from './live-figures.ts';
import { formatRate } from './rate.ts';
import { type ChartRow, costSeries, itemSeries, latencySeries, outcomeSeries, tokenSeries } from './series.ts';
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

function toOutcomes(point: LivePoint): Readonly<Record<string, number | null>> {
  return Object.fromEntries(outcomes.map((one) => [one, rateAt(point, ({ byOutcome }) => byOutcome[one] ?? 0)]));
}

const perMinute = (rate: number | null): number | null => (rate === null ? null : rate * secondsPerMinute);
