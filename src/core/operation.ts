/** What clients can ask for, and the provider-family label by which a route is dispatched. */

export const operations = ['completions', 'edits', 'rerank', 'moderations', 'embeddings'] as const;
export type Operation = (typeof operations)[number];

export const labels = ['openai', 'engines'] as const;
export type Label = (typeof labels)[number];
