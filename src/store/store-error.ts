/** What went wrong with the store, as one sentence for the operator: what it is and what to do. */

import { UserFault } from '../core/user-fault.ts';

export class StoreError extends UserFault {
  override readonly name: string = 'StoreError';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
