/** Checks upstreams at an interval by a request of the gateway itself (active health checks). */

import { loopHeader } from '../../core/loop-mark.ts';
import type { HealthCheck, Upstream } from '../../core/snapshot.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ClientPool } from '../../wire/client-pool.ts';
import { ExchangeTimeoutError, exchange } from '../../wire/exchange.ts';
import type { Pools } from '../connections/pools.ts';
import type { Endpoint } from '../endpoints/endpoint-set.ts';
import { isStaleConnection, toFailure } from '../failures.ts';

export interface HealthChecks {
  /** Checks exactly these upstreams; unchanged checks keep their schedule. */
  watch(upstreams: Iterable<Upstream>): void;
  close(): void;
}

interface HealthChecksDeps {
  readonly pools: Pools;
  readonly clock: Clock;
  readonly installation: string;
  readonly onResult: (upstream: Upstream, ok: boolean, why: string | undefined) => void;
  readonly random?: () => number;
}

/** Limit of an answer that is read to the end, so that its connection can be used again; longer answers close it. */
const bodyLimitBytes = 64 * 1024;

export function createHealthChecks(deps: HealthChecksDeps): HealthChecks {
  const watches = new Map<string, Watch>();

  return {
    watch(upstreams) {
      const wanted = new Set<string>();
      for (const upstream of upstreams) {
        if (upstream.healthCheck === undefined || upstream.origin === undefined) continue;
        wanted.add(upstream.id);
        const known = watches.get(upstream.id);
        if (known?.follow(upstream, upstream.healthCheck)) continue;
        known?.stop();
        watches.set(upstream.id, new Watch(upstream, upstream.healthCheck, deps));
      }
      for (const [id, watch] of watches) {
        if (wanted.has(id)) continue;
        watches.delete(id);
        watch.stop();
      }
    },
    close() {
      for (const watch of watches.values()) watch.stop();
      watches.clear();
    },
  };
}

/** Makes the checks of one upstream, one after the other. */
class Watch {
  #upstream: Upstream;
  readonly #settings: HealthCheck;
  readonly #deps: HealthChecksDeps;
  #timer: NodeJS.Timeout | undefined = undefined;
  readonly #over = new AbortController();

  constructor(upstream: Upstream, settings: HealthCheck, deps: HealthChecksDeps) {
    this.#upstream = upstream;
    this.#settings = settings;
    this.#deps = deps;
    void this.#check();
  }

  /** Continues with a new object of the upstream, if its check is the same; only the credential may differ. False if it is another check. */
  follow(upstream: Upstream, { path, intervalMs, timeoutMs }: HealthCheck): boolean {
    const now = this.#settings;
    const same =
      upstream.origin === this.#upstream.origin &&
      path === now.path &&
      intervalMs === now.intervalMs &&
      timeoutMs === now.timeoutMs;
    if (same) this.#upstream = upstream;
    return same;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  async #check(): Promise<void> {
    const { pools, clock, random = Math.random } = this.#deps;
    // After the interval at the earliest, and not in step with other gateways that started together.
    const nextAtMs = clock.monotonicMs() + this.#settings.intervalMs * (1 + random() / 10);
    const endsAtMs = clock.monotonicMs() + this.#settings.timeoutMs;
    const set = pools.endpointsOf(this.#upstream);
    const asked: readonly (Endpoint | undefined)[] = set?.all ?? [undefined];
    const checkOne = async (endpoint: Endpoint | undefined): Promise<string | undefined> => {
      const why = await this.#complaint(() => endpoint?.pool ?? pools.of(this.#upstream), endsAtMs);
      if (endpoint !== undefined && !this.#over.signal.aborted) set?.checked(endpoint, why, clock.monotonicMs());
      return why;
    };
    const found = await Promise.all(asked.map(checkOne));
    if (this.#over.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#check(), Math.max(0, nextAtMs - clock.monotonicMs())).unref();
    // One working endpoint is enough.
    const ok = found.includes(undefined);
    this.#deps.onResult(this.#upstream, ok, ok ? undefined : found[0]);
  }

  async #complaint(toPool: () => ClientPool, endsAtMs: number): Promise<string | undefined> {
    const { path, timeoutMs } = this.#settings;
    const { credentials } = this.#upstream;
    const credential = credentials.find(({ weight }) => weight > 0) ?? credentials[0];
    const headers = [...credential.headers, 'user-agent', 'postern', loopHeader, this.#deps.installation];
    const leftMs = Math.max(0, endsAtMs - this.#deps.clock.monotonicMs());
    const bounds = { limitBytes: bodyLimitBytes, beyond: 'cut', timeoutMs: leftMs, signal: this.#over.signal } as const;
    try {
      const { status } = await exchange(toPool(), { method: 'GET', path, headers }, bounds);
      // A redirect leads elsewhere, often to a page that always exists.
      return status < 300 ? undefined : `status ${status}`;
    } catch (error) {
      if (error instanceof ExchangeTimeoutError) return `no answer within ${timeoutMs / 1000} s`;
      // The upstream just closed an idle connection. Each failed attempt removes one, so that this ends.
      return isStaleConnection(error) ? this.#complaint(toPool, endsAtMs) : toFailure(error, false).cause;
    }
  }
}
