/** Shows the Explorer page: what happened in a time range, why, at which cost, and each request. */

import './explorer.css';
import { Group, NativeSelect, Stack, Tabs } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { seriesDimensions } from '../../../../src/admin/contract.ts';
import { Action } from '../layout/button.tsx';
import { useAddress } from '../layout/filters.tsx';
import { PageHead, TabRow } from '../layout/page-head.tsx';
import { Failed, Loading, Notice } from '../layout/state.tsx';
import { formatTime } from '../words/format.ts';
import { dimensionWords } from '../words/labels.ts';
import { Causes, SplitTable } from './causes.tsx';
import { FiguresRow } from './figures-row.tsx';
import { FilterBar } from './filter-bar.tsx';
import {
  chartsLack,
  type Filters,
  fieldWords,
  isNarrowed,
  ranges,
  readFilters,
  spanOf,
  toParameters,
} from './filters.ts';
import { type Names, useNames } from './ledger-data.ts';
import { LiveSelection } from './live/live-charts.tsx';
import { Rows } from './rows.tsx';
import { SeriesCharts } from './series-charts.tsx';
import { useSeries } from './series-data.ts';
import { toNamedLines, zoneWords } from './series-rows.ts';
import {
  type Comparison,
  comparisons,
  comparisonWords,
  type Dimension,
  readSight,
  type Sight,
  sightParameters,
  views,
} from './sight.ts';

const CostTab = lazy(() => import('./cost-tab.tsx'));

const tabs = [
  { value: 'charts', title: 'Traffic' },
  { value: 'cost', title: 'Cost' },
] as const;

export default function Explorer() {
  const [query, change] = useAddress();
  const filters = useMemo(() => readFilters(query), [query]);
  const sight = useMemo(() => readSight(query), [query]);
  const names = useNames();
  const narrow = (next: Filters): void => change(toParameters(next));
  const span = filters.range === undefined ? spanWords(filters) : ranges[filters.range].words;
  return (
    <>
      <PageHead title="Explorer" about={`Requests of ${span}. Times are in ${zoneWords()}.`} />
      <Tabs
        value={sight.view}
        onChange={(next) => change(sightParameters.view(views.find((one) => one === next) ?? 'charts'))}
        keepMounted={false}
      >
        <TabRow tabs={tabs} selected={sight.view} />
        <Stack gap="sm">
          <FilterBar
            filters={filters}
            onChange={narrow}
            names={names}
            isOfSums={sight.view === 'cost'}
            actions={<SightBar filters={filters} sight={sight} onChange={change} onNarrow={narrow} />}
          />
          <Tabs.Panel value="charts">
            <Traffic filters={filters} sight={sight} names={names} />
          </Tabs.Panel>
          <Tabs.Panel value="cost">
            <Suspense fallback={<Loading rows={8} />}>
              <CostTab filters={filters} sight={sight} names={names} onNarrow={narrow} />
            </Suspense>
          </Tabs.Panel>
        </Stack>
      </Tabs>
    </>
  );
}

function spanWords(filters: Filters): string {
  const { fromMs, toMs } = spanOf(filters, Date.now());
  return `${formatTime(fromMs)} to ${filters.to === undefined ? 'now' : formatTime(toMs)}`;
}

interface SightBarProps {
  readonly filters: Filters;
  readonly sight: Sight;
  onChange(parameters: Readonly<Record<string, string | undefined>>): void;
  onNarrow(filters: Filters): void;
}

function SightBar({ filters, sight, onChange, onNarrow }: SightBarProps) {
  const [first, second] = sight.by;
  const choices = (any: string, without: Dimension | undefined) => [
    { value: '', label: any },
    ...seriesDimensions
      .filter((one) => one !== without)
      .map((value) => ({ value, label: `By ${dimensionWords[value].toLowerCase()}` })),
  ];
  const split = (by: readonly (string | undefined)[]): void =>
    onChange(sightParameters.by(seriesDimensions.filter((one) => by.includes(one))));
  return (
    <Group gap="xs">
      {filters.range === undefined && (
        <Action icon="minus" label="Zoom out" onClick={() => onNarrow(zoomedOut(filters))} />
      )}
      <NativeSelect
        aria-label="Split"
        value={first ?? ''}
        data={choices('Not split', second)}
        onChange={({ currentTarget }) => split([currentTarget.value, second])}
      />
      {first !== undefined && (
        <NativeSelect
          aria-label="Split further"
          value={second ?? ''}
          data={choices('No further', first)}
          onChange={({ currentTarget }) => split([first, currentTarget.value])}
        />
      )}
      <NativeSelect
        aria-label="Compare with"
        value={sight.compare}
        data={comparisons.map((value) => ({ value, label: `Against ${comparisonWords[value]}` }))}
        onChange={({ currentTarget }) => onChange(sightParameters.compare(currentTarget.value as Comparison))}
      />
    </Group>
  );
}

/** The filters for a time range twice as long around the same middle, at most up to now. */
function zoomedOut(filters: Filters): Filters {
  const nowMs = Date.now();
  const { fromMs, toMs } = spanOf(filters, nowMs);
  const half = (toMs - fromMs) / 2;
  const to = Math.min(nowMs, toMs + half);
  return { ...filters, from: new Date(fromMs - half).toISOString(), to: new Date(to).toISOString() };
}

interface TrafficProps {
  readonly filters: Filters;
  readonly sight: Sight;
  readonly names: Names;
}

/** Shows the selected requests as figures, charts and causes, with their rows below. */
function Traffic({ filters, sight, names }: TrafficProps) {
  const [, change] = useAddress();
  const narrow = (next: Filters): void => change(toParameters(next));
  return (
    <Stack gap="sm">
      {/* An ID is one request, or a few: there is nothing to draw. */}
      {filters.search === '' && <Selection filters={filters} sight={sight} names={names} onNarrow={narrow} />}
      <Rows filters={filters} names={names} onWiden={narrow} />
    </Stack>
  );
}

interface SelectionProps extends TrafficProps {
  onNarrow(filters: Filters): void;
  /** Whether there is little width, so that each row has one chart. */
  readonly isNarrow?: boolean;
}

export function Selection({ filters, sight, names, onNarrow, isNarrow = false }: SelectionProps) {
  const [, change] = useAddress();
  const { data, error, refetch, isPlaceholderData } = useSeries(filters, sight);
  const lacking = chartsLack(filters);
  const isLive = filters.range === '5m' && !isNarrowed(filters) && sight.by.length === 0;
  const lines = useMemo(
    () =>
      data === undefined ? [] : toNamedLines(data.lines, sight.by, (dimension, value) => names.of(dimension, value)),
    [data, sight.by, names],
  );
  const narrowTo = (values: Filters['values']): void =>
    onNarrow({ ...filters, values: { ...filters.values, ...values } });
  if (data === undefined && error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  return (
    <div className={isPlaceholderData ? 'stale' : undefined} aria-busy={isPlaceholderData}>
      <Stack gap="sm">
        {data?.since !== null && data !== undefined && (
          <Notice title={`Series begin at ${formatTime(data.since)}`} icon="clock">
            What was before is in the rows below, and not in the charts.
          </Notice>
        )}
        {lacking.length > 0 && (
          <Notice
            title={`Not in figures and charts: ${lacking.map((field) => fieldWords[field]).join('; ')}`}
            icon="filter"
          >
            Series do not know them. The rows below are narrowed by them.
          </Notice>
        )}
        {isLive ? (
          <LiveSelection answer={data} isNarrow={isNarrow} />
        ) : (
          <FiguresRow answer={data} isNarrow={isNarrow} />
        )}
        {!isLive && data === undefined && <Loading rows={2} rowHeight={260} />}
        {!isLive && data !== undefined && (
          <SeriesCharts
            answer={data}
            sight={sight}
            lines={lines}
            isNarrow={isNarrow}
            onZoom={(from, to) => onNarrow({ ...filters, range: undefined, from, to })}
            onLatency={(kind) => change(sightParameters.latency(kind))}
            onHeat={(isHeat) => change(sightParameters.heat(isHeat))}
          />
        )}
        {data !== undefined && lines.length > 0 && (
          <SplitTable answer={data} lines={lines} by={sight.by} onNarrow={narrowTo} />
        )}
        {data !== undefined && <Causes answer={data} values={filters.values} onNarrow={narrowTo} />}
      </Stack>
    </div>
  );
}
