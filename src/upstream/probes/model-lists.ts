/** Reads the model lists of upstreams occasionally, to detect targets missing from them. */

import type { ListedModel } from '../../core/family.ts';
import type { ModelIndex, Upstream } from '../../core/snapshot.ts';
import { type Repeated, repeat } from '../../lib/repeat.ts';

export interface ModelLists {
  /** Reads the lists of exactly these upstreams; known lists of unchanged ones stay. */
  watch(upstreams: Iterable<Upstream>, models: ModelIndex): void;
  /** Whether the upstream's list was read, and does not have this name. */
  lacks(upstreamId: string, model: string): boolean;
  close(): void;
}

type Found =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'no-list' | 'failed' };

interface ModelListsDeps {
  read(upstream: Upstream, signal: AbortSignal): Promise<Found>;
  readonly random: () => number;
  /** Called when a target is found missing for the first time. */
  readonly onMissing: (upstream: string, model: string) => void;
  readonly firstAfterMs?: number;
  readonly everyMs?: number;
}

/** When the first list is read: a starting gateway is busy, and may be restarted soon. */
const standardFirstMs = 300_000;
const standardEveryMs = 3_600_000;

export function createModelLists(deps: ModelListsDeps): ModelLists {
  const watches = new Map<string, Watch>();

  return {
    watch(upstreams, models) {
      const wanted = new Set<string>();
      const read = [...upstreams].filter(isRead);
      for (const upstream of read) {
        // Names that come from a pattern are unknown.
        const names = [...(models.namesByUpstream.get(upstream.id) ?? [])].filter((name) => !name.includes('*'));
        if (names.length === 0) continue;
        wanted.add(upstream.id);
        const known = watches.get(upstream.id);
        if (known?.follow(upstream, names)) continue;
        known?.stop();
        watches.set(upstream.id, new Watch(upstream, names, deps));
      }
      for (const [id, watch] of watches) {
        if (wanted.has(id)) continue;
        watches.delete(id);
        watch.stop();
      }
    },
    lacks: (upstreamId, model) => watches.get(upstreamId)?.lacks(model) === true,
    close() {
      for (const watch of watches.values()) watch.stop();
      watches.clear();
    },
  };
}

function isRead({ origin, family: { modelList }, readsModelList = false }: Upstream): boolean {
  return readsModelList && origin !== undefined && modelList !== undefined && modelList.takesAnyName === undefined;
}

class Watch {
  #upstream: Upstream;
  #names: readonly string[];
  readonly #deps: ModelListsDeps;
  readonly #over = new AbortController();
  readonly #readings: Repeated;
  #listed: ReadonlySet<string> | undefined = undefined;
  #missing: ReadonlySet<string> = new Set();

  constructor(upstream: Upstream, names: readonly string[], deps: ModelListsDeps) {
    this.#upstream = upstream;
    this.#names = names;
    this.#deps = deps;
    // Not in step with other gateways that started together.
    const spread = (ms: number): number => ms * (1 + deps.random() / 5);
    const everyMs = deps.everyMs ?? standardEveryMs;
    this.#readings = repeat(
      () => this.#read(),
      () => spread(everyMs),
      spread(deps.firstAfterMs ?? standardFirstMs),
    );
  }

  /** Continues with a new object of the upstream, if it is the same account at the same address. */
  follow(upstream: Upstream, names: readonly string[]): boolean {
    const now = this.#upstream;
    const [own] = upstream.credentials;
    const isSame =
      upstream.family.id === now.family.id &&
      upstream.origin === now.origin &&
      upstream.pathPrefix === now.pathPrefix &&
      own.fingerprint === now.credentials[0].fingerprint;
    if (!isSame) return false;
    this.#upstream = upstream;
    this.#names = names;
    this.#compare();
    return true;
  }

  lacks(model: string): boolean {
    return this.#missing.has(model);
  }

  stop(): void {
    void this.#readings.close();
    this.#over.abort();
  }

  async #read(): Promise<void> {
    // A failed reading leaves the previous list.
    const found = await this.#deps.read(this.#upstream, this.#over.signal).catch(() => undefined);
    if (this.#over.signal.aborted) return;
    if (found?.kind !== 'listed' || found.models.length === 0) return;
    this.#listed = new Set(found.models.map(({ id }) => id));
    this.#compare();
  }

  #compare(): void {
    const listed = this.#listed;
    if (listed === undefined) return;
    const before = this.#missing;
    this.#missing = new Set(this.#names.filter((name) => !spellingsOf(name).some((one) => listed.has(one))));
    for (const name of this.#missing) if (!before.has(name)) this.#deps.onMissing(this.#upstream.id, name);
  }
}

/** Spellings in model lists that differ from those in calls: Ollama's default tag, Google's collection. */
const spellingsOf = (name: string): string[] => [name, `${name}:latest`, name.replace(/^models\//, '')];
