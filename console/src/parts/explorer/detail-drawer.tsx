/** Shows one request in a drawer: outcome, timeline of calls, usage, and captured bodies. */

import { Anchor, Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { SideDrawer } from '../dialogs/drawer.tsx';
import { Action } from '../layout/button.tsx';
import { Failed, Loading } from '../layout/state.tsx';
import { Muted, Remark } from '../layout/text.tsx';
import { Needs } from '../session/role.tsx';
import { CopyButton, Snippet } from '../snippets/copy.tsx';
import { formatCount, formatDuration, formatTime } from '../words/format.ts';
import { Bytes, Duration, Nothing, When } from '../words/numbers.tsx';
import { requestWords } from '../words/operations.ts';
import { ledgerRowQuery, type Names } from './ledger-data.ts';
import { Neighbours, RequestActions } from './request-actions.tsx';
import { describeOutcome } from './request-words.ts';
import { OutcomeBadge } from './row-list.tsx';
import { type Span, toPosition, toTimeLine } from './time-line.ts';
import { UsageFacts } from './usage-facts.tsx';

interface DetailDrawerProps {
  readonly id: string | undefined;
  readonly names: Names;
  /** IDs of the rows on the page, in their order. */
  readonly ids: readonly string[];
  onOpen(id: string): void;
  onClose(): void;
}

export function DetailDrawer({ id, names, ids, onOpen, onClose }: DetailDrawerProps) {
  const { data, error, refetch } = useQuery({ ...ledgerRowQuery(id ?? ''), enabled: id !== undefined });
  const title = data === undefined ? 'Request' : [requestWords[data.operation], data.model].filter(Boolean).join(' · ');
  return (
    <SideDrawer opened={id !== undefined} onClose={onClose} title={title} subject={id ?? ''} width={560}>
      {id !== undefined && <Neighbours ids={ids} id={id} onOpen={onOpen} />}
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={8} rowHeight={36} />}
      {error === null && data !== undefined && <Detail row={data} names={names} />}
    </SideDrawer>
  );
}

function Detail({ row, names }: { readonly row: LedgerDetail; readonly names: Names }) {
  const [sent, setSent] = useState<{ readonly id: string; readonly body: unknown }>();
  return (
    <Stack gap="lg" mt="xs">
      <Stack gap={6}>
        <Group gap="xs">
          <OutcomeBadge row={row} />
          <Muted>
            <When at={row.startedAt} />, {formatTime(row.startedAt)}
          </Muted>
        </Group>
        <Text className="any-wrap">{describeOutcome(row)}</Text>
        <RequestActions key={row.id} row={row} body={sent?.id === row.id ? sent.body : undefined} />
      </Stack>
      <Section title="Over time">
        <TimeLineView row={row} />
      </Section>
      <Section title="Usage and cost">
        <UsageFacts row={row} />
      </Section>
      <Section title="Facts">
        <Facts row={row} names={names} />
      </Section>
      <Section title="Bodies">
        <Kept row={row} onSent={(body) => setSent({ id: row.id, body })} />
      </Section>
    </Stack>
  );
}

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section>
    <Title order={3} size="h6" mb={8}>
      {title}
    </Title>
    {children}
  </section>
);

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
      {row.queueMs !== null && (
        <Fact name="In the queue">
          <Duration ms={row.queueMs} />
        </Fact>
      )}
      {row.connectMs !== null && (
        <Fact name="Connecting">
          <Duration ms={row.connectMs} />
        </Fact>
      )}
      {row.traceId !== null && (
        <Fact name="Trace">
          <Id id={row.traceId} label="Copy the trace's ID" />
          {row.traceUrl !== null && (
            <Anchor href={row.traceUrl} target="_blank" rel="noreferrer" size="sm" ml={8}>
              Show the trace
            </Anchor>
          )}
        </Fact>
      )}
      {row.clientAddress !== null && <Fact name="From">{row.clientAddress}</Fact>}
      <Fact name="Served by">{row.node}</Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const Id = ({ id, label }: { readonly id: string; readonly label: string }) => (
  <Group gap={4} wrap="nowrap" align="center">
    <Text span ff="monospace" fz="xs" className="any-wrap">
      {id}
    </Text>
    <CopyButton text={id} label={label} />
  </Group>
);

interface NarrowingProps {
  readonly field: 'key' | 'project' | 'model' | 'upstream';
  readonly value: string | null;
  readonly label?: string;
}

function Narrowing({ field, value, label }: NarrowingProps) {
  if (value === null) return <Nothing />;
  const query = new URLSearchParams({ [field]: value });
  return (
    <Link href={`/explorer?${query}`} className="fact-link" title="Show all requests with it">
      {label ?? value}
    </Link>
  );
}

/** Draws the gateway and each call as bars over the time of the request: queue, connection, time to first byte, body. */
function TimeLineView({ row }: { readonly row: LedgerDetail }) {
  const { lanes, totalMs, isApproximate } = toTimeLine(row);
  const phases = new Set(lanes.flatMap(({ spans }) => spans.map(({ phase }) => phase)));
  return (
    <>
      <ol className="time-line">
        {lanes.map((lane) => (
          <li key={lane.id}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <Text size="sm" component="span" className="any-wrap">
                <strong>{lane.name}</strong> <span className={`tone-${lane.tone}`}>{lane.words}</span>
              </Text>
              <Muted component="span" className="numeric">
                {formatDuration(lane.toMs - lane.fromMs)}
              </Muted>
            </Group>
            <div className="time-track" aria-hidden="true">
              {lane.spans.map((span) => {
                const { left, width } = toPosition(span, totalMs);
                return (
                  <div
                    key={span.phase}
                    className={`time-bar time-${lane.tone} time-${span.phase}`}
                    style={{ left: `${left}%`, width: `${width}%` }}
                    title={`${phaseWords[span.phase]}: ${formatDuration(span.toMs - span.fromMs)}`}
                  />
                );
              })}
            </div>
            <VisuallyHidden>
              {lane.spans
                .map(({ phase, fromMs, toMs }) => `${phaseWords[phase]} ${formatDuration(toMs - fromMs)}`)
                .join(', ')}
            </VisuallyHidden>
          </li>
        ))}
      </ol>
      <Group justify="space-between" mt={4}>
        <Remark>0</Remark>
        <Remark>{formatDuration(totalMs)}</Remark>
      </Group>
      {phases.size > 1 && (
        <Group gap="md" aria-hidden>
          {(['wait', 'queue', 'connect', 'first', 'body'] as const)
            .filter((phase) => phases.has(phase))
            .map((phase) => (
              <Remark key={phase} component="span" className="time-key">
                <span className={`time-good time-${phase}`} />
                {phaseWords[phase]}
              </Remark>
            ))}
        </Group>
      )}
      {isApproximate && <Remark>Attempts stand in their order; when exactly each began is not recorded.</Remark>}
      {row.attempts === 0 && <Remark>No call was sent to an upstream.</Remark>}
    </>
  );
}

const phaseWords: Readonly<Record<Span['phase'], string>> = {
  wait: 'Before the call',
  queue: 'In the queue',
  connect: 'Connecting',
  first: 'Until the first byte',
  body: 'First byte to last',
};

/** Shows the captured bodies, if the key captures them; they are fetched only when an admin asks for them. */
interface KeptProps {
  readonly row: LedgerDetail;
  /** Called with the request's body, if it is JSON. */
  onSent(body: unknown): void;
}

function Kept({ row: { id, hasCapture }, onSent }: KeptProps) {
  if (!hasCapture) {
    return (
      <Muted>
        Nothing is kept of the bodies. They are only where a key has capture switched on, and only for its time.
      </Muted>
    );
  }
  return (
    <Needs role="admin">
      <Bodies key={id} id={id} onSent={onSent} />
    </Needs>
  );
}

function Bodies({ id, onSent }: { readonly id: string; onSent(body: unknown): void }) {
  const [isAsked, setAsked] = useState(false);
  const listener = useRef(onSent);
  listener.current = onSent;
  const { data, error, refetch } = useQuery({
    queryKey: ['ledger', 'capture', id],
    queryFn: ({ signal }) => ask('GET /api/ledger/:id/capture', { params: { id }, signal }),
    enabled: isAsked,
    // Each view is audited: one click is one view, and nothing stays in memory.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const request = data?.request;
  useEffect(() => {
    const body = request === undefined ? undefined : readJson(request);
    if (body !== undefined) listener.current(body);
  }, [request]);
  if (!isAsked) {
    return (
      <Stack gap={6} align="flex-start">
        <Action icon="eye" label="Show the bodies" onClick={() => setAsked(true)} />
        <Remark>It is noted in the audit log that you looked.</Remark>
      </Stack>
    );
  }
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={2} rowHeight={120} />;
  return (
    <Stack gap="xs">
      <Snippet code={toReadable(data.request)} language="Asked" label="Copy what was asked" />
      <Snippet code={toReadable(data.response)} language="Answered" label="Copy what was answered" />
      <Remark>
        Kept until <When at={data.expiresAt} />. Secrets, e-mail addresses and long numbers are taken out.
      </Remark>
    </Stack>
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toReadable(text: string): string {
  if (text === '') return '(empty)';
  const json = readJson(text);
  return json === undefined ? text : JSON.stringify(json, null, 2);
}
