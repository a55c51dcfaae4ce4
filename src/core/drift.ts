/** Types and interfaces of drift checks: whether models changed, and whether another one agrees with them. */

import type { Buffer } from 'node:buffer';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operations/index.ts';
import type { Model, Target } from './snapshot.ts';
import type { SettingStore } from './store/resources.ts';

/** Agreement of a model with its shadow since the process started. Means between 0 (-1 for ranks) and 1; null without data. */
export interface ShadowAgreement {
  readonly model: string;
  readonly shadow: string;
  readonly compared: number;
  /** Copies without an answer that could be compared. */
  readonly failed: number;
  /** Of vectors of the same width. */
  readonly cosine: number | null;
  /** Share of nearest neighbours that are the same. */
  readonly overlap: number | null;
  /** Kendall's tau of the scores of one query. */
  readonly ranks: number | null;
  /** Share of texts that both flag, or neither. */
  readonly verdicts: number | null;
}

/** Fixed texts at one target, compared with its first answers. */
export interface CanaryState {
  readonly model: string;
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Seconds since the epoch; null before the first check. */
  readonly checkedAtS: number | null;
  /** The smallest cosine of any text; null where the target could not be asked. */
  readonly agreement: number | null;
  /** The target no longer serves the same model. */
  readonly hasChanged: boolean;
  readonly failure: string | null;
}

export interface DriftState {
  readonly shadows: readonly ShadowAgreement[];
  readonly canaries: readonly CanaryState[];
}

/** A request that the gateway makes for itself. */
export interface OwnInquiry {
  readonly operation: Operation;
  readonly model: string;
  /** As a client would send it. */
  readonly body: Buffer;
  readonly only?: Target;
  readonly on: 'shadow' | 'canary';
}

/** The bytes of a good answer; rejects with the fault. */
export type AskForOurselves = (inquiry: OwnInquiry) => Promise<Buffer>;

export interface Drift {
  /** Whether a copy of this answered request goes to the model's shadow. */
  isShadowed(exchange: Exchange): boolean;
  /** Sends the request to the shadow, and compares both answers. */
  compare(exchange: Exchange, body: Buffer, answer: Buffer): void;
  state(): DriftState;
}

/** The setting of the store that holds a target's first answers to a canary's texts. */
export const canaryBaseline = (model: string, upstream: string, upstreamModel: string): string =>
  `canary:${JSON.stringify([model, upstream, upstreamModel])}`;

/** The targets' next answers to the canary's texts become the new baseline. */
export async function acceptAsItIs(
  settings: Pick<SettingStore, 'set'>,
  { id, targets }: Model,
  actor: string,
): Promise<void> {
  for (const { upstream, model } of targets) await settings.set(canaryBaseline(id, upstream.id, model), null, actor);
}
