/** Shows the filters of the model list, which are kept in the URL so that a view can be shared. */

import { Button, Group } from '@mantine/core';
import { useMemo } from 'react';
import { managers, operations } from '../../../../src/admin/contract.ts';
import { oneOf } from '../../parts/api/asking.ts';
import { trafficSorts } from '../../parts/explorer/traffic.ts';
import { FilterSelect, SearchField, useAddress, useOrder } from '../../parts/layout/filters.tsx';
import { useUpstreams } from '../../parts/models/pick-models.tsx';
import { operationChoices } from '../../parts/words/operations.ts';

const visibilities = [
  { value: 'true', label: 'Visible' },
  { value: 'false', label: 'Hidden' },
];
const managerChoices = [
  { value: 'store', label: 'The console' },
  { value: 'file', label: 'The configuration file' },
  { value: 'built-in', label: 'Its upstream' },
];

export function FilterBar({ state: { filters, isFiltered, set, clear } }: { readonly state: FilterState }) {
  const propsOf = (name: FilterName) => ({ value: filters[name], onChange: (value: string) => set(name, value) });
  const { data: upstreams = [] } = useUpstreams();
  // Only upstreams that serve a model.
  const names = upstreams.flatMap(({ id, models }) => (models.length > 0 ? id : [])).toSorted();
  return (
    <Group role="search" mb="md" gap="xs" align="flex-end">
      <SearchField
        aria-label="Search models"
        placeholder="Search by name, alias or upstream"
        flex="1 1 220px"
        {...propsOf('q')}
      />
      <FilterSelect label="Operation" any="Any operation" data={operationChoices} w={160} {...propsOf('operation')} />
      <FilterSelect label="Upstream" any="Any upstream" data={names} w={160} searchable {...propsOf('upstream')} />
      <FilterSelect label="Visibility" any="Visible or not" data={visibilities} w={150} {...propsOf('visible')} />
      <FilterSelect
        label="Managed by"
        any="Managed by anyone"
        data={managerChoices}
        w={205}
        {...propsOf('managedBy')}
      />
      {isFiltered && (
        <Button variant="subtle" onClick={clear}>
          Clear
        </Button>
      )}
    </Group>
  );
}

const filterNames = ['q', 'operation', 'upstream', 'visible', 'managedBy'] as const;
type FilterName = (typeof filterNames)[number];
export type Filters = Readonly<Record<FilterName, string>>;

const modelSorts = { Model: 'name', ...trafficSorts } as const;

export interface FilterState extends ReturnType<typeof useOrder<(typeof modelSorts)[keyof typeof modelSorts]>> {
  readonly filters: Filters;
  readonly isFiltered: boolean;
  readonly opened: string | undefined;
  /** The upstream whose models are to be added, if a link on its page led here. */
  readonly addFrom: string | undefined;
  forgetAdding(): void;
  set(name: FilterName, value: string): void;
  clear(): void;
  open(id: string | undefined): void;
}

export function useFilters(): FilterState {
  const [params, change] = useAddress();
  const filters = useMemo(
    () => Object.fromEntries(filterNames.map((name) => [name, params.get(name) ?? ''])) as Filters,
    [params],
  );
  const order = useOrder(modelSorts);
  return {
    ...order,
    filters,
    isFiltered: filterNames.some((name) => filters[name] !== ''),
    opened: params.get('model') ?? undefined,
    addFrom: params.get('add') ?? undefined,
    forgetAdding: () => change({ add: undefined }, true),
    set: (name, value) => change({ [name]: value || undefined }, true),
    clear: () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])), true),
    open: (id) => change({ model: id }),
  };
}

export const toQuery = ({ q, operation, upstream, visible, managedBy }: Filters) => ({
  q,
  operation: oneOf(operations, operation),
  upstream,
  visible: oneOf(['true', 'false'], visible),
  managedBy: oneOf(managers, managedBy),
});
