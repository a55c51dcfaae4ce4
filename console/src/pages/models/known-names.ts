/** What a model is for by its own name, where no list says it: only names that leave no doubt. */

import { type Operation, operationRows, operations } from '../../../../src/admin/contract.ts';

/** Empty where the name says nothing. */
export function operationsByName(name: string): readonly Operation[] {
  // A reranker is often named after the embedding model that it comes from, which is behind it in the list.
  const found = operations.find((operation) => operationRows[operation].namedLike?.test(name.toLowerCase()));
  return found === undefined ? [] : [found];
}
