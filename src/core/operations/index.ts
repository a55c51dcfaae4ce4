/** Every operation that clients can ask for, in the order in which lists have them. */

export const operations = ['completions', 'edits', 'rerank', 'moderations', 'embeddings'] as const;
export type Operation = (typeof operations)[number];
