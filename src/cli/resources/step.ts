/** One thing that `resources apply` does, or would do. */

import type { Difference } from '../../config/store/resource-changes.ts';
import type { ResourceKind } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';

export interface Step {
  readonly kind: ResourceKind | 'key';
  readonly id: string;
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'revoked';
  /** What is there now; undefined where nothing is. */
  readonly version: number | undefined;
  /** Of a change: which. */
  readonly differences: readonly Difference[];
  /** The version that is there then; undefined where nothing is. */
  carryOut(): Promise<number | undefined>;
}

/** Who stands in the audit log. */
export const actor = 'command line';

export function refuseConflict({ kind, id }: Pick<Step, 'kind' | 'id'>): never {
  throw new UserFault(
    `someone else changed ${kind} ${id} meanwhile; it stays as it is, and so does what was to come after it: apply again`,
  );
}
