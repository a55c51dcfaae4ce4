/** The page Overview: what happens just now, or what happened in a stretch of time; how the upstreams are; what to look at. */

import './overview.css';
import { Grid, SegmentedControl, Stack } from '@mantine/core';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Failed } from '../../parts/layout/state.tsx';
import { Agreements } from './agreements.tsx';
import { Breakdown } from './breakdown.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LiveHeadline, RangeHeadline } from './headline.tsx';
import { LiveBar } from './live-bar.tsx';
import { LiveCharts } from './live-charts.tsx';
import { NoticeCount } from './notice-count.tsx';
import { Notices } from './notices.tsx';
import { useOverview } from './queries.ts';
import { type Sight, useSight, type View, views, viewWords } from './range.ts';
import { RangeCharts } from './range-charts.tsx';
import { Upstreams } from './upstreams.tsx';

export default function Overview() {
  const [sight, setSight] = useSight();
  return (
    <>
      <PageHead title="Overview" about={<NoticeCount />}>
        {sight.view === 'live' && <LiveBar />}
        <SegmentedControl
          aria-label="Time"
          size="xs"
          value={sight.view}
          data={views.map((value) => ({ value, label: viewWords[value] }))}
          onChange={(view) => setSight({ view: view as View })}
        />
      </PageHead>
      <FirstSteps />
      <Content sight={sight} onChange={setSight} />
    </>
  );
}

interface ContentProps {
  readonly sight: Sight;
  onChange(more: Partial<Sight>): void;
}

function Content({ sight, onChange }: ContentProps) {
  const { data, error, refetch, isPlaceholderData } = useOverview(sight);
  const range = sight.view;
  // What stands there of another stretch would be read as of this one.
  const overview = isPlaceholderData && range !== 'live' ? undefined : data;
  return (
    <Stack gap="sm">
      {range === 'live' ? <LiveHeadline today={data?.today} /> : <RangeHeadline overview={overview} />}
      {data === undefined && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {range === 'live' ? <LiveCharts /> : <RangeCharts range={range} overview={overview} />}
      <Grid gap="sm">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Breakdown sight={sight} overview={isPlaceholderData ? undefined : data} onChange={onChange} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack gap="sm">
            <Notices />
            <Upstreams />
            <Agreements />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
