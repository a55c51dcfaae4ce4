/** How long the lists may be that one call holds. */

/** What one call to a target may hold at most; what is not said is for the upstream to judge. */
export interface ListLimits {
  readonly items?: number | undefined;
  /** Estimated, and rather too high: one for three bytes. */
  readonly tokens?: number | undefined;
  /** Of the items, as JSON. */
  readonly bytes?: number | undefined;
}
