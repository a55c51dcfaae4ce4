/** Finds out who asks. */

import type { Caller } from '../caller.ts';

export interface Access {
  /** By the session cookie or an API token; what is neither is nobody. */
  identify(headers: Headers): Promise<Caller>;
}
