/** Texts to begin with: pairs and groups that show what a model sees, and what it does not. */

import type { Example } from '../examples.tsx';

export interface EmbeddingsForm {
  model: string;
  other: string;
  texts: string;
  dimensions: string;
  encoding: string;
}

const blank: EmbeddingsForm = { model: '', other: '', texts: '', dimensions: '', encoding: '' };

const groups = [
  'The cat sleeps on the warm sofa.',
  'A cat is sleeping on a sofa.',
  'Cats like to sleep on warm sofas.',
  'The invoice is due at the end of the month.',
  'Invoices have to be paid by the end of each month.',
  'Please pay this invoice within thirty days.',
  'Rain is expected in the north tomorrow.',
  'Tomorrow it will rain in the north.',
];

export const embeddingsExamples: readonly Example<EmbeddingsForm>[] = [
  { title: 'Three topics', values: { texts: groups.join('\n') } },
  {
    title: 'Compare two sentences',
    values: { texts: ['The doctor treated the patient.', 'A physician cared for the sick woman.'].join('\n') },
  },
  {
    title: 'Words or meaning?',
    values: {
      texts: [
        'The bank raised its interest rates.',
        'Lenders are charging more for loans.',
        'We sat on the bank of the river.',
        'The shore was quiet in the evening.',
      ].join('\n'),
    },
  },
];

export const sampleForm: EmbeddingsForm = { ...blank, ...embeddingsExamples[0]?.values };
