/** What is looked for in the list of models, as the address bar has it. */

import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { managers, operations } from '../../../../src/admin/contract.ts';
import { oneOf } from '../../parts/api/asking.ts';

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
