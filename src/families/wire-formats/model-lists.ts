/** Parses the model lists of upstreams. */

import type { ListedModel, ModelList } from '../../core/family.ts';
import type { Operation } from '../../core/operations/index.ts';
import { isMapping } from '../../lib/is-mapping.ts';

type Entry = Readonly<Record<string, unknown>>;

/** OpenAI's shape, `{data: [{id}]}`: of what a model does it says nothing. */
export const openaiModelList = (path: string): ModelList => listAt(path, 'data', ({ id }) => ({ id }));

/** A list at a field of the answer, or the answer itself where there is none; what has no name is left out. */
export function listAt(
  path: string,
  field: string | undefined,
  toModel: (entry: Entry) => { readonly id: unknown; readonly operations?: readonly Operation[] | undefined },
): ModelList {
  return {
    path,
    read(body) {
      const list = field === undefined || Array.isArray(body) ? body : isMapping(body) ? body[field] : undefined;
      if (!Array.isArray(list)) return undefined;
      return list.filter(isMapping).flatMap((entry): ListedModel[] => {
        const { id, operations } = toModel(entry);
        if (typeof id !== 'string' || id === '') return [];
        return [operations === undefined ? { id } : { id, operations }];
      });
    },
  };
}

/** What words of the upstream's mean here; undefined where it says nothing. */
export function operationsFor(
  said: unknown,
  meaning: Readonly<Record<string, Operation>>,
): readonly Operation[] | undefined {
  if (!Array.isArray(said)) return undefined;
  const known = said.flatMap((word) =>
    typeof word === 'string' && Object.hasOwn(meaning, word) ? [meaning[word]] : [],
  );
  return [...new Set(known.filter((operation) => operation !== undefined))];
}
