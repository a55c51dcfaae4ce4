/** Sends the queries and changes of the Models page. */

import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Model, ModelDetail, ModelPage, ModelTestAnswer, Operation } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, type Versioned } from '../../parts/api/client.ts';
import { notifyFailed, notifyWithUndo } from '../../parts/dialogs/undo.tsx';
import { refreshModels } from '../../parts/models/pick-models.tsx';
import { type FilterState, type Filters, toQuery } from './filter-bar.tsx';

const pageSize = 100;
const healthEveryMs = 5_000;
/** Time until the gateway has applied a write. */
const settlingMs = 700;

export function useModels(filters: Filters, order: FilterState['order']) {
  const query = { ...toQuery(filters), ...order };
  return useInfiniteQuery({
    queryKey: ['models', 'list', query],
    queryFn: ({ pageParam: before, signal }) =>
      ask('GET /api/models', { query: { ...query, limit: pageSize, before }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(({ inForce }) => !inForce)) ? settlingMs : healthEveryMs,
  });
}

/** The details of a model. Not fetched while the model is being deleted, as it may be gone. */
export function useModel(id: string, isGoing: boolean) {
  return useQuery({
    queryKey: ['models', 'one', id],
    queryFn: ({ signal }) => askVersioned('GET /api/models/:id', { params: { id }, signal }),
    enabled: !isGoing,
    refetchInterval: ({ state }) => (state.data?.data.inForce === false ? settlingMs : healthEveryMs),
  });
}

export const readModel = (id: string): Promise<Versioned<ModelDetail>> =>
  askVersioned('GET /api/models/:id', { params: { id } });

export const removeModel = (id: string, version: number): Promise<void> =>
  ask('DELETE /api/models/:id', { params: { id }, headers: { 'if-match': `"${version}"` } });

export const tryModel = (id: string, operation: Operation): Promise<ModelTestAnswer> =>
  ask('POST /api/models/:id/test', { params: { id }, body: { operation } });

type Pages = InfiniteData<ModelPage>;

/** Changes whether clients see a model. The switch moves at once, and moves back if the gateway refuses. */
export function useVisibility() {
  const queries = useQueryClient();
  const { mutate, mutateAsync, variables, isPending } = useMutation({
    mutationFn: ({ id, visible }: Visibility) => ask('PATCH /api/models/:id', { params: { id }, body: { visible } }),
    onMutate: async ({ id, visible }) => {
      await queries.cancelQueries({ queryKey: ['models'] });
      const before = queries.getQueriesData({ queryKey: ['models'] });
      queries.setQueriesData<Pages>({ queryKey: ['models', 'list'] }, (pages) => withVisible(pages, id, visible));
      queries.setQueryData<Versioned<ModelDetail>>(
        ['models', 'one', id],
        (one) => one && { ...one, data: { ...one.data, visible } },
      );
      return before;
    },
    onError: (error, { isUndo = false }, before = []) => {
      for (const [key, pages] of before) queries.setQueryData(key, pages);
      // An undo reports its own failure.
      if (!isUndo) notifyFailed(error);
    },
    onSuccess: (_written, { id, visible, isUndo = false }) => {
      if (isUndo) return;
      notifyWithUndo({
        message: visible ? `Clients see ${id} now.` : `${id} is hidden from clients now.`,
        undo: () => mutateAsync({ id, visible: !visible, isUndo: true }),
      });
    },
    onSettled: () => refreshModels(queries),
  });
  return {
    setVisible: (id: string, visible: boolean) => mutate({ id, visible }),
    pending: isPending ? variables.id : undefined,
  };
}

interface Visibility {
  readonly id: string;
  readonly visible: boolean;
  readonly isUndo?: boolean;
}

function withVisible(pages: Pages | undefined, id: string, visible: boolean): Pages | undefined {
  if (pages === undefined) return undefined;
  const change = <T extends Model>(model: T): T => (model.id === id ? { ...model, visible } : model);
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: page.items.map(change) })) };
}
