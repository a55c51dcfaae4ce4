/** Types and interfaces of drift checks: whether models changed, and whether another one agrees with them. */

import type { Buffer } from 'node:buffer';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operations/index.ts';
import type { Model, Target } from './snapshot.ts';
import type { SettingStore } from './store/resources.ts';

/** A model and its shadow, since the start of a process. Means between 0 (or -1 for ranks) and 1; null where nothing tells. */
export interface ShadowAgreement {
  readonly model: string;
  readonly shadow: string;
  readonly compared: number;
  /** Copies without an answer that could be compared. */
  readonly failed: number;
  /** Of vectors of one width. */
  readonly cosine: number | null;
  /** The share of nearest neighbours that are the same. */
  readonly overlap: number | null;
  /** Kendall's, of the scores of one query. */
  readonly ranks: number | null;
  /** The share of texts that are flagged by both or neither. */
  readonly verdicts: number | null;
}

/** Fixed texts at one target, against what it made of them first. */
export interface CanaryState {
  readonly model: string;
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Seconds since the epoch; null before the first. */
  readonly checkedAtS: number | null;
  /** The least cosine of any of the texts; null where it could not be asked. */
  readonly agreement: number | null;
  /** It is not the model that it was. */
  readonly hasChanged: boolean;
  readonly failure: string | null;
}

export interface DriftState {
  readonly shadows: readonly ShadowAgreement[];
  readonly canaries: readonly CanaryState[];
}

/** A question that the gateway asks on its own account. */
export interface OwnInquiry {
  readonly operation: Operation;
  readonly model: string;
  /** As a client would ask it. */
  readonly body: Buffer;
  /** Nobody else is asked. */
  readonly only?: Target;
  readonly on: 'shadow' | 'canary';
}

/** The bytes of a good answer; rejects with what went wrong. */
export type AskForOurselves = (inquiry: OwnInquiry) => Promise<Buffer>;

export interface Drift {
  /** A request was answered well: whether a copy of it goes to the model's shadow. */
  isShadowed(exchange: Exchange): boolean;
  /** Its answer, whole: the same is asked of the shadow now, and compared. */
  compare(exchange: Exchange, body: Buffer, answer: Buffer): void;
  state(): DriftState;
}

/** The setting of the store that has what a target made of a canary's texts first. */
export const canaryBaseline = (model: string, upstream: string, upstreamModel: string): string =>
  `canary:${JSON.stringify([model, upstream, upstreamModel])}`;

/** What the targets of a model make of its canary's texts the next time is what they are held against. */
export async function acceptAsItIs(
  settings: Pick<SettingStore, 'set'>,
  { id, targets }: Model,
  actor: string,
): Promise<void> {
  for (const { upstream, model } of targets) await settings.set(canaryBaseline(id, upstream.id, model), null, actor);
}
