/** Parses the lists of models that upstreams return. */

import type { ListedModel, ModelList } from '../../core/family.ts';
import type { Operation } from '../../core/operations/index.ts';
import { isMapping } from '../../lib/is-mapping.ts';

type Entry = Readonly<Record<string, unknown>>;

/** A list in OpenAI's shape, `{data: [{id}]}`, which has no operations. */
export const openaiModelList = (path: string): ModelList => listAt(path, 'data', ({ id }) => ({ id }));

/** A list in a field of the answer, or the answer itself as a list; entries without a name are left out. */
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
