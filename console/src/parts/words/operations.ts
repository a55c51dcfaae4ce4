/** What people call the operations, and what they have to know of each. */

import { type Operation, operations } from '../../../../src/admin/contract.ts';

export const operationWords: Readonly<Record<Operation, string>> = {
  completions: 'Completions',
  edits: 'Edits',
  rerank: 'Rerank',
  moderations: 'Moderations',
  embeddings: 'Embeddings',
};

/** Of one request. */
export const requestWords: Readonly<Record<Operation, string>> = {
  ...operationWords,
  completions: 'Completion',
  edits: 'Edit',
  moderations: 'Moderation',
};

export const operationChoices = operations.map((value) => ({ value, label: operationWords[value] }));

/** On their routes a hidden model is an unknown one; the others still answer to its exact name. */
const visibleOnly: readonly Operation[] = ['rerank', 'embeddings'];

export const refusesHidden = (operation: Operation): boolean => visibleOnly.includes(operation);
