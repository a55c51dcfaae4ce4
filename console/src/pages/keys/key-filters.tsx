/** By what keys are looked for; it stands in the address, so that it can be kept and sent on. */

import { Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';
import { type KeyFilter, useProjects } from './data.ts';

interface KeyFiltersProps {
  readonly filter: KeyFilter;
  readonly onChange: (change: Partial<KeyFilter>) => void;
}

const typingMs = 250;

export function KeyFilters({ filter, onChange }: KeyFiltersProps) {
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
