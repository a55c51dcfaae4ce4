/** Lists the provider-family labels: a route's label and operation decide which of a model's targets can serve it. */

export const labels = [
  'openai',
  'input_tokens',
  'compact',
  'engines',
  'anthropic',
  'gemini',
  'interactions',
  'cohere',
  'cohere_v1',
  'ollama',
  'contextualized',
  'multimodal',
  'conversations',
  'classify',
  'embed',
  'embed_sparse',
  'embed_all',
  'predict',
  'pooling',
  'classes',
  'score',
  'fim',
  'own',
] as const;
export type Label = (typeof labels)[number];

const openaiLabels: ReadonlySet<Label> = new Set(['openai', 'input_tokens', 'compact']);

/** Whether the label is of OpenAI's own routes, which other services serve at their own paths. */
export const isOpenai = (label: Label): boolean => openaiLabels.has(label);
