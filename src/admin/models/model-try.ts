/** The smallest request of each operation: to see whether a model answers. */

import type { Operation } from '../../core/operations/index.ts';

const question = 'Does this model answer?';

export function toTryBody(operation: Operation, model: string): Readonly<Record<string, unknown>> {
  switch (operation) {
    case 'completions':
      return { model, prompt: question, max_tokens: 16 };
    case 'edits':
      return { model, input: 'Does this modle answer?', instruction: 'Fix the spelling.' };
    case 'rerank':
      return { model, query: 'fruit', documents: ['A stone lies in the garden.', 'An apple is a fruit.'] };
    case 'moderations':
      return { model, input: question };
    case 'embeddings':
      return { model, input: question };
  }
}
