/** An item of one request, and what is known of it. */

import type { Found } from './found.ts';
import type { Wanted } from './part-asker.ts';

/** One item, wherever it stands in the list. */
export interface ListEntry extends Wanted {
  readonly key: string;
  found: Found | undefined;
  /** By this request: each further time that it stands in the list, and what others asked for, costs nothing. */
  isAskedFor: boolean;
}
