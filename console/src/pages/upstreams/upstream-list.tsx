/** All upstreams as cards, each with how it is just now. */

import { Paper, SimpleGrid, Skeleton, TextInput, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Upstream } from '../../../../src/admin/contract.ts';
import { Empty, Failed } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { UpstreamCard } from './upstream-card.tsx';
import { useUpstreams } from './upstream-data.ts';
import { useLatencies } from './use-latencies.ts';

interface UpstreamListProps {
  readonly add: ReactNode;
  readonly opened: string | undefined;
  onOpen(id: string): void;
}

/** From so many on, one looks for a name rather than over all of them. */
const searchFrom = 7;
const columns = { base: 1, sm: 2, xl: 3 };

export function UpstreamList({ add, opened, onOpen }: UpstreamListProps) {
  const { data, error, refetch, dataUpdatedAt } = useUpstreams();
  const latencies = useLatencies(data, dataUpdatedAt);
  const [wanted, setWanted] = useState('');
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
  const fitting = data.filter((upstream) => fits(upstream, wanted.trim().toLowerCase()));
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
      <SimpleGrid
        component="ul"
        cols={columns}
        spacing="md"
        m={0}
        p={0}
        style={{ listStyle: 'none' }}
        aria-label="Upstreams"
      >
        {fitting.map((upstream) => (
          <li key={upstream.id}>
            <UpstreamCard
              upstream={upstream}
              latencies={latencies.get(upstream.id) ?? []}
              isOpened={upstream.id === opened}
              onOpen={() => onOpen(upstream.id)}
            />
          </li>
        ))}
      </SimpleGrid>
      {fitting.length === 0 && (
        <Empty icon="search" title="None fits">
          No upstream has that in its name, family or address.
        </Empty>
      )}
    </>
  );
}

function fits({ id, family, address }: Upstream, wanted: string): boolean {
  return [id, family.id, family.title, address ?? ''].some((text) => text.toLowerCase().includes(wanted));
}

function LoadingCards() {
  return (
    <SimpleGrid cols={columns} spacing="md" role="status" aria-busy="true">
      <VisuallyHidden>Loading</VisuallyHidden>
      {['a', 'b', 'c'].map((key) => (
        <Paper key={key} withBorder p="md">
          <Skeleton height={132} />
        </Paper>
      ))}
    </SimpleGrid>
  );
}
