/** The provider-family labels by which routes are dispatched. */

export const labels = [
  'openai',
  'engines',
  'anthropic',
  'gemini',
  'cohere',
  'ollama',
  'contextualized',
  'multimodal',
  'conversations',
  'classify',
  'fim',
  'own',
] as const;
export type Label = (typeof labels)[number];
