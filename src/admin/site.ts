/** The console's own files, as they were built: compressed beforehand, cached for good where their name says what is in them. */

export interface Site {
  /** Undefined: there is no such file, and it is no page either. */
  find(request: Request): Promise<Response | undefined>;
}
