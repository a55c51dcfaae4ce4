/** Labels of the operations, with remarks. */

import { byOperation, canBeShown, type Operation, operationRows, operations } from '../../../../src/admin/contract.ts';

export const operationWords = byOperation((operation) => operationRows[operation].words.all);

/** The label of one request. */
export const requestWords = byOperation((operation) => operationRows[operation].words.one);

export const operationChoices = operations.map((value) => ({ value, label: operationWords[value] }));

/** On routes of these operations a hidden model is refused as unknown; on others it answers to its exact name. */
export const refusesHidden = (operation: Operation): boolean => operationRows[operation].visibleModelsOnly;

/** No sample request exists for these models: they need a file, or a body that only the operator's route defines. */
export const cannotBeTried = (operation: Operation): boolean => !canBeShown(operation);

/** A field's label and help. */
export interface FieldWords {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** A text field if there are none. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

/** The lanes of calls at upstreams. */
export const laneField: FieldWords = {
  label: 'Lane',
  description: 'Which calls go first at a busy upstream: interactive calls before bulk calls.',
  placeholder: 'Interactive',
  choices: [
    { value: 'interactive', label: 'Interactive' },
    { value: 'bulk', label: 'Bulk' },
  ],
};

/** The services that clients may be written for, by display name. */
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

/** Empty if the name gives no hint. */
export function operationsByName(name: string): readonly Operation[] {
  // A reranker is often named after its embedding model, which is later in the list.
  const found = operations.find((operation) => operationRows[operation].namedLike?.test(name.toLowerCase()));
  return found === undefined ? [] : [found];
}
