/** Defines the labels of the operations, with remarks. */

import { byOperation, canBeShown, type Operation, operationRows, operations } from '../../../../src/admin/contract.ts';

export const operationWords = byOperation((operation) => operationRows[operation].words.all);

export const requestWords = byOperation((operation) => operationRows[operation].words.one);

export const operationChoices = operations.map((value) => ({ value, label: operationWords[value] }));

/** Whether routes of the operation refuse a hidden model as unknown; on others it answers to its exact name. */
export const refusesHidden = (operation: Operation): boolean => operationRows[operation].visibleModelsOnly;

/** Whether models of the operation cannot be tried with a sample request: it needs a file, or a body that only the operator's route defines. */
export const cannotBeTried = (operation: Operation): boolean => !canBeShown(operation);

export interface FieldWords {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** The choices; undefined for a text field. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

/** Field for the lane (interactive or bulk) of calls at upstreams. */
export const laneField: FieldWords = {
  label: 'Lane',
  description: 'Which calls go first at a busy upstream: interactive calls before bulk calls.',
  placeholder: 'Interactive',
  choices: [
    { value: 'interactive', label: 'Interactive' },
    { value: 'bulk', label: 'Bulk' },
  ],
};

/** Field for the service that a client was written for, by display names. */
export const shapeField = {
  label: 'Clients of this key use the format of',
  placeholder: 'OpenAI, or unknown',
  choices: [
    { value: 'cohere', label: 'Cohere' },
    { value: 'jina', label: 'Jina AI' },
    { value: 'voyage', label: 'Voyage AI' },
    { value: 'tei', label: 'Text Embeddings Inference' },
  ],
};

/** The operations that a model's name suggests; empty if it gives no hint. */
export function operationsByName(name: string): readonly Operation[] {
  // A reranker is often named after its embedding model, which is later in the list.
  const found = operations.find((operation) => operationRows[operation].namedLike?.test(name.toLowerCase()));
  return found === undefined ? [] : [found];
}
