/** Defines the types for detecting drift: whether a target's model has changed (canary), and whether another model agrees with it (shadow). */

import type { Buffer } from 'node:buffer';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operations/index.ts';
import type { Model, Target } from './snapshot.ts';
import type { SettingStore } from './store/resources.ts';

/** How well a model agrees with its shadow since the process started. Means are between 0 (-1 for ranks) and 1; null without data. */
export interface ShadowAgreement {
  readonly model: string;
  readonly shadow: string;
  readonly compared: number;
  /** Requests copied to the shadow for which no comparable answer came. */
  readonly failed: number;
  /** Mean cosine of vectors of the same width. */
  readonly cosine: number | null;
  /** Mean share of nearest neighbours that both models agree on. */
  readonly overlap: number | null;
  /** Mean of Kendall's tau over the scores of each query. */
  readonly ranks: number | null;
  /** Share of texts for which both models agree whether the text is flagged. */
  readonly verdicts: number | null;
}

/** The last comparison of one target's vectors for fixed texts with its first vectors for them. */
export interface CanaryState {
  readonly model: string;
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Time of the last check in seconds since the epoch; null before the first. */
  readonly checkedAtS: number | null;
  /** The smallest cosine among the texts; null where the target could not be called. */
  readonly agreement: number | null;
  readonly hasChanged: boolean;
  readonly failure: string | null;
}

export interface DriftState {
  readonly shadows: readonly ShadowAgreement[];
  readonly canaries: readonly CanaryState[];
}

export interface OwnInquiry {
  readonly operation: Operation;
  readonly model: string;
  readonly body: Buffer;
  readonly only?: Target;
  readonly on: 'shadow' | 'canary';
}

/** Sends an own request and resolves with the bytes of a good answer; rejects with the fault. */
export type AskForOurselves = (inquiry: OwnInquiry) => Promise<Buffer>;

export interface Drift {
  isShadowed(exchange: Exchange): boolean;
  compare(exchange: Exchange, body: Buffer, answer: Buffer): void;
  state(): DriftState;
}

/** The name of the store's setting that holds a target's first vectors for a canary's texts. */
export const canaryBaseline = (model: string, upstream: string, upstreamModel: string): string =>
  `canary:${JSON.stringify([model, upstream, upstreamModel])}`;

/** Forgets the baseline of a canary: the next answers of its targets become the new one. */
export async function acceptAsItIs(
  settings: Pick<SettingStore, 'set'>,
  { id, targets }: Model,
  actor: string,
): Promise<void> {
  for (const { upstream, model } of targets) await settings.set(canaryBaseline(id, upstream.id, model), null, actor);
}
