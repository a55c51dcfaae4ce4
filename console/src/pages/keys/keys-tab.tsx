/** The tab of the keys: what is looked for, and what is found. */

import { Button } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { type KeyFilter, useKeys, useTrends } from './data.ts';
import { KeyFilters } from './key-filters.tsx';
import { KeyList } from './key-list.tsx';

interface KeysTabProps {
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
}

const filterNames = ['q', 'project', 'state', 'managedBy'] as const satisfies readonly (keyof KeyFilter)[];

export function KeysTab({ selected, onSelect }: KeysTabProps) {
  const [search, setSearch] = useSearchParams();
  const filter: KeyFilter = {
    q: search.get('q') ?? '',
    project: search.get('project') ?? '',
    state: search.get('state') ?? '',
    managedBy: search.get('managedBy') ?? '',
  };
  const isFiltered = filterNames.some((name) => filter[name] !== '');
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useKeys(filter);
  const trends = useTrends();

  function change(parts: Partial<KeyFilter>): void {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(parts)) {
          if (value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  }

  const keys = data?.pages.flatMap(({ items }) => items);
  return (
    <>
      <KeyFilters filter={filter} onChange={change} />
      {error !== null && keys === undefined && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && keys === undefined && <Loading rows={6} rowHeight={56} />}
      {keys?.length === 0 &&
        (isFiltered ? (
          <NothingFound onClear={() => change({ q: '', project: '', state: '', managedBy: '' })} />
        ) : (
          <NoKeys onCreate={() => setSearch({ new: 'key' })} />
        ))}
      {keys !== undefined && keys.length > 0 && (
        <KeyList
          keys={keys}
          trends={trends}
          selected={selected}
          onSelect={onSelect}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </>
  );
}

function NothingFound({ onClear }: { readonly onClear: () => void }) {
  return (
    <Empty
      icon="search"
      title="No key fits"
      action={
        <Button variant="default" onClick={onClear}>
          Show all keys
        </Button>
      }
    >
      Look for something else, or leave out a filter.
    </Empty>
  );
}

function NoKeys({ onCreate }: { readonly onCreate: () => void }) {
  return (
    <Empty
      icon="keys"
      title="No keys yet"
      action={
        <Needs role="admin">
          <Button leftSection={<Icon name="plus" size={16} />} onClick={onCreate}>
            Create a key
          </Button>
        </Needs>
      }
    >
      Whoever calls the gateway needs a key. It says which models it may use, how much, and until when. You get a secret
      and calls that are ready to be pasted.
    </Empty>
  );
}
