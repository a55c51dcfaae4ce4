/** How each upstream is: the worst of its targets with the reason, and what it does just now. */

import { Badge, Box, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { Health, HealthTarget, LiveUpstream } from '../../../../src/admin/contract.ts';
import { Failed } from '../../parts/layout/state.tsx';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { StatusBadge, Success } from '../../parts/marks/status.tsx';
import { formatCount, formatDuration } from '../../parts/words/format.ts';
import { formatRate } from './live-figures.ts';
import { useHealth } from './range.ts';
import { useLive } from './use-live.ts';

/** From bad to good. */
const states = ['failing', 'resting', 'loading', 'probing', 'healthy', 'unknown'] as const;
const placeholders = ['first', 'second', 'third'];

export function Upstreams() {
  const { data, error, refetch } = useHealth();
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="upstreams" className="upstreams">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" id="upstreams">
          Upstreams
        </Title>
        {data !== undefined && <Nodes health={data} />}
      </Group>
      {data === undefined && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Stack gap="xs">
          {placeholders.map((key) => (
            <Skeleton key={key} height={42} />
          ))}
        </Stack>
      )}
      {data !== undefined && <List health={data} />}
    </Paper>
  );
}

function Nodes({ health: { nodes, workers } }: { readonly health: Health }) {
  const speaking = nodes.filter(({ isSilent }) => !isSilent).length;
  const count = Math.max(speaking, workers);
  return <Remark>{count === 1 ? 'Seen by one process' : `Seen by ${formatCount(count)} processes`}</Remark>;
}

function List({ health: { targets } }: { readonly health: Health }) {
  const byUpstream = [...Map.groupBy(targets, ({ upstream }) => upstream)];
  if (byUpstream.length === 0) {
    return (
      <Muted py="lg" ta="center">
        There is no upstream yet. <Link href="/upstreams">Add one</Link>, and its models can be served.
      </Muted>
    );
  }
  return (
    <ul className="upstream-list">
      {byUpstream.map(([id, own]) => (
        <li key={id}>
          <Line id={id} targets={own} />
        </li>
      ))}
    </ul>
  );
}

function Line({ id, targets }: { readonly id: string; readonly targets: readonly HealthTarget[] }) {
  const worst = states.flatMap((state) => targets.filter((one) => one.state === state))[0];
  const bad = targets.filter(({ state }) => state === 'failing' || state === 'resting');
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" py={6}>
      <Box miw={0}>
        <Text size="sm" fw={600} truncate>
          <Link href={`/upstreams?upstream=${encodeURIComponent(id)}`} className="plain-link">
            {id}
          </Link>
        </Text>
        <Remark lineClamp={2}>{bad.length === 0 ? <Activity id={id} /> : toReason(bad, targets.length)}</Remark>
      </Box>
      <Stack flex="none" gap={0} align="flex-end">
        <StatusBadge state={worst?.state ?? 'unknown'} why={worst?.why} />
        <Success {...sumOf(targets)} />
      </Stack>
    </Group>
  );
}

const sumOf = (targets: readonly HealthTarget[]): { readonly calls: number; readonly failedCalls: number } => ({
  calls: targets.reduce((sum, one) => sum + one.calls, 0),
  failedCalls: targets.reduce((sum, one) => sum + one.failedCalls, 0),
});

function toReason(bad: readonly HealthTarget[], all: number): string {
  const [first] = bad;
  const models = bad.length === 1 ? (first?.model ?? '') : `${bad.length} of ${all} models`;
  const rests = Math.max(...bad.map(({ restsForMs }) => restsForMs));
  const reason = first?.why ? `: ${first.why}` : '';
  return `${models}${reason}${rests > 0 ? `; tried again in ${formatDuration(rests)}` : ''}`;
}

/** Renders again with each sample. */
function Activity({ id }: { readonly id: string }) {
  const { upstreams, samples } = useLive();
  const own = upstreams.find((one) => one.id === id);
  const spanMs = samples.at(-1)?.spanMs ?? 1_000;
  return own === undefined ? 'No calls seen yet' : toActivity(own, spanMs);
}

function toActivity({ answered, otherwise, inFlight, waiting, firstByteMs }: LiveUpstream, spanMs: number): string {
  const calls = ((answered + otherwise) * 1000) / spanMs;
  const parts = [`${formatRate(calls)} calls a second`, `${formatCount(inFlight)} in flight`];
  if (waiting > 0) parts.push(`${formatCount(waiting)} waiting`);
  if (firstByteMs !== null) parts.push(`first byte after ${formatDuration(firstByteMs)}`);
  return parts.join(', ');
}

type Agreement = Health['agreements'][number];

/** Whether models are what they were, and agree with their shadows. Nothing where no model has a shadow or canaries. */
export function Agreements() {
  const { data } = useHealth();
  const { agreements = [] } = data ?? {};
  if (agreements.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="agreements" className="upstreams">
      <Title order={2} size="h5" id="agreements" mb="xs">
        Agreement
      </Title>
      <ul className="upstream-list">
        {agreements.map((one) => (
          <li key={`${one.kind} ${one.model} ${one.with}`}>
            <AgreementLine agreement={one} />
          </li>
        ))}
      </ul>
    </Paper>
  );
}

function AgreementLine({ agreement }: { readonly agreement: Agreement }) {
  const { model, hasChanged, value } = agreement;
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" py={6}>
      <div>
        <Text size="sm" fw={600} className="breaks">
          <Link href={`/models?model=${encodeURIComponent(model)}`} className="plain-link">
            {model}
          </Link>
        </Text>
        <Remark className="breaks">{wordsOf(agreement)}</Remark>
      </div>
      {hasChanged ? (
        <Badge color="red" variant="light">
          Changed
        </Badge>
      ) : (
        <Text size="sm" className="numeric">
          {value === null ? '–' : value.toFixed(3)}
        </Text>
      )}
    </Group>
  );
}

const measureWords = {
  cosine: 'by the angle between vectors',
  ranks: 'by the order of documents',
  verdicts: 'by verdicts',
  overlap: 'by who is near whom',
} as const;

function wordsOf({ kind, with: other, measure, compared }: Agreement): string {
  if (kind === 'canary') return `Fixed texts at ${other}, against what they were`;
  if (measure === null) return `With ${other}: nothing is compared yet`;
  return `With ${other}, ${measureWords[measure]}, of ${formatCount(compared)} requests`;
}
