/** What was used and what it cost: a chart, a table with its sum, and both as a file. */

import { Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { toAddress } from '../../parts/api/asking.ts';
import { ask } from '../../parts/api/client.ts';
import { useAddress } from '../../parts/layout/filters.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { FilterBar } from './filter-bar.tsx';
import { type Filters, readFilters, rowOnlyFields, toParameters, toSumsQuery } from './filters.ts';
import { useNames } from './ledger-data.ts';
import { UsageChart, UsageTable } from './usage-table.tsx';
import {
  groups,
  groupWords,
  isGroup,
  isTime,
  type Measure,
  measures,
  measureWords,
  toTimeWords,
} from './usage-words.ts';

const standardRange = '30d';

export default function UsageTab() {
  const [query, change] = useAddress();
  const filters = useMemo(() => readFilters(query), [query]);
  const names = useNames();
  const asked = query.get('by');
  const by = isGroup(asked) ? asked : 'day';
  const [measure, setMeasure] = useState<Measure>('requests');
  const hasTime = filters.range !== undefined || filters.from !== undefined || filters.to !== undefined;
  const whole: Filters = hasTime ? filters : { ...filters, range: standardRange };
  const toApi = () => ({ ...toSumsQuery(whole, Date.now()), by });
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['usage', by, toParameters(whole)],
    queryFn: ({ signal }) => ask('GET /api/usage', { query: toApi(), signal }),
  });
  const nameOf = (value: string | null): string => {
    if (value === null) return 'None';
    if (isTime(by)) return toTimeWords(value, by);
    return by === 'key' ? names.key(value) : by === 'project' ? names.project(value) : value;
  };
  return (
    <Stack gap="md">
      <FilterBar
        filters={filters}
        onChange={(next) => change(toParameters(next))}
        names={names}
        without={rowOnlyFields}
        standardRange={standardRange}
        actions={
          <Button
            component="a"
            variant="default"
            leftSection={<Icon name="download" size={16} />}
            href={toAddress('GET /api/usage', { query: { ...toApi(), format: 'csv' } })}
            download="postern-usage.csv"
          >
            Export
          </Button>
        }
      />
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" component="label" htmlFor="usage-by">
            Added up by
          </Text>
          <Select
            id="usage-by"
            data={groups.map((value) => ({ value, label: groupWords[value] }))}
            value={by}
            onChange={(next) => next !== null && change({ by: next })}
            allowDeselect={false}
            w={150}
          />
        </Group>
        <SegmentedControl
          aria-label="What the chart shows"
          transitionDuration={0}
          data={measures.map((value) => ({ value, label: measureWords[value] }))}
          value={measure}
          onChange={(value) => setMeasure(measures.find((one) => one === value) ?? 'requests')}
        />
      </Group>
      {isPending && <Loading rows={8} />}
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data !== undefined && data.lines.length === 0 && (
        <Empty icon="money" title="Nothing was used in this time">
          Widen the time, or take a filter away. What is used appears here within moments.
        </Empty>
      )}
      {error === null && data !== undefined && data.lines.length > 0 && (
        <>
          <UsageChart usage={data} by={by} measure={measure} nameOf={nameOf} />
          <UsageTable key={by} usage={data} by={by} nameOf={nameOf} />
        </>
      )}
    </Stack>
  );
}
