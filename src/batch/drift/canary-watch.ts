/** Runs canaries: embeds fixed texts at each target from time to time, and reports vectors that differ from the first ones. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { type CanaryState, canaryBaseline } from '../../core/drift.ts';
import type { CanarySettings, Model, Snapshot, Target } from '../../core/snapshot.ts';
import { floatsIn, floatsToBytes } from '../../lib/float-bytes.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { reasonOf } from '../../lib/thrown.ts';
import { cosine } from '../../lib/unit-length.ts';
import { type DriftDeps, vectorsIn } from './readings.ts';

/** Least similarity that counts as unchanged: numbers differ slightly between machines, and far more between models. */
const sameFrom = 0.999;
const firstCheckAfterMs = 1_000;
const lookEveryMs = 500;

interface Bird {
  readonly model: Model;
  readonly target: Target;
  readonly settings: CanarySettings;
  dueAtMs: number;
  isCalling: boolean;
  state: CanaryState;
}

export class CanaryWatch {
  readonly #deps: DriftDeps;
  #birds = new Map<string, Bird>();
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(deps: DriftDeps) {
    this.#deps = deps;
  }

  states(): CanaryState[] {
    return [...this.#birds.values()].map(({ state }) => state);
  }

  adopt({ models }: Snapshot): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const birds = new Map<string, Bird>();
    for (const model of models.all) {
      const { canary: settings } = model;
      if (settings === undefined) continue;
      for (const target of model.targets.filter(({ weight }) => weight > 0)) {
        const name = canaryBaseline(model.id, target.upstream.id, target.model);
        const known = this.#birds.get(name);
        const dueAtMs = Math.min(known?.dueAtMs ?? nowMs + firstCheckAfterMs, nowMs + settings.everyMs);
        const state = known?.state ?? unknown(model, target);
        birds.set(name, { model, target, settings, dueAtMs, isCalling: false, state });
      }
    }
    this.#birds = birds;
    if (birds.size > 0) this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref();
    else this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [name, bird] of this.#birds) {
      if (bird.isCalling || nowMs < bird.dueAtMs) continue;
      bird.dueAtMs = nowMs + bird.settings.everyMs;
      void this.#check(name, bird);
    }
  }

  async #check(name: string, bird: Bird): Promise<void> {
    bird.isCalling = true;
    const { log, clock } = this.#deps;
    const had = bird.state.hasChanged;
    const checkedAtS = Math.floor(clock.nowMs() / 1_000);
    try {
      const agreement = await this.#agreementOf(name, bird);
      const hasChanged = agreement < sameFrom;
      bird.state = { ...bird.state, checkedAtS, agreement, hasChanged, failure: null };
      const about = { model: bird.model.id, upstream: bird.target.upstream.id, agreement };
      if (hasChanged && !had) log.warn('embedding drift detected', about);
      if (!hasChanged && had) log.info('embedding drift ended', about);
    } catch (error) {
      bird.state = { ...bird.state, checkedAtS, agreement: null, failure: reasonOf(error) };
    } finally {
      bird.isCalling = false;
    }
  }

  /** How similar the target's vectors are to the stored first ones; 1 the first time, when they are stored. */
  async #agreementOf(name: string, { model, target, settings }: Bird): Promise<number> {
    const { ask, settings: store } = this.#deps;
    const body = Buffer.from(JSON.stringify({ model: model.id, input: settings.texts }));
    const answer = await ask({ operation: 'embeddings', model: model.id, body, only: target, on: 'canary' });
    const vectors = vectorsIn(answer);
    if (vectors === undefined || vectors.length !== settings.texts.length) throw new Error('no vectors came');
    const texts = hash('sha256', JSON.stringify(settings.texts), 'base64url');
    const before = readBaseline(await store.get(name), texts);
    if (before === undefined) {
      await store.set(name, { texts, vectors: vectors.map(toText) }, 'canary');
      return 1;
    }
    return Math.min(...vectors.map((vector, index) => likeness(vector, before[index] ?? [])));
  }
}

const unknown = ({ id }: Model, { upstream, model }: Target): CanaryState => ({
  model: id,
  upstream: upstream.id,
  upstreamModel: model,
  checkedAtS: null,
  agreement: null,
  hasChanged: false,
  failure: null,
});

const likeness = (a: readonly number[], b: readonly number[]): number => (a.length === b.length ? cosine(a, b) : 0);

const toText = (vector: readonly number[]): string => floatsToBytes(vector).toString('base64');

function readBaseline(kept: unknown, texts: string): number[][] | undefined {
  if (!isMapping(kept) || kept.texts !== texts || !Array.isArray(kept.vectors)) return undefined;
  return kept.vectors.map((text) => floatsIn(String(text)));
}
