/** Shows the list of upstreams with current health: a table, or cards on a phone. */

import {
  Anchor,
  Group,
  Paper,
  Progress,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Upstream } from '../../../../src/admin/contract.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { trafficCells, trafficColumns, trafficWords } from '../../parts/explorer/traffic.ts';
import { useOrder } from '../../parts/layout/filters.tsx';
import { Empty, Failed } from '../../parts/layout/state.tsx';
import { DataTable, fitting, useListShape } from '../../parts/layout/table.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { ManagedBy, StatusBadge, Success } from '../../parts/marks/status.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { pageOf } from '../../parts/words/links.ts';
import { Count, Duration } from '../../parts/words/numbers.tsx';
import { type ListedUpstream, upstreamSorts, useUpstreams } from './upstream-data.ts';
import { stateWords } from './upstream-words.ts';

interface UpstreamListProps {
  readonly add: ReactNode;
}

/** With at least this many upstreams, a search field is shown. */
const searchFrom = 7;
const columns = { base: 1, sm: 2 };

export function UpstreamList({ add }: UpstreamListProps) {
  const { order, table } = useOrder(upstreamSorts);
  const { data, error, refetch, dataUpdatedAt } = useUpstreams(order);
  const latencies = useLatencies(data, dataUpdatedAt);
  const [wanted, setWanted] = useState('');
  const shape = useListShape();
  if (data === undefined) {
    return error === null ? <LoadingCards /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  if (data.length === 0) {
    return (
      <Empty icon="upstreams" title="No upstream yet" action={add}>
        An upstream is a service that answers: a provider with an API key, or an inference server of your own. Add one,
        test the connection, and then choose which of its models clients may use.
      </Empty>
    );
  }
  const found = data.filter((upstream) => fits(upstream, wanted.trim().toLowerCase()));
  return (
    <>
      {data.length >= searchFrom && (
        <TextInput
          type="search"
          aria-label="Search the upstreams"
          placeholder="Search by name, family or address"
          leftSection={<Icon name="search" size={16} />}
          value={wanted}
          onChange={({ currentTarget }) => setWanted(currentTarget.value)}
          maw={420}
          mb="md"
        />
      )}
      {shape === 'cards' ? (
        <SimpleGrid
          component="ul"
          cols={columns}
          spacing="md"
          m={0}
          p={0}
          style={{ listStyle: 'none' }}
          aria-label="Upstreams"
        >
          {found.map((upstream) => (
            <li key={upstream.id}>
              <UpstreamCard upstream={upstream} latencies={latencies.get(upstream.id) ?? []} />
            </li>
          ))}
        </SimpleGrid>
      ) : (
        <UpstreamTable upstreams={found} table={table} isWide={shape === 'one line'} />
      )}
      {found.length === 0 && (
        <Empty icon="search" title="None fits">
          No upstream has that in its name, family or address.
        </Empty>
      )}
    </>
  );
}

const fits = ({ id, family, address }: Upstream, wanted: string): boolean =>
  [id, family.id, family.title, address ?? ''].some((text) => text.toLowerCase().includes(wanted));

const LoadingCards = () => (
  <SimpleGrid cols={columns} spacing="md" role="status" aria-busy="true">
    <VisuallyHidden>Loading</VisuallyHidden>
    {['a', 'b', 'c'].map((key) => (
      <Paper key={key} withBorder p="md">
        <Skeleton height={132} />
      </Paper>
    ))}
  </SimpleGrid>
);

const mostPoints = 60;

type Histories = ReadonlyMap<string, readonly (number | null)[]>;

/** Collects the latencies of upstreams since the page was opened: one point for each fetched list. */
function useLatencies(upstreams: readonly Upstream[] | undefined, seenAtMs: number): Histories {
  const [histories, setHistories] = useState<Histories>(new Map());
  const lastSeen = useRef(0);
  useEffect(() => {
    if (upstreams === undefined || seenAtMs === lastSeen.current) return;
    lastSeen.current = seenAtMs;
    setHistories((before) => new Map(upstreams.map(({ id, latencyMs }) => [id, longer(before.get(id), latencyMs)])));
  }, [upstreams, seenAtMs]);
  return histories;
}

const longer = (points: readonly (number | null)[] = [], latencyMs: number): readonly (number | null)[] =>
  [...points, latencyMs > 0 ? latencyMs : null].slice(-mostPoints);

interface UpstreamCardProps {
  readonly upstream: ListedUpstream;
  readonly latencies: readonly (number | null)[];
}

interface UpstreamTableProps {
  readonly upstreams: readonly ListedUpstream[];
  readonly table: ReturnType<typeof useOrder>['table'];
  readonly isWide: boolean;
}

function UpstreamTable({ upstreams, table, isWide }: UpstreamTableProps) {
  return (
    <DataTable
      {...fitting}
      aria-label="Upstreams"
      verticalSpacing={6}
      highlightOnHover
      isNamed
      {...table}
      columns={[
        { title: 'Upstream', isSortable: true },
        { title: 'State', w: 132 },
        ...trafficColumns,
        { title: 'In flight', ta: 'right', w: 76 },
        ...(isWide
          ? [
              { title: 'Models', ta: 'right' as const, w: 76 },
              { title: 'Family', w: 140 },
              { title: 'Address', w: 210 },
            ]
          : []),
      ]}
      rows={upstreams.map((upstream) => {
        const { id, family, address, models, inFlight, waiting, managedBy, place } = upstream;
        return {
          id,
          shows: [upstream, isWide],
          cells: [
            <div key="name">
              <Group gap="xs" wrap="nowrap">
                <Anchor
                  component={Link}
                  {...listItem}
                  href={pageOf({ kind: 'upstream', id })}
                  fw={600}
                  size="sm"
                  className="cut"
                  title={id}
                >
                  {id}
                </Anchor>
                <ManagedBy by={managedBy} place={place} isShort />
              </Group>
              {!isWide && (
                <div className="second-line">
                  <span>{family.title}</span>
                  <span>{inModels(models.length)}</span>
                  <span>{address ?? inside}</span>
                </div>
              )}
            </div>,
            <State key="state" upstream={upstream} />,
            ...trafficCells(upstream.traffic),
            <span key="calls" className="numeric">
              {formatCount(inFlight)}
              {waiting > 0 && `, ${formatCount(waiting)} waiting`}
            </span>,
            ...(isWide
              ? [
                  formatCount(models.length),
                  <Text key="family" size="sm" className="cut" title={family.title}>
                    {family.title}
                  </Text>,
                  <Text key="address" size="sm" className="cut" title={address ?? inside}>
                    {address ?? inside}
                  </Text>,
                ]
              : []),
          ],
        };
      })}
    />
  );
}

const inside = 'Answers inside the gateway';
const inModels = (count: number): string => (count === 1 ? '1 model' : `${formatCount(count)} models`);

function State({ upstream }: { readonly upstream: Upstream }) {
  const { state, label, why } = stateWords(upstream);
  return <StatusBadge state={state} label={label} why={why || null} />;
}

function UpstreamCard({ upstream, latencies }: UpstreamCardProps) {
  const { id, family, address, managedBy, place, models } = upstream;
  return (
    <Paper withBorder p="md" className="upstream-card">
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <Stack gap={0}>
          <Link {...listItem} href={pageOf({ kind: 'upstream', id })} className="upstream-open">
            {id}
          </Link>
          <Muted>{family.title}</Muted>
        </Stack>
        <Stack gap={0} align="flex-end">
          <StatusBadge {...stateWords(upstream)} />
          <Success {...upstream} />
        </Stack>
      </Group>
      <Muted truncate title={address ?? undefined}>
        {address ?? inside}
      </Muted>
      <UnderWay upstream={upstream} />
      <Text size="sm">Last 24 h: {trafficWords(upstream.traffic)}</Text>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm">{inModels(models.length)}</Text>
        <Latency ms={upstream.latencyMs} history={latencies} />
      </Group>
      {managedBy !== 'store' && (
        <div>
          <ManagedBy by={managedBy} place={place} />
        </div>
      )}
    </Paper>
  );
}

export function UnderWay({ upstream: { inFlight, waiting, limits } }: { readonly upstream: Upstream }) {
  // The upstream is not running yet, because it was just saved.
  if (limits.concurrency === 0) return null;
  const share = (inFlight / limits.concurrency) * 100;
  return (
    <Stack gap={4}>
      <Text size="sm">
        <Count value={inFlight} /> of <Count value={limits.concurrency} /> calls in flight
        {waiting > 0 && (
          <>
            , <Count value={waiting} /> waiting
          </>
        )}
      </Text>
      <Progress value={share} size="sm" aria-label="Share of the calls that it may have at a time" />
    </Stack>
  );
}

function Latency({ ms, history }: { readonly ms: number; readonly history: readonly (number | null)[] }) {
  if (ms === 0) {
    return <Muted>Not called lately</Muted>;
  }
  return (
    <Group gap="xs" wrap="nowrap">
      <div className="upstream-latency">
        <Sparkline values={history} />
      </div>
      <Text size="sm" title="To the first byte of an answer">
        <Duration ms={ms} />
      </Text>
    </Group>
  );
}
