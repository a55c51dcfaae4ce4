/** Defines the error for a store failure: one sentence for the operator, with advice. */

import { UserFault } from '../core/user-fault.ts';

export class StoreError extends UserFault {
  override readonly name: string = 'StoreError';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
