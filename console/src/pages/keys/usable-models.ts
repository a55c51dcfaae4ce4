/** Which models a key may use, and for what: by the rules of the gateway. */

import {
  type KeyDocument,
  type Operation,
  operationsAsOffered,
  type PlaygroundModel,
} from '../../../../src/admin/contract.ts';

export interface Usable {
  readonly model: string;
  readonly operation: Operation;
}

export function toUsable(
  { models: patterns, operations }: Pick<KeyDocument, 'models' | 'operations'>,
  models: readonly PlaygroundModel[],
): Usable[] {
  const reachable = models.filter(
    ({ id, visible }) => visible && !id.includes('*') && patterns.some((one) => fits(one, id)),
  );
  return operationsAsOffered
    .filter((operation) => operations === undefined || operations.includes(operation))
    .flatMap((operation) =>
      reachable
        .filter((model) => model.operations.includes(operation))
        .map((model) => ({ model: model.id, operation })),
    );
}

/** A pattern has one `*` at most. */
function fits(pattern: string, id: string): boolean {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return pattern === id;
  return id.length >= before.length + after.length && id.startsWith(before) && id.endsWith(after);
}
