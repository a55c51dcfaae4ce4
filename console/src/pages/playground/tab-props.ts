/** What every tab is given. */

export interface TabProps {
  /** A model that the address asked for. */
  readonly wantedModel: string | undefined;
  /** Of those that the tab has, the one that the address asked for. */
  readonly wantedRoute: string | undefined;
}
