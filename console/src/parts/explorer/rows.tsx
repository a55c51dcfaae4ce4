/** Shows the requests behind the charts above, paged or live, and one of them in a drawer. */

import { Button, Group, Menu, Stack, Switch, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type Ref, useCallback, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { toAddress } from '../api/asking.ts';
import { Action } from '../layout/button.tsx';
import { useAddress } from '../layout/filters.tsx';
import { Empty, Failed, Loading } from '../layout/state.tsx';
import { Muted } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { formatCount } from '../words/format.ts';
import { DetailDrawer } from './detail-drawer.tsx';
import { canBeFollowed, type Filters, isNarrowed, isOneQuery, toQuery } from './filters.ts';
import { ledgerPageQuery, type Names, rowsPerPage, toExportHref } from './ledger-data.ts';
import { RowList } from './row-list.tsx';
import { mostShown } from './tail-rows.ts';
import { type Tail, useTail } from './use-tail.ts';

/** If the top of the list is further out of sight than this, the user reads further down, and new rows would move the text. */
const atTopPx = 80;

const emptyAgainMs = 2_000;

interface RowsProps {
  readonly filters: Filters;
  readonly names: Names;
  onWiden(filters: Filters): void;
}

export function Rows({ filters, names, onWiden }: RowsProps) {
  const [query, change] = useAddress();
  const before = query.get('before') ?? undefined;
  const id = query.get('id') ?? undefined;
  const list = useRef<HTMLDivElement>(null);
  const isUnderPointer = useRef(false);

  // The live list has no search and no end, and belongs on top of the newest page.
  const canFollow = before === undefined && filters.search === '' && filters.to === undefined && canBeFollowed(filters);
  const isFollowing = canFollow && query.get('live') === '1';
  const page = useQuery({
    ...ledgerPageQuery(filters, before),
    // Without rows the page polls for the first one; otherwise the list stays.
    refetchInterval: ({ state }) =>
      !isFollowing && before === undefined && state.data?.items.length === 0 && emptyAgainMs,
  });
  // New rows are within every preset: its start is left out, as it moves.
  const { key, project, model, upstream, operation, outcome, status } = toQuery(filters, 0);
  const tailQuery = { key, project, model, upstream, operation, outcome, status };
  const tail = useTail({
    address: isFollowing ? toAddress('GET /api/ledger/tail', { query: tailQuery }) : undefined,
    isHeld: () => isUnderPointer.current || isReadFurtherDown(list.current),
    onReady: () => void page.refetch(),
  });
  useReleaseAtTop(tail, list, isUnderPointer);

  const open = useCallback((next: string): void => change({ id: next }), [change]);
  const goTo = (cursor: string | undefined): void => change({ before: cursor });
  const items = page.data?.items ?? [];
  // A full tail may lack some between its oldest row and the page.
  const below = tail.shown.length < mostShown ? items : [];
  const rows = isFollowing ? withoutTwins([...tail.shown, ...below]).slice(0, mostShown) : items;

  return (
    <Stack gap="sm" component="section" aria-label="Requests">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          Requests of this selection
        </Title>
        <Group gap="sm">
          <LiveSwitch
            isOn={isFollowing}
            canFollow={canFollow}
            tail={tail}
            onChange={(on) => change({ live: on ? '1' : undefined })}
          />
          <ExportMenu filters={filters} />
        </Group>
      </Group>
      <Box
        box={list}
        onPointerIn={() => {
          isUnderPointer.current = true;
        }}
        onPointerOut={() => {
          isUnderPointer.current = false;
          if (!isReadFurtherDown(list.current)) tail.release();
        }}
      >
        {isFollowing && <HeldRows tail={tail} />}
        {page.isPending && <Loading rows={10} rowHeight={48} />}
        {page.isError && <Failed error={page.error} onRetry={() => void page.refetch()} />}
        {page.isSuccess && rows.length === 0 && (
          <NoRows filters={filters} isFollowing={isFollowing} hasMore={page.data.next !== null} onWiden={onWiden} />
        )}
        {rows.length > 0 && !page.isError && (
          <RowList
            rows={rows}
            fresh={tail.fresh}
            names={names}
            openId={id}
            isStale={page.isPlaceholderData}
            onOpen={open}
          />
        )}
      </Box>
      <Pager next={page.data?.next ?? undefined} before={before} count={items.length} onGo={goTo} />
      <DetailDrawer
        id={id}
        names={names}
        ids={rows.map((row) => row.id)}
        onOpen={(next) => change({ id: next }, true)}
        onClose={() => change({ id: undefined })}
      />
    </Stack>
  );
}

const withoutTwins = (rows: readonly LedgerRow[]): LedgerRow[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

interface Held<T> {
  readonly current: T;
}

const isReadFurtherDown = (list: Element | null): boolean =>
  list !== null && list.getBoundingClientRect().top < -atTopPx;

function useReleaseAtTop(
  { release, heldCount }: Tail,
  list: Held<Element | null>,
  isUnderPointer: Held<boolean>,
): void {
  useEffect(() => {
    if (heldCount === 0) return;
    const look = (): void => {
      if (!isReadFurtherDown(list.current) && !isUnderPointer.current) release();
    };
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  });
}

interface BoxProps {
  readonly box: Ref<HTMLDivElement>;
  onPointerIn(): void;
  onPointerOut(): void;
  readonly children: ReactNode;
}

/** A box that reports when a mouse enters and leaves; touch does not count, as it does not hover. */
const Box = ({ box, onPointerIn, onPointerOut, children }: BoxProps) => (
  <div
    ref={box}
    onPointerEnter={({ pointerType }) => pointerType === 'mouse' && onPointerIn()}
    onPointerLeave={({ pointerType }) => pointerType === 'mouse' && onPointerOut()}
  >
    {children}
  </div>
);

const stateWords: Readonly<Record<Tail['state'], string>> = {
  off: 'Live',
  connecting: 'Connecting',
  live: 'Live',
  waiting: 'Waiting',
};

interface LiveSwitchProps {
  readonly isOn: boolean;
  readonly canFollow: boolean;
  readonly tail: Tail;
  onChange(on: boolean): void;
}

function LiveSwitch({ isOn, canFollow, tail, onChange }: LiveSwitchProps) {
  const { state, hasSkipped } = tail;
  const why = canFollow
    ? 'Shows requests as they end'
    : 'Only on the newest page, without a search, an end, or a filter that joins several outcomes';
  return (
    <Group gap={6} wrap="nowrap" title={hasSkipped ? 'More requests come than are shown' : why}>
      <Switch
        label={isOn ? stateWords[state] : 'Live'}
        checked={isOn}
        disabled={!canFollow}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {isOn && <span className={`live-dot live-dot-${state}`} aria-hidden="true" />}
    </Group>
  );
}

/** The button to show held rows. It has a fixed height, so that nothing moves when it appears or disappears. */
function HeldRows({ tail: { heldCount, release } }: { readonly tail: Tail }) {
  return (
    <div className="held" role="status">
      {heldCount > 0 && (
        <Button size="compact-sm" radius="xl" onClick={release} leftSection={<Icon name="up" size={14} />}>
          {formatCount(heldCount)} new
        </Button>
      )}
    </div>
  );
}

function ExportMenu({ filters }: { readonly filters: Filters }) {
  const formats = [
    { format: 'csv', label: 'As CSV, for spreadsheets' },
    { format: 'ndjson', label: 'As lines of JSON, for scripts' },
  ] as const;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Action
          icon="download"
          label="Export"
          disabled={!isOneQuery(filters)}
          title={isOneQuery(filters) ? undefined : 'Narrow to one outcome'}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>What is narrowed here, 100,000 rows at most</Menu.Label>
        {formats.map(({ format, label }) => (
          <Menu.Item
            key={format}
            component="a"
            href={toExportHref(filters, format)}
            download={`postern-requests.${format}`}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface NoRowsProps {
  readonly filters: Filters;
  readonly isFollowing: boolean;
  /** Whether there are older rows: only the newest hours were searched so far. */
  readonly hasMore: boolean;
  onWiden(filters: Filters): void;
}

function NoRows({ filters, isFollowing, hasMore, onWiden }: NoRowsProps) {
  if (isFollowing) {
    return (
      <Empty icon="live" title="Waiting for requests">
        They appear here as they end. Send one with a key, or try something in the playground.
      </Empty>
    );
  }
  if (hasMore) {
    return (
      <Empty icon="filter" title="None among the newest rows">
        Many hours may have one, and not all of them were looked at. Go on with Older, or narrow the time.
      </Empty>
    );
  }
  const isWidest = filters.range === '30d';
  if (isNarrowed(filters) || !isWidest) {
    return (
      <Empty
        icon="filter"
        title="No request fits"
        action={
          <Group gap="xs">
            {isNarrowed(filters) && (
              <Button variant="default" onClick={() => onWiden({ ...filters, search: '', values: {} })}>
                Clear the filters
              </Button>
            )}
            {!isWidest && (
              <Button
                variant="default"
                onClick={() => onWiden({ ...filters, range: '30d', from: undefined, to: undefined })}
              >
                Show the last 30 days
              </Button>
            )}
          </Group>
        }
      >
        Widen the time, or take a filter away. A request that is still running is not in here yet.
      </Empty>
    );
  }
  return (
    <Empty
      icon="requests"
      title="No request yet"
      action={
        <>
          <Button component={Link} href="/keys">
            Make a key
          </Button>
          <Button component={Link} href="/playground" variant="default">
            Open the playground
          </Button>
        </>
      }
    >
      Make a key, and send a request with it: a moment later it is here, with what it used and what it cost.
    </Empty>
  );
}

interface PagerProps {
  readonly next: string | undefined;
  readonly before: string | undefined;
  readonly count: number;
  onGo(cursor: string | undefined): void;
}

function Pager({ next, before, count, onGo }: PagerProps) {
  // The cursors of the former pages; empty after following a link.
  const [trail, setTrail] = useState<readonly (string | undefined)[]>([]);
  if (next === undefined && before === undefined) return null;
  const goOlder = (): void => {
    // That page is on its way already.
    if (next === before) return;
    setTrail(before === undefined ? [undefined] : [...trail, before]);
    onGo(next);
  };
  const goNewer = (): void => {
    setTrail(trail.slice(0, -1));
    onGo(trail.at(-1));
  };
  return (
    <Group justify="space-between" component="nav" aria-label="Pages of requests">
      <Muted>
        {count === rowsPerPage ? `${formatCount(rowsPerPage)} a page` : `${formatCount(count)} on this page`}
      </Muted>
      <Group gap="xs">
        {before !== undefined && (
          <Button variant="default" size="sm" onClick={() => onGo(undefined)}>
            Newest
          </Button>
        )}
        {before !== undefined && trail.length > 1 && (
          <Button variant="default" size="sm" onClick={goNewer}>
            Newer
          </Button>
        )}
        {next !== undefined && (
          <Button variant="default" size="sm" onClick={goOlder}>
            Older
          </Button>
        )}
      </Group>
    </Group>
  );
}
