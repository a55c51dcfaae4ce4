/** Shows the list of requests, as a table or cards. */

import { Card, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { fitting, useListShape } from '../layout/table.tsx';
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
  /** IDs of rows that have just arrived. */
  readonly fresh: ReadonlySet<string>;
  readonly names: Names;
  readonly openId: string | undefined;
  /** Whether another list is loading, so that this one is outdated. */
  readonly isStale: boolean;
  onOpen(id: string): void;
}

export function RowList({ rows, fresh, names, openId, isStale, onOpen }: RowListProps) {
  const shape = useListShape();
  const search = useSearch();
  const isWide = shape === 'one line';
  const Shown = shape === 'cards' ? RequestCard : RequestRow;
  const shown = rows.map((row) => (
    <Shown
      key={row.id}
      row={row}
      isFresh={fresh.has(row.id)}
      isOpen={row.id === openId}
      isWide={isWide}
      search={search}
      names={names}
      onOpen={onOpen}
    />
  ));
  return (
    <div className={isStale ? 'stale' : undefined} aria-busy={isStale}>
      {shape === 'cards' ? (
        <Stack gap="xs" component="ul" className="plain-list">
          {shown}
        </Stack>
      ) : (
        <RequestTable columns={isWide ? columns : narrowColumns}>{shown}</RequestTable>
      )}
    </div>
  );
}

type Columns = readonly (readonly [title: string, width?: number])[];

/** The columns; those without a width share the remaining width. */
const columns: Columns = [
  ['Time', 104],
  ['Outcome', 150],
  ['Request'],
  ['Key'],
  ['Upstream'],
  ['Usage', 124],
  ['Cost', 96],
  ['Took', 76],
];
const narrowColumns: Columns = [
  ['Time', 100],
  ['Outcome', 138],
  ['Request'],
  ['Key and upstream', 150],
  ['Cost', 100],
  ['Took', 68],
];
const numbers = ['Usage', 'Cost', 'Took'];

interface RequestTableProps {
  readonly columns: Columns;
  readonly children: ReactNode;
}

const RequestTable = ({ columns, children }: RequestTableProps) => (
  <Table {...fitting} verticalSpacing={6} highlightOnHover className="request-table">
    <Table.Caption className="off-screen-caption">
      <VisuallyHidden>Requests, the newest first</VisuallyHidden>
    </Table.Caption>
    <Table.Thead>
      <Table.Tr>
        {columns.map(([title, w]) => (
          <Table.Th key={title} w={w} ta={numbers.includes(title) ? 'right' : undefined}>
            {title}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>{children}</Table.Tbody>
  </Table>
);

interface RequestProps extends Pick<RowListProps, 'names' | 'onOpen'> {
  readonly row: LedgerRow;
  readonly isFresh: boolean;
  readonly isOpen: boolean;
  readonly isWide: boolean;
  /** The query string of the page, for the link that opens the request. */
  readonly search: string;
}

/** One row. It has plain cells, as a live list renders fifty rows a second: Mantine components for their texts would take most of the time. */
const RequestRow = memo(function RequestRow(props: RequestProps) {
  const { row, search, names, isWide } = props;
  const attempts = row.attempts > 1 ? `${row.attempts} attempts` : '';
  const operation = requestWords[row.operation];
  const project = row.project === null ? '' : names.project(row.project);
  return (
    <Table.Tr {...attributesOf(props)}>
      <td>
        <OpenLink row={row} search={search} />
      </td>
      <td>
        <OutcomeBadge row={row} />
        <Note>{row.error ?? ''}</Note>
      </td>
      <td>
        <TwoLines
          first={row.model ?? '–'}
          second={isWide || attempts === '' ? operation : `${operation}, ${attempts}`}
        />
      </td>
      <td>
        <TwoLines first={names.key(row.key)} second={isWide ? project : (row.upstream ?? '')} />
      </td>
      {isWide && (
        <>
          <td>
            <TwoLines first={row.upstream ?? ''} second={attempts} />
          </td>
          <td className="number-cell">
            <UsageOf row={row} />
          </td>
        </>
      )}
      <td className="number-cell">
        <CostOf row={row} />
        {!isWide && (
          <div className="request-note">
            <UsageOf row={row} />
          </div>
        )}
      </td>
      <td className="number-cell">
        <Duration ms={row.durationMs} />
      </td>
    </Table.Tr>
  );
});

const RequestCard = memo(function RequestCard(props: RequestProps) {
  const { row, search, names } = props;
  return (
    <Card component="li" withBorder padding="sm" {...attributesOf(props)}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <OpenLink row={row} search={search} />
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
  );
});

const attributesOf = ({ row, isFresh, isOpen, onOpen }: RequestProps) => ({
  className: isFresh ? 'request-row request-fresh' : 'request-row',
  'data-selected': isOpen || undefined,
  onClick: (event: MouseEvent) => openByRow(event, row.id, onOpen),
});

/** Opens the request at a click on its row, unless text is selected. */
function openByRow(event: MouseEvent, id: string, onOpen: (id: string) => void): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.target instanceof Element && event.target.closest('a, button') !== null) return;
  if ((window.getSelection()?.toString() ?? '') !== '') return;
  onOpen(id);
}

function OpenLink({ row, search }: Pick<RequestProps, 'row' | 'search'>) {
  const query = new URLSearchParams(search);
  query.set('id', row.id);
  const { date, time } = toClock(row.startedAt);
  const what = row.model === null ? requestWords[row.operation] : `${requestWords[row.operation]} with ${row.model}`;
  return (
    <Link
      {...listItem}
      href={`/explorer?${query}`}
      className="request-link"
      title={formatTime(row.startedAt)}
      aria-label={`${date === '' ? time : `${time} ${date}`}, ${what}`}
    >
      <span>{time}</span> {date !== '' && <span className="request-date">{date}</span>}
    </Link>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The time of a row; the date is shown if it is not today. */
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
    <div className="request-text" title={first}>
      {first === '' ? <Nothing /> : first}
    </div>
    <Note>{second}</Note>
  </>
);

const Note = ({ children }: { readonly children: string }) =>
  children !== '' && (
    <div className="request-text request-note" title={children}>
      {children}
    </div>
  );

function UsageOf({ row }: { readonly row: LedgerRow }) {
  const { billedInputTokens, billedOutputTokens, billedSearchUnits, isEstimated } = row;
  const parts = [
    ...(billedSearchUnits ? [`${formatCount(billedSearchUnits)} ${billedSearchUnits === 1 ? 'unit' : 'units'}`] : []),
    ...tokenWords(billedInputTokens ?? 0, billedOutputTokens ?? 0),
  ];
  if (parts.length === 0) return <Nothing>nothing billed</Nothing>;
  return (
    <span className="numeric">
      {isEstimated && (
        <abbr title="Estimated: the upstream did not say all of it" className="estimate">
          est.{' '}
        </abbr>
      )}
      {parts.join(', ')}
    </span>
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
    <span className="tone-quiet" title="No price is known for this model at this upstream">
      unknown
    </span>
  );
}
