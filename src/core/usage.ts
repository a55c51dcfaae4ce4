/** What an upstream said it counted. What it did not say is null, never a guess. */

export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  /** Of the prompt's tokens, those that it had in its cache. */
  readonly cachedTokens?: number | null;
}
