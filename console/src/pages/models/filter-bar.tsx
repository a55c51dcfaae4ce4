/** What narrows the list of models down. It stands in the address bar, so that a look can be shared. */

import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ask } from '../../parts/api/client.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { operationChoices } from '../../parts/words/operations.ts';
import type { FilterState } from './filters.ts';

const typingMs = 200;

const visibilities = [
  { value: 'true', label: 'Visible' },
  { value: 'false', label: 'Hidden' },
];
const managers = [
  { value: 'store', label: 'The console' },
  { value: 'file', label: 'The configuration file' },
  { value: 'built-in', label: 'Its upstream' },
];

export function FilterBar({ state }: { readonly state: FilterState }) {
  const { filters, isFiltered, set, clear } = state;
  const upstreams = useUpstreamNames();
  return (
    <Group role="search" mb="md" gap="xs" align="flex-end">
      <SearchField value={filters.q} onChange={(text) => set('q', text)} />
      <Select
        aria-label="Operation"
        placeholder="Any operation"
        data={operationChoices}
        value={filters.operation || null}
        onChange={(value) => set('operation', value)}
        clearable
        w={160}
      />
      <Select
        aria-label="Upstream"
        placeholder="Any upstream"
        data={upstreams}
        value={filters.upstream || null}
        onChange={(value) => set('upstream', value)}
        clearable
        searchable
        w={160}
      />
      <Select
        aria-label="Visibility"
        placeholder="Visible or not"
        data={visibilities}
        value={filters.visible || null}
        onChange={(value) => set('visible', value)}
        clearable
        w={150}
      />
      <Select
        aria-label="Managed by"
        placeholder="Managed by anyone"
        data={managers}
        value={filters.managedBy || null}
        onChange={(value) => set('managedBy', value)}
        clearable
        w={205}
      />
      {isFiltered && (
        <Button variant="subtle" onClick={clear}>
          Clear
        </Button>
      )}
    </Group>
  );
}

interface SearchFieldProps {
  readonly value: string;
  onChange(text: string): void;
}

/** The list follows once typing rests; the back button changes the field. */
function SearchField({ value, onChange }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const tell = useDebouncedCallback(onChange, typingMs);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      type="search"
      aria-label="Search models"
      placeholder="Search by name, alias or upstream"
      leftSection={<Icon name="search" size={16} />}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        tell(currentTarget.value.trim());
      }}
      flex="1 1 220px"
    />
  );
}

/** Those that serve anything. */
function useUpstreamNames(): string[] {
  const { data } = useQuery({
    queryKey: ['models', 'upstream names'],
    queryFn: ({ signal }) => ask('GET /api/models', { query: { limit: 200 }, signal }),
    staleTime: 60_000,
  });
  const names = data?.items.flatMap(({ targets }) => targets.map(({ upstream }) => upstream)) ?? [];
  return [...new Set(names)].toSorted();
}
