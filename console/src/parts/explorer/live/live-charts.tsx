/** Charts of the last five minutes: outcomes, durations, tokens and cost. */

import { Group, SimpleGrid } from '@mantine/core';
import type { LiveSample } from '../../../../../src/admin/contract.ts';
import type { ChartRow, Series } from '../../charts/chart-geometry.ts';
import { costSeries, latencySeries, resultSeries } from '../../charts/drawing.tsx';
import { TimeChart } from '../../charts/time-chart.tsx';
import { Action } from '../../layout/button.tsx';
import { Muted } from '../../layout/text.tsx';
import { formatDuration, formatMoney, formatPercent, formatRate } from '../../words/format.ts';
import { dollarsOf, type LivePoint, rateAt, resultOf, savings, toPoints } from './live-figures.ts';
import { pauseLive, useLive, useLivePart } from './use-live.ts';

const tokenSeries: readonly Series[] = [
  { name: 'input', label: 'In', color: 'blue.6' },
  { name: 'output', label: 'Out', color: 'teal.6' },
];

/** For lists: items sent to upstreams, and items from the cache. */
const itemSeries: readonly Series[] = [
  { name: 'asked', label: 'Asked for', color: 'blue.6' },
  { name: 'known', label: 'Cached', color: 'teal.6' },
];

const times = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const secondsPerMinute = 60;

export function LiveCharts() {
  const { samples } = useLive();
  const points = toPoints(samples);
  const rowsOf = (columns: (point: LivePoint) => Readonly<Record<string, number | null>>): ChartRow[] =>
    points.map((point) => ({ time: times.format(point.atMs), ...columns(point) }));
  return (
    <>
      <LiveBar />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <TimeChart
          title="Requests"
          about="A second, by result"
          kind="area"
          series={resultSeries}
          rows={rowsOf(toResults)}
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
          about="A second, as billed"
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
          about="A minute, of what has a known price"
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
    </>
  );
}

/** The state of the live view: live, paused or disconnected; and the button to pause it. */
function LiveBar() {
  const isPaused = useLivePart((state) => state.isPaused);
  const words = useLivePart(({ status, isPaused: paused, isBehind }) => {
    if (status === 'lost') return 'Connection lost; trying again';
    if (paused) return 'Paused';
    if (isBehind) return 'The gateway is slow to answer';
    return status === 'live' ? 'Following' : 'Connecting';
  });
  return (
    <Group justify="flex-end">
      <Muted role="status" className="live-words">
        <span className={words === 'Following' ? 'live-dot live-dot-live' : 'live-dot'} aria-hidden="true" />
        {words}
      </Muted>
      <Action
        icon={isPaused ? 'play' : 'pause'}
        label={isPaused ? 'Go on' : 'Pause'}
        size="xs"
        w={104}
        onClick={() => pauseLive(!isPaused)}
      />
    </Group>
  );
}

function aboutItems(samples: readonly LiveSample[]): string {
  const saved = savings(samples);
  if (saved === undefined) return 'A second; none was cached in the last minute';
  const { share, dollars } = saved;
  return `A second; ${formatPercent(share)} of the last minute's were cached, which saved ${formatMoney(dollars)}`;
}

const toResults = (point: LivePoint): Readonly<Record<string, number | null>> =>
  Object.fromEntries(resultSeries.map(({ name }) => [name, rateAt(point, (sample) => resultOf(sample, name))]));

const perMinute = (rate: number | null): number | null => (rate === null ? null : rate * secondsPerMinute);
