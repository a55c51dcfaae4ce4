/** Shows filters by time, dimensions and ID; active ones are removable chips. */

import { Autocomplete, Badge, Button, Group, Pill, Popover, Select, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { requestResults, seriesDimensions } from '../../../../src/admin/contract.ts';
import { Icon } from '../marks/icon.tsx';
import { outcomeWords, resultWords } from '../words/labels.ts';
import { requestWords } from '../words/operations.ts';
import {
  type Field,
  type Filters,
  fields,
  fieldWords,
  noFilters,
  type Range,
  ranges,
  standardRange,
} from './filters.ts';
import type { Names } from './ledger-data.ts';

interface FilterBarProps {
  readonly filters: Filters;
  onChange(filters: Filters): void;
  readonly names: Names;
  /** Whether to leave out filters that only apply to ledger rows. */
  readonly isOfSums: boolean;
  readonly actions: ReactNode;
}

const ownTime = 'own';

export function FilterBar(props: FilterBarProps) {
  const { filters, onChange, names, isOfSums, actions } = props;
  const offered: readonly Field[] = isOfSums ? seriesDimensions : fields;
  const count = offered.filter((field) => filters.values[field] !== undefined).length;
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between">
        <Group gap="xs" className="filter-controls">
          {!isOfSums && <Search filters={filters} onChange={onChange} />}
          <TimeChoice filters={filters} onChange={onChange} />
          <Popover position="bottom-start" shadow="md" width={300} trapFocus withinPortal>
            <Popover.Target>
              <Button
                variant="default"
                leftSection={<Icon name="filter" size={16} />}
                {...(count === 0 ? {} : { rightSection: <Badge size="sm">{count}</Badge> })}
              >
                Filter
              </Button>
            </Popover.Target>
            <Popover.Dropdown>
              <FieldForm filters={filters} onChange={onChange} names={names} offered={offered} />
            </Popover.Dropdown>
          </Popover>
        </Group>
        <Group gap="sm">{actions}</Group>
      </Group>
      <Chips filters={filters} onChange={onChange} names={names} offered={offered} />
    </Stack>
  );
}

type Part = Pick<FilterBarProps, 'filters' | 'onChange'>;

/** The search field. Its text is applied when typing ends, not with every letter. */
function Search({ filters, onChange }: Part) {
  const [text, setText] = useState(filters.search);
  useEffect(() => setText(filters.search), [filters.search]);
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (text.trim() !== filters.search) onChange({ ...filters, search: text.trim() });
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        type="search"
        aria-label="Request ID, yours or the client's"
        placeholder="Request ID"
        leftSection={<Icon name="search" size={16} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => submit()}
        autoComplete="off"
        spellCheck={false}
        w={210}
      />
    </form>
  );
}

function TimeChoice({ filters, onChange }: Part) {
  const hasOwn = filters.from !== undefined || filters.to !== undefined;
  const [isOpen, setOpen] = useState(hasOwn);
  const isOwn = hasOwn || isOpen;
  const choose = (value: string | null): void => {
    setOpen(value === ownTime);
    if (value === ownTime || value === null) return;
    onChange({ ...filters, range: value as Range, from: undefined, to: undefined });
  };
  return (
    <>
      <Select
        aria-label="Time"
        data={[
          ...Object.entries(ranges).map(([value, { label }]) => ({ value, label })),
          { value: ownTime, label: 'Own: from and to' },
        ]}
        value={isOwn ? ownTime : (filters.range ?? standardRange)}
        onChange={choose}
        allowDeselect={false}
        leftSection={<Icon name="clock" size={16} />}
        w={208}
      />
      {isOwn && (
        <>
          <TimeInput
            label="From"
            at={filters.from}
            onChange={(from) => onChange({ ...filters, range: undefined, from })}
          />
          <TimeInput label="To" at={filters.to} onChange={(to) => onChange({ ...filters, range: undefined, to })} />
        </>
      )}
    </>
  );
}

interface TimeInputProps {
  readonly label: string;
  readonly at: string | undefined;
  onChange(at: string | undefined): void;
}

/** An input for a time in the user's own time zone. */
function TimeInput({ label, at, onChange }: TimeInputProps) {
  const shown = at === undefined ? '' : toLocal(at);
  const take = (text: string): void => {
    const ms = text === '' ? Number.NaN : new Date(text).getTime();
    const next = Number.isFinite(ms) && ms >= 0 ? new Date(ms).toISOString() : undefined;
    if (next !== at) onChange(next);
  };
  return (
    <TextInput
      key={shown}
      type="datetime-local"
      aria-label={label}
      title={label}
      defaultValue={shown}
      onBlur={(event) => take(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget.value)}
    />
  );
}

function toLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface FieldFormProps extends Part {
  readonly names: Names;
  readonly offered: readonly Field[];
}

function FieldForm({ filters, onChange, names, offered }: FieldFormProps) {
  const set = (field: Field, value: string | null | undefined): void => {
    const { [field]: _, ...others } = filters.values;
    onChange({ ...filters, values: value ? { ...others, [field]: value } : others });
  };
  return (
    <Stack gap="xs">
      {offered.map((field) => {
        const choices = choicesOf(field, names);
        const value = filters.values[field];
        const label = fieldWords[field];
        if (choices.kind === 'fixed') {
          return (
            <Select
              key={field}
              label={label}
              placeholder="Any"
              data={[...choices.data]}
              value={value ?? null}
              onChange={(next) => set(field, next)}
              searchable={choices.data.length > 8}
              clearable
              comboboxProps={{ withinPortal: false }}
            />
          );
        }
        return (
          <FreeText
            key={field}
            label={label}
            data={choices.data}
            value={value ?? ''}
            onTake={(next) => set(field, next)}
            {...freeWords[field]}
          />
        );
      })}
    </Stack>
  );
}

type Choices =
  | { readonly kind: 'fixed'; readonly data: readonly { readonly value: string; readonly label: string }[] }
  /** Any value can be typed, such as one that does not exist any more. */
  | { readonly kind: 'free'; readonly data: readonly string[] };

function choicesOf(field: Field, names: Names): Choices {
  switch (field) {
    case 'key':
      return { kind: 'fixed', data: named(names.keys) };
    case 'project':
      return { kind: 'fixed', data: named(names.projects) };
    case 'model':
      return { kind: 'free', data: names.models };
    case 'upstream':
      return { kind: 'free', data: names.upstreams };
    case 'operation':
      return { kind: 'fixed', data: Object.entries(requestWords).map(([value, label]) => ({ value, label })) };
    case 'outcome':
      return { kind: 'fixed', data: outcomeChoices };
    case 'cache':
      return { kind: 'fixed', data: cacheChoices };
    case 'code':
    case 'status':
    case 'minDurationMs':
    case 'minCost':
    case 'tag':
      return { kind: 'free', data: [] };
  }
}

const outcomeChoices = [
  ...requestResults.map((value) => ({ value, label: resultWords[value] })),
  ...(['error', 'cut', 'lost'] as const).map((value) => ({ value, label: outcomeWords[value] })),
];

const cacheChoices = [
  { value: 'hit', label: 'Hit' },
  { value: 'partial', label: 'Partial' },
  { value: 'miss', label: 'Miss' },
];

/** The choices for a list of names. Where two keys have the same name, the ID is added. A repeated ID is one choice. */
function named(list: Names['keys']): { value: string; label: string }[] {
  const byId = new Map(list.map((one) => [one.id, one.name || one.id]));
  const names = [...byId.values()];
  const isUnique = (name: string): boolean => names.indexOf(name) === names.lastIndexOf(name);
  return [...byId].map(([value, name]) => ({ value, label: isUnique(name) ? name : `${name} (${value})` }));
}

const freeWords: Readonly<Partial<Record<Field, Pick<FreeTextProps, 'unwanted' | 'example'>>>> = {
  status: { unwanted: /\D/g, example: '502' },
  minDurationMs: { unwanted: /\D/g, example: '500' },
  minCost: { unwanted: /[^\d.]/g, example: '0.05' },
  tag: { example: 'team:search' },
};

interface FreeTextProps {
  readonly label: string;
  readonly data: readonly string[];
  readonly value: string;
  /** For numbers: characters that are removed while typing. */
  readonly unwanted?: RegExp;
  readonly example?: string;
  onTake(value: string): void;
}

function FreeText({ label, data, value, unwanted, example, onTake }: FreeTextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const take = (next: string): void => {
    if (next.trim() !== value) onTake(next.trim());
  };
  return (
    <Autocomplete
      label={label}
      placeholder={example === undefined ? 'Any' : `Any, such as ${example}`}
      data={[...new Set(data)]}
      value={text}
      onChange={(next) => setText(unwanted === undefined ? next : next.replace(unwanted, ''))}
      onOptionSubmit={take}
      onBlur={() => take(text)}
      onKeyDown={(event) => event.key === 'Enter' && take(text)}
      inputMode={unwanted === undefined ? 'text' : 'decimal'}
      maxLength={256}
      limit={20}
      clearable
      onClear={() => take('')}
      comboboxProps={{ withinPortal: false }}
      autoComplete="off"
    />
  );
}

function Chips({ filters, onChange, names, offered }: FieldFormProps) {
  const { search, values } = filters;
  const chips: { readonly label: string; readonly without: Filters }[] = [];
  if (search !== '') chips.push({ label: `ID ${search}`, without: { ...filters, search: '' } });
  for (const field of offered) {
    const value = values[field];
    if (value === undefined) continue;
    const { [field]: _, ...others } = values;
    chips.push({
      label: `${fieldWords[field]}: ${toLabel(field, value, names)}`,
      without: { ...filters, values: others },
    });
  }
  if (chips.length === 0) return null;
  return (
    <Group gap={6} role="group" aria-label="Filters">
      {chips.map(({ label, without }) => (
        <Pill
          key={label}
          size="md"
          withRemoveButton
          onRemove={() => onChange(without)}
          removeButtonProps={{ 'aria-label': `Take away ${label}`, 'aria-hidden': false, tabIndex: 0 }}
          className="filter-chip"
        >
          {label}
        </Pill>
      ))}
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={() => onChange({ ...noFilters, range: filters.range, from: filters.from, to: filters.to })}
      >
        Clear all
      </Button>
    </Group>
  );
}

function toLabel(field: Field, value: string, names: Names): string {
  const choices = choicesOf(field, names);
  if (choices.kind === 'free') return value;
  return choices.data.find((choice) => choice.value === value)?.label ?? value;
}
