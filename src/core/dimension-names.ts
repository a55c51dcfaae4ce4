/** What clients call the width of the vectors that they want: OpenAI's name first, then those of Cohere and Voyage, and of Google. */

export const dimensionNames = [
  'dimensions',
  'output_dimension',
  'outputDimensionality',
  'output_dimensionality',
] as const;
