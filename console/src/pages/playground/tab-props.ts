/** What every tab is given. */

export interface TabProps {
  /** A model that the address asked for. */
  readonly wantedModel: string | undefined;
}
