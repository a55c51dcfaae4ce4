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
