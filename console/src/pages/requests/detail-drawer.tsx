/** One request at the side: what came of it, its calls over time, what it used, and what is kept of it. */

import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { CopyButton } from '../../parts/snippets/copy.tsx';
import { formatCount, formatTime } from '../../parts/words/format.ts';
import { Bytes, Duration, Nothing, When } from '../../parts/words/numbers.tsx';
import { requestWords } from '../../parts/words/operations.ts';
import { Kept } from './kept.tsx';
import { ledgerRowQuery, type Names } from './ledger-data.ts';
import { describeOutcome } from './request-words.ts';
import { OutcomeBadge } from './row-list.tsx';
import { TimeLineView } from './time-line-view.tsx';
import { UsageFacts } from './usage-facts.tsx';

interface DetailDrawerProps {
  readonly id: string | undefined;
  readonly names: Names;
  onClose(): void;
}

export function DetailDrawer({ id, names, onClose }: DetailDrawerProps) {
  const { data, error, refetch } = useQuery({ ...ledgerRowQuery(id ?? ''), enabled: id !== undefined });
  const title = data === undefined ? 'Request' : [requestWords[data.operation], data.model].filter(Boolean).join(' · ');
  return (
    <SideDrawer opened={id !== undefined} onClose={onClose} title={title} subject={id ?? ''} width={560}>
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={8} rowHeight={36} />}
      {error === null && data !== undefined && <Detail row={data} names={names} />}
    </SideDrawer>
  );
}

function Detail({ row, names }: { readonly row: LedgerDetail; readonly names: Names }) {
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        <Group gap="xs">
          <OutcomeBadge row={row} />
          <Text size="sm" c="dimmed" component="div">
            <When at={row.startedAt} />, {formatTime(row.startedAt)}
          </Text>
        </Group>
        <Text className="any-wrap">{describeOutcome(row)}</Text>
      </Stack>
      <Section title="Over time">
        <TimeLineView row={row} />
      </Section>
      <Section title="Usage and cost">
        <UsageFacts row={row} />
      </Section>
      <Section title="Who and what">
        <Facts row={row} names={names} />
      </Section>
      <Section title="What was asked and answered">
        <Kept row={row} />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h6" mb={8}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function Facts({ row, names }: { readonly row: LedgerDetail; readonly names: Names }) {
  const upstreamModel = row.upstreamModel === row.model ? null : row.upstreamModel;
  return (
    <dl className="fact-list">
      <Fact name="Request ID">
        <Id id={row.id} label="Copy the request ID" />
      </Fact>
      <Fact name="Client's ID">
        {row.clientRequestId === null ? (
          <Nothing>none was sent</Nothing>
        ) : (
          <Id id={row.clientRequestId} label="Copy the client's ID" />
        )}
      </Fact>
      <Fact name="Key">
        <Narrowing field="key" value={row.key} label={names.key(row.key)} />
      </Fact>
      <Fact name="Project">
        <Narrowing field="project" value={row.project} label={names.project(row.project ?? '')} />
      </Fact>
      <Fact name="Route">{row.route}</Fact>
      <Fact name="Model">
        <Narrowing field="model" value={row.model} />
      </Fact>
      <Fact name="Upstream">
        <Narrowing field="upstream" value={row.upstream} />
        {upstreamModel !== null && (
          <Text span inherit c="dimmed">
            , as {upstreamModel}
          </Text>
        )}
      </Fact>
      <Fact name="Items">{formatCount(row.items)}</Fact>
      <Fact name="Bodies">
        <Bytes value={row.requestBytes} /> asked, <Bytes value={row.responseBytes} /> answered
      </Fact>
      <Fact name="Cache">{row.cache === null ? 'No cache is on' : row.cache}</Fact>
      <Fact name="First byte">
        <Duration ms={row.firstByteMs} />
      </Fact>
      {row.traceId !== null && (
        <Fact name="Trace">
          <Id id={row.traceId} label="Copy the trace's ID" />
        </Fact>
      )}
      {row.clientAddress !== null && <Fact name="From">{row.clientAddress}</Fact>}
      <Fact name="Served by">{row.node}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Id({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="center">
      <Text span ff="monospace" fz="xs" className="any-wrap">
        {id}
      </Text>
      <CopyButton text={id} label={label} />
    </Group>
  );
}

interface NarrowingProps {
  readonly field: 'key' | 'project' | 'model' | 'upstream';
  readonly value: string | null;
  readonly label?: string;
}

/** Leads to all requests that have the same. */
function Narrowing({ field, value, label }: NarrowingProps) {
  if (value === null) return <Nothing />;
  const query = new URLSearchParams({ [field]: value });
  return (
    <Link href={`/requests?${query}`} className="fact-link" title="Show all requests with it">
      {label ?? value}
    </Link>
  );
}
