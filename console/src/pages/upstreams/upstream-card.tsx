/** One upstream: what it is, how it is, and how much is under way. */

import { Group, Paper, Progress, Stack, Text } from '@mantine/core';
import type { Upstream } from '../../../../src/admin/contract.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import { ManagedBy } from '../../parts/marks/managed-by.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { Success } from '../../parts/marks/success.tsx';
import { Count, Duration } from '../../parts/words/numbers.tsx';
import { stateWords } from './upstream-words.ts';

interface UpstreamCardProps {
  readonly upstream: Upstream;
  readonly latencies: readonly (number | null)[];
  readonly isOpened: boolean;
  onOpen(): void;
}

export function UpstreamCard({ upstream, latencies, isOpened, onOpen }: UpstreamCardProps) {
  const { id, family, address, managedBy, place, models } = upstream;
  return (
    <Paper withBorder p="md" className="upstream-card" data-opened={isOpened || undefined}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <Stack gap={0}>
          <button type="button" className="upstream-open" onClick={onOpen}>
            {id}
          </button>
          <Text size="sm" c="dimmed">
            {family.title}
          </Text>
        </Stack>
        <Stack gap={0} align="flex-end">
          <StatusBadge {...stateWords(upstream)} />
          <Success {...upstream} />
        </Stack>
      </Group>
      <Text size="sm" c="dimmed" truncate title={address ?? undefined}>
        {address ?? 'Answers inside the gateway'}
      </Text>
      <UnderWay upstream={upstream} />
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm">{models.length === 1 ? '1 model' : `${models.length} models`}</Text>
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
  // Not running yet: it was just saved.
  if (limits.concurrency === 0) return null;
  const share = (inFlight / limits.concurrency) * 100;
  return (
    <Stack gap={4}>
      <Text size="sm">
        <Count value={inFlight} /> of <Count value={limits.concurrency} /> calls under way
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
    return (
      <Text size="sm" c="dimmed">
        Not called lately
      </Text>
    );
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
