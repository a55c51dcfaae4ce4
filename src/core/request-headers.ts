/** Read access to a client request's headers. */
export interface RequestHeaders {
  /** Of one that stands several times all values, as in a list. `name` in lower case. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Those that every upstream gets, as lines of a head: kept here for the next request with the same head. */
  passedOn?: string | undefined;
}
