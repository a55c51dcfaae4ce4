/** What the endpoints ask of whoever can connect to an upstream. */

import type { ListedModel } from '../../core/family.ts';
import type { Upstream } from '../../core/snapshot.ts';

interface Problem {
  readonly message: string;
  readonly advice: string;
  /** Of the upstream's document. */
  readonly field: string | undefined;
}

interface Report {
  readonly ok: boolean;
  readonly steps: readonly {
    readonly name: 'look-up' | 'connect' | 'secure' | 'ask';
    readonly state: 'passed' | 'failed' | 'skipped';
    readonly ms: number | undefined;
    readonly detail: string;
  }[];
  readonly credentials: readonly { readonly id: string; readonly status: number; readonly ok: boolean }[];
  readonly problem: Problem | undefined;
  /** How many it lists; undefined where it has no list. */
  readonly models: number | undefined;
}

type Found =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'no-list' }
  | { readonly kind: 'failed'; readonly problem: Problem };

/** Never a secret in what comes back. */
export interface UpstreamProbe {
  test(upstream: Upstream, signal: AbortSignal): Promise<Report>;
  models(upstream: Upstream, signal: AbortSignal): Promise<Found>;
}
