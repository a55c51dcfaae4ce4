/** The page Overview: what happens just now, or what happened in a stretch of time; how the upstreams are; what to look at. */

import './overview.css';
import { Grid, SegmentedControl, Stack } from '@mantine/core';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Failed } from '../../parts/layout/state.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Breakdown } from './breakdown.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LiveHeadline, RangeHeadline } from './headline.tsx';
import { LiveCharts, RangeCharts } from './live-charts.tsx';
import { NoticeCount, Notices } from './notices.tsx';
import { type Sight, useOverview, useSight, type View, views, viewWords } from './range.ts';
import { Agreements, Upstreams } from './upstreams.tsx';
import { pauseLive, useLivePart } from './use-live.ts';

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

function Content({ sight, onChange }: { readonly sight: Sight; onChange(more: Partial<Sight>): void }) {
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

/** What the live view says of itself: whether it follows, stands still or lost its connection; and the button to hold it. */
function LiveBar() {
  const isPaused = useLivePart((state) => state.isPaused);
  const words = useLivePart(({ status, isPaused: paused, isBehind }) => {
    if (status === 'lost') return 'Connection lost; trying again';
    if (paused) return 'Paused';
    if (isBehind) return 'The gateway is slow to answer';
    return status === 'live' ? 'Following' : 'Connecting';
  });
  return (
    <>
      <Muted role="status" className={`live-words live-${words === 'Following' ? 'on' : 'off'}`}>
        <span className="live-dot" aria-hidden="true" />
        {words}
      </Muted>
      <Action
        icon={isPaused ? 'play' : 'pause'}
        label={isPaused ? 'Go on' : 'Pause'}
        size="xs"
        w={104}
        onClick={() => pauseLive(!isPaused)}
      />
    </>
  );
}
