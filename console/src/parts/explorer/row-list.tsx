/** The list of requests, as a table or cards. */

import { Card, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { MouseEvent } from 'react';
import { Link, useSearch } from 'wouter';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { Remark } from '../layout/text.tsx';
import { StatusBadge } from '../marks/status.tsx';
import { listItem } from '../shell/shortcuts.tsx';
import { formatCount, formatTime } from '../words/format.ts';
import { Duration, Money, Nothing } from '../words/numbers.tsx';
import { requestWords } from '../words/operations.ts';
import type { Names } from './ledger-data.ts';
import { outcomeLooks } from './request-words.ts';

export interface RowListProps {
  readonly rows: readonly LedgerRow[];
  /** Rows that just arrived. */
  readonly fresh: ReadonlySet<string>;
  readonly names: Names;
  readonly openId: string | undefined;
  /** Another list is loading. */
  readonly isStale: boolean;
  onOpen(id: string): void;
}

export function RowList(props: RowListProps) {
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false });
  return (
    <div className={props.isStale ? 'stale' : undefined} aria-busy={props.isStale}>
      {isNarrow ? <Cards {...props} /> : <Rows {...props} />}
    </div>
  );
}

const Rows = ({ rows, fresh, names, openId, onOpen }: RowListProps) => (
  <Table.ScrollContainer minWidth={900}>
    <Table verticalSpacing={6} highlightOnHover className="request-table">
      <Table.Caption className="off-screen-caption">
        <VisuallyHidden>Requests, the newest first</VisuallyHidden>
      </Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Time</Table.Th>
          <Table.Th>Outcome</Table.Th>
          <Table.Th>Request</Table.Th>
          <Table.Th>Key</Table.Th>
          <Table.Th>Upstream</Table.Th>
          <Table.Th ta="right">Usage</Table.Th>
          <Table.Th ta="right">Cost</Table.Th>
          <Table.Th ta="right">Took</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr
            key={row.id}
            className={fresh.has(row.id) ? 'request-row request-fresh' : 'request-row'}
            data-selected={row.id === openId || undefined}
            onClick={(event: MouseEvent) => openByRow(event, row.id, onOpen)}
          >
            <Table.Td>
              <OpenLink row={row} />
            </Table.Td>
            <Table.Td className="outcome-cell">
              <OutcomeBadge row={row} />
              {row.error !== null && (
                <Remark truncate title={row.error}>
                  {row.error}
                </Remark>
              )}
            </Table.Td>
            <Table.Td className="cut-cell">
              <TwoLines first={row.model ?? requestWords[row.operation]} second={requestWords[row.operation]} />
            </Table.Td>
            <Table.Td className="cut-cell">
              <TwoLines first={names.key(row.key)} second={row.project === null ? '' : names.project(row.project)} />
            </Table.Td>
            <Table.Td className="cut-cell">
              <TwoLines first={row.upstream ?? ''} second={row.attempts > 1 ? `${row.attempts} attempts` : ''} />
            </Table.Td>
            <Table.Td ta="right">
              <UsageOf row={row} />
            </Table.Td>
            <Table.Td ta="right">
              <CostOf row={row} />
            </Table.Td>
            <Table.Td ta="right">
              <Duration ms={row.durationMs} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);

const Cards = ({ rows, fresh, names, openId, onOpen }: RowListProps) => (
  <Stack gap="xs" component="ul" className="plain-list">
    {rows.map((row) => (
      <Card
        key={row.id}
        component="li"
        withBorder
        padding="sm"
        className={fresh.has(row.id) ? 'request-row request-fresh' : 'request-row'}
        data-selected={row.id === openId || undefined}
        onClick={(event: MouseEvent) => openByRow(event, row.id, onOpen)}
      >
        <Group justify="space-between" wrap="nowrap" gap="xs">
          <OpenLink row={row} />
          <OutcomeBadge row={row} />
        </Group>
        <Text size="sm" fw={500} mt={6} className="any-wrap">
          {row.model ?? requestWords[row.operation]}
        </Text>
        <Remark className="any-wrap">
          {[requestWords[row.operation], names.key(row.key), row.upstream].filter(Boolean).join(' · ')}
        </Remark>
        <Group gap="md" mt={6}>
          <Text size="sm" component="div">
            <UsageOf row={row} />
          </Text>
          <Text size="sm" component="div">
            <CostOf row={row} />
          </Text>
          <Text size="sm" component="div">
            <Duration ms={row.durationMs} />
          </Text>
        </Group>
      </Card>
    ))}
  </Stack>
);

/** A click on the row follows its link, unless text is selected. */
function openByRow(event: MouseEvent, id: string, onOpen: (id: string) => void): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.target instanceof Element && event.target.closest('a, button') !== null) return;
  if ((window.getSelection()?.toString() ?? '') !== '') return;
  onOpen(id);
}

function OpenLink({ row }: { readonly row: LedgerRow }) {
  const query = new URLSearchParams(useSearch());
  query.set('id', row.id);
  const { date, time } = toClock(row.startedAt);
  const what = row.model === null ? requestWords[row.operation] : `${requestWords[row.operation]} with ${row.model}`;
  return (
    <Link {...listItem} href={`/explorer?${query}`} className="request-link" title={formatTime(row.startedAt)}>
      <span>{time}</span>
      {date !== '' && <span className="request-date">{date}</span>}
      <VisuallyHidden>, {what}</VisuallyHidden>
    </Link>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The date is shown if it is not today. */
function toClock(at: string): { readonly date: string; readonly time: string } {
  const then = new Date(at);
  const isToday = then.toDateString() === new Date().toDateString();
  return { date: isToday ? '' : day.format(then), time: clock.format(then) };
}

export function OutcomeBadge({ row: { outcome, status } }: { readonly row: LedgerRow }) {
  const { label, state } = outcomeLooks[outcome];
  return <StatusBadge state={state} label={status === 0 || status === 499 ? label : `${label} ${status}`} />;
}

const TwoLines = ({ first, second }: { readonly first: string; readonly second: string }) => (
  <>
    <Text size="sm" truncate title={first}>
      {first === '' ? <Nothing /> : first}
    </Text>
    {second !== '' && (
      <Remark truncate title={second}>
        {second}
      </Remark>
    )}
  </>
);

/** The billed usage, as short as possible. */
function UsageOf({ row }: { readonly row: LedgerRow }) {
  const { billedInputTokens, billedOutputTokens, billedSearchUnits, isEstimated } = row;
  const parts = [
    ...(billedSearchUnits ? [`${formatCount(billedSearchUnits)} ${billedSearchUnits === 1 ? 'unit' : 'units'}`] : []),
    ...tokenWords(billedInputTokens ?? 0, billedOutputTokens ?? 0),
  ];
  if (parts.length === 0) return <Nothing>nothing billed</Nothing>;
  return (
    <Text span inherit className="numeric">
      {isEstimated && (
        <abbr title="Estimated: the upstream did not say all of it" className="estimate">
          est.{' '}
        </abbr>
      )}
      {parts.join(', ')}
    </Text>
  );
}

function tokenWords(input: number, output: number): string[] {
  if (input > 0 && output > 0) return [`${formatCount(input)} in`, `${formatCount(output)} out`];
  if (output > 0) return [`${formatCount(output)} out`];
  return input > 0 ? [`${formatCount(input)} ${input === 1 ? 'token' : 'tokens'}`] : [];
}

function CostOf({ row: { cost, billedInputTokens } }: { readonly row: LedgerRow }) {
  if (cost !== null) return <Money dollars={cost} />;
  // Nothing is billed, or the price is unknown.
  if (billedInputTokens === null) return <Nothing>none</Nothing>;
  return (
    <Text span inherit c="dimmed" title="No price is known for this model at this upstream">
      unknown
    </Text>
  );
}
