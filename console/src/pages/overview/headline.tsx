/** The row of numbers at the top: just now in the live view, of the whole stretch in the others. */

import { Paper, SimpleGrid, Skeleton } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import type { LiveSample, Overview } from '../../../../src/admin/contract.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { formatCompact, formatCount, formatDuration, formatMoney, formatPercent } from '../../parts/words/format.ts';
import {
  badOf,
  errorShare,
  formatRate,
  type LivePoint,
  rateAt,
  rateNow,
  requestsOf,
  tokensOf,
  toPoints,
} from './live-figures.ts';
import { useLive } from './use-live.ts';

interface TileProps {
  readonly label: string;
  /** Undefined while it is not known yet. */
  readonly value: string | undefined;
  readonly note: ReactNode;
  readonly values: readonly (number | null)[];
  readonly tone?: 'accent' | 'bad';
}

const Tile = memo(function Tile({ label, value, note, values, tone = 'accent' }: TileProps) {
  return (
    <Paper withBorder p="sm" className="tile">
      <div className="tile-label">{label}</div>
      {value === undefined ? (
        <Skeleton height={28} width={90} my={3} />
      ) : (
        <div className="tile-value numeric">{value}</div>
      )}
      <div className="tile-note">{note}</div>
      <Sparkline values={values} tone={tone} />
    </Paper>
  );
});

const row = { base: 2, sm: 3, lg: 5 } as const;
const none = '–';

export function LiveHeadline({ today }: { readonly today: Overview['today'] | undefined }) {
  const { samples, status } = useLive();
  const points = toPoints(samples);
  const last = samples.at(-1);
  const isWaiting = last === undefined && status !== 'lost';
  const share = errorShare(samples);
  return (
    <SimpleGrid cols={row} spacing="sm">
      <Tile
        label="Requests a second"
        value={isWaiting ? undefined : orNone(rateNow(samples, requestsOf), formatRate)}
        note={last === undefined ? none : `${formatCount(last.inFlight)} in flight`}
        values={seriesOf(points, requestsOf)}
      />
      <Tile
        label="Errors"
        value={isWaiting ? undefined : orNone(share, formatPercent)}
        note={share === undefined ? 'None in the last minute' : 'Of the last minute'}
        values={seriesOf(points, badOf)}
        tone="bad"
      />
      <Tile
        label="95 % within"
        value={isWaiting ? undefined : orNone(last?.latency?.p95, formatDuration)}
        note={last?.latency ? `Half within ${formatDuration(last.latency.p50)}` : 'Nothing ended lately'}
        values={points.map(({ samples: own }) => own?.at(-1)?.latency?.p95 ?? null)}
      />
      <Tile
        label="Tokens a second"
        value={isWaiting ? undefined : orNone(rateNow(samples, tokensOf), formatRate)}
        note={tokensNote(samples)}
        values={seriesOf(points, tokensOf)}
      />
      <CostToday today={today} />
    </SimpleGrid>
  );
}

const CostToday = ({ today }: { readonly today: Overview['today'] | undefined }) => (
  <Tile
    label="Cost today"
    value={today === undefined ? undefined : formatMoney(today.total.cost)}
    note={today === undefined ? none : costNote(today)}
    values={today?.hours.map(({ cost }) => Number(cost)) ?? []}
  />
);

function costNote({ total }: Overview['today']): string {
  if (total.unpriced > 0) return `Without ${formatCompact(total.unpriced)} of unknown price`;
  return `${formatCompact(total.requests)} requests, UTC day`;
}

function tokensNote(samples: readonly LiveSample[]): string {
  const into = rateNow(samples, ({ inputTokens }) => inputTokens);
  const out = rateNow(samples, ({ outputTokens }) => outputTokens);
  return into === undefined || out === undefined ? none : `${formatRate(into)} in, ${formatRate(out)} out`;
}

const seriesOf = (points: readonly LivePoint[], pick: (sample: LiveSample) => number): (number | null)[] =>
  points.map((point) => rateAt(point, pick));

const orNone = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? none : format(value);

interface RangeHeadlineProps {
  /** Undefined until it is there. */
  readonly overview: Overview | undefined;
}

export function RangeHeadline({ overview }: RangeHeadlineProps) {
  const { total, latency, comparison, today } = overview ?? {};
  const buckets = overview?.buckets ?? [];
  return (
    <SimpleGrid cols={row} spacing="sm">
      <Tile
        label="Requests"
        value={total && formatCompact(total.requests)}
        note={<Change now={comparison?.now.requests} before={comparison?.before.requests} />}
        values={buckets.map(({ requests }) => requests)}
      />
      <Tile
        label="Errors"
        value={total && (total.requests === 0 ? none : formatPercent(total.errors / total.requests))}
        note={total === undefined ? none : `${formatCompact(total.errors)} in all`}
        values={buckets.map(({ errors }) => errors)}
        tone="bad"
      />
      <Tile
        label={latency && !latency.isAll ? `95 % of the newest ${formatCompact(latency.rows)} within` : '95 % within'}
        value={overview && (latency ? formatDuration(latency.duration.p95) : none)}
        note={latency ? ofRows(latency) : 'No requests'}
        values={buckets.map(({ meanMs }) => meanMs)}
      />
      <Tile
        label="Tokens"
        value={total && formatCompact(total.inputTokens + total.outputTokens)}
        note={
          total === undefined
            ? none
            : `${formatCompact(total.inputTokens)} in, ${formatCompact(total.outputTokens)} out`
        }
        values={buckets.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens)}
      />
      <Tile
        label="Cost"
        value={total && formatMoney(total.cost)}
        note={today === undefined ? none : `${formatMoney(today.total.cost)} today`}
        values={buckets.map(({ cost }) => Number(cost))}
      />
    </SimpleGrid>
  );
}

const ofRows = ({ rows, isAll }: NonNullable<Overview['latency']>): string =>
  isAll ? `Of ${formatCompact(rows)} requests` : 'Not of the whole time; the line is its mean';

/** Whole hours beside the same hours before: what is running is in neither. */
function Change({ now, before }: { readonly now: number | undefined; readonly before: number | undefined }) {
  if (now === undefined || before === undefined) return none;
  if (before === 0) return now === 0 ? 'As before: none' : 'None in the time before';
  const share = now / before - 1;
  if (Math.abs(share) < 0.005) return 'As in the time before';
  return `${formatPercent(Math.abs(share))} ${share > 0 ? 'more' : 'fewer'} than before`;
}
