/** Defines the result of testing the connection to an upstream. Nothing in it is a secret. */

import type { ListedModel } from './family.ts';
import type { Upstream } from './snapshot.ts';

export interface Probe {
  test(upstream: Upstream, signal: AbortSignal): Promise<ProbeReport>;
  models(upstream: Upstream, signal: AbortSignal): Promise<ModelsFound>;
}

export interface ProbeReport {
  readonly ok: boolean;
  readonly steps: readonly ProbeStep[];
  readonly credentials: readonly CredentialCheck[];
  readonly problem: ProbeProblem | undefined;
  readonly models: number | undefined;
}

export interface ProbeStep {
  readonly name: 'look-up' | 'connect' | 'secure' | 'ask';
  /** `skipped`: the step was not needed, or not reached. */
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly ms: number | undefined;
  readonly detail: string;
}

export interface CredentialCheck {
  readonly id: string;
  /** The status of the answer; 0 where there was none. */
  readonly status: number;
  readonly ok: boolean;
}

export interface ProbeProblem {
  readonly message: string;
  readonly advice: string;
  readonly field: 'base_url' | 'api_key' | 'tls' | 'timeouts.connect' | 'options' | undefined;
}

type ModelsFound =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'no-list' }
  | { readonly kind: 'failed'; readonly problem: ProbeProblem };
