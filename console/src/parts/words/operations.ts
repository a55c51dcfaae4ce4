/** Labels of the operations, with remarks. */

import { byOperation, canBeShown, type Operation, operationRows, operations } from '../../../../src/admin/contract.ts';

export const operationWords = byOperation((operation) => operationRows[operation].words.all);

/** Of one request. */
export const requestWords = byOperation((operation) => operationRows[operation].words.one);

export const operationChoices = operations.map((value) => ({ value, label: operationWords[value] }));

/** On their routes a hidden model is an unknown one; the others still answer to its exact name. */
export const refusesHidden = (operation: Operation): boolean => operationRows[operation].visibleModelsOnly;

/** There is no request at hand that its models answer: it takes a file, or whatever the operator's own route takes. */
export const cannotBeTried = (operation: Operation): boolean => !canBeShown(operation);

/** A field's label and help. */
export interface FieldWords {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** A text where there are none. */
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

/** The services that clients may have been written for, as people know them. */
export const shapeField = {
  label: 'Its clients were written for',
  placeholder: 'OpenAI, or nobody knows',
  choices: [
    { value: 'cohere', label: 'Cohere' },
    { value: 'jina', label: 'Jina AI' },
    { value: 'voyage', label: 'Voyage AI' },
    { value: 'tei', label: 'Text Embeddings Inference' },
  ],
};

/** Empty where the name says nothing. */
export function operationsByName(name: string): readonly Operation[] {
  // A reranker is often named after the embedding model that it comes from, which is behind it in the list.
  const found = operations.find((operation) => operationRows[operation].namedLike?.test(name.toLowerCase()));
  return found === undefined ? [] : [found];
}
