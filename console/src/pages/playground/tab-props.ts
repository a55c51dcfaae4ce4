/** What every tab is given. */

export interface TabProps {
  /** A model that the address asked for. */
  readonly wantedModel: string | undefined;
  /** Of the routes that the tab has beside its first, the one that the address asked for. */
  readonly wantedRoute: string | undefined;
}
