/** Shows the tab of keys, with search and results. */

import { Button, Group } from '@mantine/core';
import { Action } from '../../parts/layout/button.tsx';
import { FilterSelect, SearchField, useAddress, useOrder } from '../../parts/layout/filters.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { type KeyFilter, keySorts, useKeys, useProjects, useTrends } from './data.ts';
import { KeyList } from './key-list.tsx';

const filterNames = ['q', 'project', 'state', 'managedBy'] as const satisfies readonly (keyof KeyFilter)[];

export function KeysTab() {
  const [search, change] = useAddress();
  const filter: KeyFilter = {
    q: search.get('q') ?? '',
    project: search.get('project') ?? '',
    state: search.get('state') ?? '',
    managedBy: search.get('managedBy') ?? '',
  };
  const { order, table } = useOrder(keySorts);
  const isFiltered = filterNames.some((name) => filter[name] !== '');
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useKeys(filter, order);
  const trends = useTrends();

  // Between two pages a key may have changed its place.
  const keys = data && [...new Map(data.pages.flatMap(({ items }) => items.map((key) => [key.id, key]))).values()];
  return (
    <>
      <KeyFilters filter={filter} onChange={(name, value) => change({ [name]: value || undefined }, true)} />
      {error !== null && keys === undefined && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && keys === undefined && <Loading rows={6} rowHeight={56} />}
      {keys?.length === 0 &&
        (isFiltered ? (
          <NothingFound
            onClear={() => change(Object.fromEntries(filterNames.map((name) => [name, undefined])), true)}
          />
        ) : (
          <NoKeys onCreate={() => change({ new: 'key' })} />
        ))}
      {keys !== undefined && keys.length > 0 && (
        <KeyList
          keys={keys}
          trends={trends}
          table={table}
          onMore={hasNextPage ? () => void fetchNextPage() : undefined}
          isLoadingMore={isFetchingNextPage}
        />
      )}
    </>
  );
}

const NothingFound = ({ onClear }: { readonly onClear: () => void }) => (
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

const NoKeys = ({ onCreate }: { readonly onCreate: () => void }) => (
  <Empty
    icon="keys"
    title="No keys yet"
    action={
      <Needs role="admin">
        <Action icon="plus" label="Create a key" variant="filled" onClick={onCreate} />
      </Needs>
    }
  >
    Every client of the gateway needs a key. It says which models it may use, how much, and until when. You get a secret
    and calls that are ready to be pasted.
  </Empty>
);

const states = [
  { value: 'active', label: 'Active' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
];
const managers = [
  { value: 'store', label: 'Made here' },
  { value: 'file', label: 'In the file' },
];

interface KeyFiltersProps {
  readonly filter: KeyFilter;
  onChange(name: keyof KeyFilter, value: string): void;
}

function KeyFilters({ filter, onChange }: KeyFiltersProps) {
  const { data } = useProjects();
  const projects = (data?.items ?? []).map(({ id }) => id);
  const known = filter.project === '' || projects.includes(filter.project) ? projects : [...projects, filter.project];
  const propsOf = (name: keyof KeyFilter) => ({
    value: filter[name],
    onChange: (value: string) => onChange(name, value),
  });
  return (
    <Group gap="xs" mb="md" align="flex-end">
      <SearchField
        aria-label="Search keys"
        placeholder="Search by name, ID or note"
        flex={1}
        miw={200}
        {...propsOf('q')}
      />
      <FilterSelect label="State" any="Any state" data={states} w={140} {...propsOf('state')} />
      <FilterSelect
        label="Project"
        any="Any project"
        data={known}
        w={170}
        searchable={known.length > 8}
        {...propsOf('project')}
      />
      <FilterSelect label="Declared in" any="Anywhere" data={managers} w={140} {...propsOf('managedBy')} />
    </Group>
  );
}
