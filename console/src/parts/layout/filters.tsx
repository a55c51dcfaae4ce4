/** Shows filters of a list, which are kept in the URL so that a view can be saved and shared. */

import { Select, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { withParameters } from '../api/asking.ts';
import { Icon } from '../marks/icon.tsx';
import type { Sorting } from './table.tsx';

type Changes = Parameters<typeof withParameters>[1];

/** Query parameters of the page's URL, and a function to change some; a change is added to the history unless it replaces. */
export function useAddress() {
  const [parameters, set] = useSearchParams();
  const change = useCallback(
    (changes: Changes, replace = false): void => set((before) => withParameters(before, changes), { replace }),
    [set],
  );
  return [parameters, change] as const;
}

/** The order of a list, kept in the URL. `sorts`: the API's sort orders by the titles of the columns. */
export function useOrder<S extends string>(sorts: Readonly<Record<string, S>>) {
  const [parameters, change] = useAddress();
  const by = Object.keys(sorts).find((title) => sorts[title] === parameters.get('sort'));
  const sort = by === undefined ? undefined : sorts[by];
  const direction = parameters.get('direction') === 'asc' ? ('asc' as const) : ('desc' as const);
  return {
    order: sort && { sort, direction },
    table: {
      ...(by !== undefined && { sorting: { by, isDescending: direction === 'desc' } }),
      onSort: (next: Sorting) => change({ sort: sorts[next.by], direction: next.isDescending ? 'desc' : 'asc' }, true),
    },
  };
}

interface FilterSelectProps {
  readonly label: string;
  readonly any: string;
  readonly data: readonly (string | { readonly value: string; readonly label: string })[];
  readonly value: string;
  onChange(value: string): void;
  readonly w: number;
  readonly searchable?: boolean;
}

export const FilterSelect = ({ label, any, data, value, onChange, w, searchable = false }: FilterSelectProps) => (
  <Select
    aria-label={label}
    placeholder={any}
    data={[...data]}
    value={value || null}
    onChange={(next) => onChange(next ?? '')}
    clearable
    searchable={searchable}
    w={w}
  />
);

const typingMs = 200;

interface SearchFieldProps extends Omit<TextInputProps, 'onChange' | 'value'> {
  readonly value: string;
  onChange(text: string): void;
}

/** A search field. The list changes once typing pauses; the back button changes the field. */
export function SearchField({ value, onChange, ...props }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const changeLater = useDebouncedCallback(onChange, typingMs);
  useEffect(() => setText((before) => (before.trim() === value ? before : value)), [value]);
  return (
    <TextInput
      type="search"
      leftSection={<Icon name="search" size={16} />}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        changeLater(currentTarget.value.trim());
      }}
      {...props}
    />
  );
}
