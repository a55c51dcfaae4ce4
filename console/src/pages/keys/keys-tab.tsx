/** The tab of the keys: what is looked for, and what is found. */

import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Action } from '../../parts/layout/button.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { type KeyFilter, useKeys, useProjects, useTrends } from './data.ts';
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
          <Action icon="plus" label="Create a key" variant="filled" onClick={onCreate} />
        </Needs>
      }
    >
      Whoever calls the gateway needs a key. It says which models it may use, how much, and until when. You get a secret
      and calls that are ready to be pasted.
    </Empty>
  );
}

interface KeyFiltersProps {
  readonly filter: KeyFilter;
  readonly onChange: (change: Partial<KeyFilter>) => void;
}

const typingMs = 250;

/** By what keys are looked for; it stands in the address, so that it can be kept and sent on. */
function KeyFilters({ filter, onChange }: KeyFiltersProps) {
  const { data } = useProjects();
  const projects = (data?.items ?? []).map(({ id }) => id);
  const known = filter.project === '' || projects.includes(filter.project) ? projects : [...projects, filter.project];
  return (
    <Group gap="xs" mb="md" align="flex-end">
      <SearchField value={filter.q} onChange={(q) => onChange({ q })} />
      <Select
        aria-label="State"
        placeholder="Any state"
        data={[
          { value: 'active', label: 'Active' },
          { value: 'expired', label: 'Expired' },
          { value: 'revoked', label: 'Revoked' },
        ]}
        value={filter.state || null}
        onChange={(state) => onChange({ state: state ?? '' })}
        clearable
        w={140}
      />
      <Select
        aria-label="Project"
        placeholder="Any project"
        data={known}
        value={filter.project || null}
        onChange={(project) => onChange({ project: project ?? '' })}
        clearable
        searchable={known.length > 8}
        w={170}
      />
      <Select
        aria-label="Declared in"
        placeholder="Anywhere"
        data={[
          { value: 'store', label: 'Made here' },
          { value: 'file', label: 'In the file' },
        ]}
        value={filter.managedBy || null}
        onChange={(managedBy) => onChange({ managedBy: managedBy ?? '' })}
        clearable
        w={140}
      />
    </Group>
  );
}

function SearchField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const later = useDebouncedCallback(onChange, typingMs);
  // Going back in the history changes it as well.
  useEffect(() => setTyped(value), [value]);
  return (
    <TextInput
      aria-label="Search keys"
      placeholder="Search by name, ID or note"
      type="search"
      leftSection={<Icon name="search" size={16} />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        later(event.currentTarget.value);
      }}
      flex={1}
      miw={200}
    />
  );
}
