/** Shows the page of one model, upstream, key or project: health, traffic, configuration and changes. */

import './explorer.css';
import { Anchor, Button, Grid, Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import type { AuditEntry, ShownTarget } from '../../../../src/admin/contract.ts';
import { ask, isNotFound } from '../api/client.ts';
import { useConfirm } from '../dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../dialogs/undo.tsx';
import { type Document, isMapping } from '../forms/documents.ts';
import { AuditRow } from '../history/audit-row.tsx';
import { Action } from '../layout/button.tsx';
import { useAddress } from '../layout/filters.tsx';
import { PageHead } from '../layout/page-head.tsx';
import { Failed, Loading, Notice } from '../layout/state.tsx';
import { Muted, Remark } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { StatusBadge } from '../marks/status.tsx';
import { Needs, useMay } from '../session/role.tsx';
import { formatCount, formatDuration, formatPercent, formatRate } from '../words/format.ts';
import { exploreHref } from '../words/links.ts';
import { When } from '../words/numbers.tsx';
import { Selection } from './explorer.tsx';
import { type Filters, type Range, ranges, readFilters, toParameters } from './filters.ts';
import { useNames } from './ledger-data.ts';
import { readSight } from './sight.ts';

type Kind = 'model' | 'upstream' | 'key' | 'project';

interface SubjectPageProps {
  readonly kind: Kind;
  readonly id: string;
  readonly name?: string;
  /** The result of the element's query: its data, or the error. */
  readonly loaded: { readonly data: unknown; readonly error: Error | null };
  readonly list: { readonly href: string; readonly title: string };
  /** Restores a previous document; undefined where the element cannot be changed here. */
  readonly onRestore?: ((document: Document, entry: string) => Promise<unknown>) | undefined;
  readonly children: ReactNode;
}

export function SubjectPage({ kind, id, name = id, loaded, list, onRestore, children }: SubjectPageProps) {
  const isGone = isNotFound(loaded.error);
  const isUnknown = isGone && loaded.data === undefined;
  return (
    <div className="subject">
      <Anchor component={Link} href={list.href} size="sm">
        <Group gap={4} component="span">
          <span className="turned">
            <Icon name="chevron" size={14} />
          </span>
          {list.title}
        </Group>
      </Anchor>
      {isUnknown ? <UnknownHead kind={kind} id={id} /> : <PageHead title={name} />}
      <Stack gap="lg">
        {isGone && !isUnknown && (
          <Notice title="It no longer exists">
            The {kind} was deleted while this page was open. What is below is its last state.
          </Notice>
        )}
        {!isUnknown && (kind === 'model' || kind === 'upstream') && <Evidence kind={kind} id={id} />}
        {!isUnknown && (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <section aria-label="Configuration">{children}</section>
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <SubjectTraffic kind={kind} id={id} />
            </Grid.Col>
          </Grid>
        )}
        <Needs role="admin" hide>
          <History kind={kind} id={id} onRestore={onRestore} />
        </Needs>
      </Stack>
    </div>
  );
}

/** The head for an unknown element, without charts; its earlier traffic is in the Explorer, and its changes in the Audit log. */
const UnknownHead = ({ kind, id }: Pick<SubjectPageProps, 'kind' | 'id'>) => (
  <PageHead
    title={`There is no such ${kind}`}
    about={`No ${kind} has the ID “${id}”. The address may be mistyped, or the ${kind} was deleted.`}
  >
    <Button component={Link} href={exploreHref({ [kind]: id })} variant="default">
      Its requests in the Explorer
    </Button>
  </PageHead>
);

const evidenceMs = 5_000;
const shownTargets = 20;
/** Limit of shown targets that were not called lately, which would push the configuration out of sight. */
const shownUntested = 3;

function Evidence({ kind, id }: { readonly kind: 'model' | 'upstream'; readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['states', kind, id],
    queryFn: ({ signal }) => ask('GET /api/states', { query: { [kind]: id, limit: shownTargets }, signal }),
    refetchInterval: evidenceMs,
  });
  if (data === undefined) {
    return error === null ? (
      <Loading rows={1} rowHeight={56} />
    ) : (
      <Failed error={error} onRetry={() => void refetch()} />
    );
  }
  if (data.items.length === 0) return null;
  const shown = data.items.filter(({ state }, at) => state !== 'untested' || at < shownUntested);
  const untested = data.items.length - shown.length;
  return (
    <Paper withBorder p="sm" component="section" aria-label="State">
      <Title order={2} size="h5" mb={4}>
        State
      </Title>
      <ul className="plain-list">
        {shown.map((target) => (
          <EvidenceLine
            key={`${target.model} ${target.upstream} ${target.upstreamModel}`}
            target={target}
            kind={kind}
          />
        ))}
      </ul>
      {untested > 0 && (
        <Remark>{data.next === null ? `${untested} targets` : 'Others'} were not called in the last 10 minutes.</Remark>
      )}
      {untested === 0 && data.next !== null && (
        <Remark>The worst {shownTargets} of its targets; the others do better.</Remark>
      )}
    </Paper>
  );
}

function EvidenceLine({ target, kind }: { readonly target: ShownTarget; readonly kind: 'model' | 'upstream' }) {
  const { state, model, upstream, upstreamModel, cause, cooldownMs, evidence } = target;
  const { attempts, failedAttempts, successShare, p95Ms, weekP95Ms, requestsPerSecond, topCode, since } = evidence;
  const other = kind === 'model' ? upstream : model;
  const facts =
    attempts === 0
      ? ['no attempt in the last 10 minutes']
      : [
          `${formatCount(attempts)} attempts in 10 minutes, ${formatCount(failedAttempts)} failed`,
          ...(successShare === null ? [] : [`${formatPercent(successShare)} succeed`]),
          ...(topCode === null ? [] : [`mostly ${topCode.code}`]),
          ...(p95Ms === null ? [] : [`p95 ${formatDuration(p95Ms)}`]),
          ...(weekP95Ms === null ? [] : [`${formatDuration(weekP95Ms)} over the week`]),
          `${formatRate(requestsPerSecond)} a second`,
        ];
  if (cooldownMs > 0) facts.push(`tried again in ${formatDuration(cooldownMs)}`);
  return (
    <Group component="li" gap="sm" py={4} align="flex-start" wrap="nowrap">
      <StatusBadge state={state} />
      <div className="grows">
        <Text size="sm" className="any-wrap">
          <strong>{other}</strong>
          {upstreamModel !== other && upstreamModel !== model && ` as ${upstreamModel}`}
          {cause !== null && `: ${cause}`}
        </Text>
        <Remark className="any-wrap">
          {facts.join(', ')}
          {since !== null && (
            <>
              ; so since <When at={since} />
            </>
          )}
        </Remark>
      </div>
    </Group>
  );
}

/** Shows the Explorer's charts for this element; further filters lead to the Explorer. */
function SubjectTraffic({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const [query, change] = useAddress();
  const [, go] = useLocation();
  const names = useNames();
  const sight = useMemo(() => readSight(query), [query]);
  const filters = useMemo(() => ({ ...readFilters(query), search: '', values: { [kind]: id } }), [query, kind, id]);
  const explore = (next: Filters): void => {
    const parameters = Object.entries(toParameters(next)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    go(exploreHref(Object.fromEntries(parameters)));
  };
  const narrow = (next: Filters): void => {
    const { range, from, to } = toParameters(next);
    if (Object.keys(next.values).length > 1) explore(next);
    else change({ range, from, to });
  };
  return (
    <section aria-label="Traffic">
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h5">
          Traffic
        </Title>
        <Group gap="xs">
          <Select
            size="xs"
            aria-label="Time"
            w={170}
            data={Object.entries(ranges)
              .filter(([value]) => value !== '5m')
              .map(([value, { label }]) => ({ value, label }))}
            value={filters.range ?? null}
            placeholder="Own"
            allowDeselect={false}
            onChange={(range) => narrow({ ...filters, range: range as Range, from: undefined, to: undefined })}
          />
          <Action icon="explorer" label="Open in the Explorer" size="xs" onClick={() => explore(filters)} />
        </Group>
      </Group>
      <Selection filters={filters} sight={sight} names={names} onNarrow={narrow} isNarrow />
    </section>
  );
}

const shownEntries = 20;

/** Shows the changes of the element with author, before and after; each previous document can be restored. */
function History({ kind, id, onRestore }: Pick<SubjectPageProps, 'kind' | 'id' | 'onRestore'>) {
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', 'of', kind, id],
    queryFn: ({ signal }) =>
      ask('GET /api/audit', { query: { subject: id, action: `${kind}.`, limit: shownEntries }, signal }),
  });
  return (
    <section aria-label="Changes">
      <Title order={2} size="h5" mb="xs">
        Changes
      </Title>
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={2} />}
      {data?.items.length === 0 && <Muted>Nothing was changed here, as far as the audit log reaches.</Muted>}
      <ul className="plain-list">
        {data?.items.map((entry) => (
          <AuditRow
            key={entry.id}
            entry={entry}
            action={onRestore === undefined ? undefined : <Restore entry={entry} onRestore={onRestore} />}
          />
        ))}
      </ul>
      {data !== undefined && data.next !== null && (
        <Anchor component={Link} size="sm" href={`/audit?${new URLSearchParams({ subject: id, action: `${kind}.` })}`}>
          All changes in the audit log
        </Anchor>
      )}
    </section>
  );
}

interface RestoreProps {
  readonly entry: AuditEntry;
  onRestore(document: Document, entry: string): Promise<unknown>;
}

function Restore({ entry: { id, before, name, subject }, onRestore }: RestoreProps) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const mayRestore = useMay('admin');
  if (!isMapping(before) || !mayRestore) return null;
  async function restore(): Promise<void> {
    const yes = await confirm({
      title: `Restore ${name ?? subject}?`,
      body: 'It is put in force as it was before this change. Secrets stay as they are now.',
      confirm: 'Restore',
    });
    if (!yes || !isMapping(before)) return;
    try {
      await onRestore({ ...before }, id);
      notifyDone(`${name ?? subject} is as it was before that change.`);
    } catch (error) {
      notifyFailed(error);
    }
    await queries.invalidateQueries();
  }
  return <Action icon="undo" label="Restore what was before" size="xs" onClick={() => void restore()} />;
}
