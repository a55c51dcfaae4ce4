/** What narrows the list of models down. It stands in the address bar, so that a look can be shared. */

import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { managers, operations } from '../../../../src/admin/contract.ts';
import { oneOf } from '../../parts/api/asking.ts';
import { ask } from '../../parts/api/client.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { operationChoices } from '../../parts/words/operations.ts';

const typingMs = 200;

const visibilities = [
  { value: 'true', label: 'Visible' },
  { value: 'false', label: 'Hidden' },
];
const managerChoices = [
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
        data={managerChoices}
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

/** The list follows once typing rests; the back button changes the field. */
function SearchField({ value, onChange }: { readonly value: string; onChange(text: string): void }) {
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

const filterNames = ['q', 'operation', 'upstream', 'visible', 'managedBy'] as const;
type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Record<FilterName, string>>;

export interface FilterState {
  readonly filters: Filters;
  readonly isFiltered: boolean;
  /** The model whose details are open. */
  readonly opened: string | undefined;
  /** The upstream whose models are to be added, as a link from its page has it. */
  readonly addFrom: string | undefined;
  forgetAdding(): void;
  set(name: FilterName, value: string | null): void;
  clear(): void;
  open(id: string | undefined): void;
}

/** What is looked for in the list of models, as the address bar has it. */
export function useFilters(): FilterState {
  const [params, setParams] = useSearchParams();
  const filters = useMemo(
    () => Object.fromEntries(filterNames.map((name) => [name, params.get(name) ?? ''])) as Filters,
    [params],
  );
  const change = useCallback(
    (edit: (next: URLSearchParams) => void, replace: boolean) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          edit(next);
          return next;
        },
        { replace },
      ),
    [setParams],
  );
  return {
    filters,
    isFiltered: filterNames.some((name) => filters[name] !== ''),
    opened: params.get('model') ?? undefined,
    addFrom: params.get('add') ?? undefined,
    forgetAdding: () => change((next) => next.delete('add'), true),
    set: (name, value) =>
      change((next) => {
        if (value === null || value === '') next.delete(name);
        else next.set(name, value);
      }, true),
    clear: () =>
      change((next) => {
        for (const name of filterNames) next.delete(name);
      }, true),
    open: (id) =>
      change((next) => {
        if (id === undefined) next.delete('model');
        else next.set('model', id);
      }, false),
  };
}

/** What the API is asked with. */
export const toQuery = ({ q, operation, upstream, visible, managedBy }: Filters) => ({
  q,
  operation: oneOf(operations, operation),
  upstream,
  visible: oneOf(['true', 'false'], visible),
  managedBy: oneOf(managers, managedBy),
});
