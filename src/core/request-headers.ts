/** The headers of a client's request, as whoever reads some of them sees them. */
export interface RequestHeaders {
  /** Of one that stands several times all values, as in a list. `name` in lower case. */
  get(name: string): string | undefined;
  has(name: string): boolean;
}
