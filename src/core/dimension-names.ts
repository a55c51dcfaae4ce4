/** Lists the names that request fields for embedding dimensions have: OpenAI's first, then those of Cohere, Voyage and Google. */

export const dimensionNames = [
  'dimensions',
  'output_dimension',
  'outputDimensionality',
  'output_dimensionality',
] as const;
