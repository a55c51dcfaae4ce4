/** Shows the last five minutes: figures by the minute; outcomes, errors, durations, cost and tokens in charts by the second. */

import { Group, SimpleGrid } from '@mantine/core';
import { useRef } from 'react';
import type { LiveSample, Series as MinuteSeries } from '../../../../../src/admin/contract.ts';
import type { ChartRow, Series } from '../../charts/chart-geometry.ts';
import { costSeries, latencySeries, resultSeries } from '../../charts/drawing.tsx';
import { TimeChart } from '../../charts/time-chart.tsx';
import { Action } from '../../layout/button.tsx';
import { Muted, Remark } from '../../layout/text.tsx';
import { formatDuration, formatMoney, formatPercent, formatRate } from '../../words/format.ts';
import { FiguresRow } from '../figures-row.tsx';
import { failedShareAt, ratesOf, shareAt, spansOf } from '../series-rows.ts';
import { dollarsOf, type LivePoint, minuteFor, rateAt, resultOf, savings, toPoints } from './live-figures.ts';
import { pauseLive, useLive, useLivePart } from './use-live.ts';

const tokenSeries: readonly Series[] = [
  { name: 'input', label: 'In', color: 'blue.6' },
  { name: 'output', label: 'Out', color: 'teal.6' },
];

/** Series of list requests: items sent to upstreams, and items from the cache. */
const itemSeries: readonly Series[] = [
  { name: 'asked', label: 'Asked for', color: 'blue.6' },
  { name: 'known', label: 'Cached', color: 'teal.6' },
];

const errorSeries: readonly Series[] = [{ name: 'failed', label: 'Failed requests', color: 'red.6' }];

const times = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minutes = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const secondsPerMinute = 60;

interface LiveSelectionProps {
  readonly answer: MinuteSeries | undefined;
  readonly isNarrow: boolean;
}

/** Shows the live view. Minutes without samples are drawn from the stored series, as averages. While paused, nothing changes. */
export function LiveSelection({ answer: newest, isNarrow }: LiveSelectionProps) {
  const isPaused = useLivePart((state) => state.isPaused);
  const held = useRef(newest);
  if (!isPaused) held.current = newest;
  const answer = held.current;
  const { samples } = useLive();
  const points = toPoints(samples);
  const minuteOf = (point: LivePoint): number => minuteFor(point, answer?.times ?? []);
  const past = answer?.total.points;
  const spans = answer === undefined ? [] : spansOf(answer);
  const pastRates = (name: 'succeeded', ms: number) =>
    past === undefined ? [] : ratesOf(past, name, spans, { ms, words: '' });
  const rowsOf = (
    columns: (point: LivePoint) => Readonly<Record<string, number | null>>,
    before: (minute: number) => Readonly<Record<string, number | null>> = () => ({}),
  ): ChartRow[] =>
    points.map((point) => {
      const minute = minuteOf(point);
      const values = minute === -1 ? columns(point) : before(minute);
      return { time: times.format(point.atMs), atMs: point.atMs, ...values };
    });
  const isMixed = points.some((point) => minuteOf(point) !== -1);
  const untilThen = isMixed ? '; by minute where nobody followed' : '';
  const results = resultSeries.map(({ name }) => [name, pastRates(name as 'succeeded', 1_000)] as const);
  return (
    <>
      <FiguresRow answer={answer} isNarrow={isNarrow} />
      <LiveBar since={answer?.times[0]} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        <TimeChart
          title="Rate"
          about={`Requests a second, by result${untilThen}`}
          kind="area"
          series={resultSeries}
          rows={rowsOf(toResults, (minute) =>
            Object.fromEntries(results.map(([name, rates]) => [name, rates[minute] ?? null])),
          )}
          format={formatRate}
        />
        <TimeChart
          title="Errors"
          about="Failed, of the requests that succeeded or failed"
          kind="lines"
          series={errorSeries}
          rows={rowsOf(
            (point) => ({ failed: failedOf(point) }),
            (minute) => ({ failed: past === undefined ? null : failedShareAt(past, minute) }),
          )}
          format={formatPercent}
        />
        <TimeChart
          title="Latency"
          about="Of ten seconds each, estimated from buckets"
          kind="lines"
          series={latencySeries}
          rows={rowsOf(
            ({ samples: own }) => {
              const latency = own?.at(-1)?.latency;
              return { p50: latency?.p50 ?? null, p95: latency?.p95 ?? null, p99: latency?.p99 ?? null };
            },
            (minute) => ({
              p50: past?.p50[minute] ?? null,
              p95: past?.p95[minute] ?? null,
              p99: past?.p99[minute] ?? null,
            }),
          )}
          format={formatDuration}
        />
        <TimeChart
          title="Cost"
          about="A minute, of what has a known price"
          kind="area"
          series={costSeries}
          rows={rowsOf(
            (point) => ({ cost: perMinute(rateAt(point, dollarsOf)) }),
            (minute) => ({
              cost: past === undefined ? null : (past.cost[minute] ?? 0) * (60_000 / (spans[minute] ?? 60_000)),
            }),
          )}
          format={formatMoney}
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

/** Shows whether the live view is live, paused or disconnected, with a button to pause it. */
function LiveBar({ since }: { readonly since: string | undefined }) {
  const isPaused = useLivePart((state) => state.isPaused);
  const words = useLivePart(({ status, isPaused: paused, isBehind }) => {
    if (status === 'lost') return 'Connection lost; trying again';
    if (paused) return 'Paused';
    if (isBehind) return 'The gateway is slow to answer';
    return status === 'live' ? 'Following' : 'Connecting';
  });
  return (
    <Group gap="sm">
      <Remark className="grows">
        {since !== undefined && `Figures above since ${minutes.format(Date.parse(since))}; charts by the second.`}
      </Remark>
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

function failedOf(point: LivePoint): number | null {
  const { failed = null, succeeded } = toResults(point);
  return failed === null ? null : shareAt(failed, failed + (succeeded ?? 0));
}

const perMinute = (rate: number | null): number | null => (rate === null ? null : rate * secondsPerMinute);
