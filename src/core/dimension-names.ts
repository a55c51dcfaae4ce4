/** The request fields for embedding dimensions: OpenAI's name first, then those of Cohere, Voyage and Google. */

export const dimensionNames = [
  'dimensions',
  'output_dimension',
  'outputDimensionality',
  'output_dimensionality',
] as const;
