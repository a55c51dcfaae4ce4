/** What went wrong with the store, as one sentence for the operator: what it is and what to do. */

export class StoreError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
  }
}
