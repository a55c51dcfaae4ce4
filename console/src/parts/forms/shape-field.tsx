/** Which service the clients of a key or a model were written for. */

import { Select, type SelectProps } from '@mantine/core';

const shapes = [
  { value: 'cohere', label: 'Cohere' },
  { value: 'jina', label: 'Jina AI' },
  { value: 'voyage', label: 'Voyage AI' },
  { value: 'tei', label: 'Text Embeddings Inference' },
];

export function ShapeField(input: Omit<SelectProps, 'data'>) {
  return (
    <Select
      label="Its clients were written for"
      placeholder="OpenAI, or nobody knows"
      data={shapes}
      clearable
      {...input}
    />
  );
}
