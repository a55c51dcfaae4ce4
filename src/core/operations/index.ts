/** Collects all operations, in the order that lists show, and answers questions about them: paths, sample requests, companions. */

import { speech, transcriptions, translations } from './audio.ts';
import { chat } from './chat.ts';
import { completions } from './completions.ts';
import { edits } from './edits.ts';
import { embeddings } from './embeddings.ts';
import { generate } from './generate.ts';
import { imageEdits, images, imageVariations } from './images.ts';
import { countTokens, messages } from './messages.ts';
import { moderations } from './moderations.ts';
import { own } from './own.ts';
import { rerank } from './rerank.ts';
import { responses } from './responses.ts';
import type { OperationRow } from './row.ts';

const rows = {
  completions,
  edits,
  rerank,
  moderations,
  embeddings,
  chat,
  messages,
  count_tokens: countTokens,
  responses,
  generate,
  images,
  speech,
  image_edits: imageEdits,
  image_variations: imageVariations,
  transcriptions,
  translations,
  own,
} as const;

export type Operation = keyof typeof rows;

export const operationRows: Readonly<Record<Operation, OperationRow>> = Object.freeze(rows);

export const operations: readonly [Operation, ...Operation[]] = Object.freeze(
  Object.keys(rows) as [Operation, ...Operation[]],
);

/** Whether requests name the model in the path, and not in the body. */
export const hasModelInPath = ({ path }: OperationRow): boolean => path.includes('{model}');

/** Whether the operation has a sample request that every model can answer, without a file. */
export const canBeShown = (operation: Operation): boolean =>
  operationRows[operation].form === undefined && operationRows[operation].isOperators !== true;

/** The path that clients call for a model; where the path holds the model's name, it is encoded as one segment. */
export const pathOf = (operation: Operation, model: string): string =>
  operationRows[operation].path.replace('{model}', () => encodeURIComponent(model));

/** Companions of the operations in `served` that are missing there although `isServed` accepts them. */
export const companionsOf = (served: readonly Operation[], isServed: (operation: Operation) => boolean): Operation[] =>
  operations.filter((operation) => {
    const { companionOf } = operationRows[operation];
    return served.some((one) => one === companionOf) && !served.includes(operation) && isServed(operation);
  });

export function bodyOf(
  operation: Operation,
  model: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return hasModelInPath(operationRows[operation]) ? fields : { model, ...fields };
}

export function byOperation<T>(make: (operation: Operation) => T): Readonly<Record<Operation, T>> {
  const made = operations.map((operation) => [operation, make(operation)] as const);
  return Object.freeze(Object.fromEntries(made)) as Record<Operation, T>;
}

export const operationsAsOffered: readonly Operation[] = operations.toSorted(
  (one, other) => operationRows[one].offered - operationRows[other].offered,
);
