/** Read access to a client request's headers. */
export interface RequestHeaders {
  /** All values of a repeated header, joined as a list. `name` in lower case. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Headers for every upstream, as lines of a head: kept for the next request with the same head. */
  passedOn?: string | undefined;
}
