/** The services that clients may have been written for, as forms offer them. */

export const shapeChoices = [
  { value: 'cohere', label: 'Cohere' },
  { value: 'jina', label: 'Jina AI' },
  { value: 'voyage', label: 'Voyage AI' },
  { value: 'tei', label: 'Text Embeddings Inference' },
];
