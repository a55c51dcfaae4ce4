/** Active health checks of upstreams at an interval. */

import type { Buffer } from 'node:buffer';
import { loopHeader } from '../../core/loop-mark.ts';
import type { HealthCheck, Upstream } from '../../core/snapshot.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AnswerHandler, ClientCall } from '../../wire/client-call.ts';
import type { ClientPool } from '../../wire/client-pool.ts';
import type { Pools } from '../connections/pools.ts';
import type { Endpoint } from '../endpoints/endpoint-set.ts';
import { isStaleConnection, toFailure } from '../failures.ts';

export interface HealthChecks {
  /** Checks exactly these; unchanged checks keep their schedule. */
  watch(upstreams: Iterable<Upstream>): void;
  close(): void;
}

interface HealthChecksDeps {
  readonly pools: Pools;
  readonly clock: Clock;
  readonly installation: string;
  readonly onResult: (upstream: Upstream, ok: boolean, why: string | undefined) => void;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** Read to reuse the connection; longer answers close it. */
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

/** The checks of one upstream, one after the other. */
class Watch {
  #upstream: Upstream;
  readonly #settings: HealthCheck;
  readonly #deps: HealthChecksDeps;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** One for each endpoint. */
  #running: readonly Check[] = [];
  #stopped = false;

  constructor(upstream: Upstream, settings: HealthCheck, deps: HealthChecksDeps) {
    this.#upstream = upstream;
    this.#settings = settings;
    this.#deps = deps;
    this.#check();
  }

  /** Continues with the new object where the check is the same; the credential may differ. */
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
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const check of this.#running) check.cancel();
  }

  #check(): void {
    const { pools, clock, installation, random = Math.random } = this.#deps;
    // After the interval at the earliest, and not in step with other gateways that started together.
    const nextAtMs = clock.monotonicMs() + this.#settings.intervalMs * (1 + random() / 10);
    const set = pools.endpointsOf(this.#upstream);
    const asked: readonly (Endpoint | undefined)[] = set?.all ?? [undefined];
    const found: (string | undefined)[] = [];
    const toCheck = (endpoint: Endpoint | undefined): Check => {
      const toPool = (): ClientPool => endpoint?.pool ?? pools.of(this.#upstream);
      return new Check(toPool, this.#upstream, this.#settings, installation, (why) => {
        if (this.#stopped) return;
        if (endpoint !== undefined) set?.checked(endpoint, why, clock.monotonicMs());
        found.push(why);
        if (found.length < asked.length) return;
        this.#running = [];
        this.#timer = setTimeout(() => this.#check(), Math.max(0, nextAtMs - clock.monotonicMs())).unref();
        // One working endpoint is enough.
        const ok = found.includes(undefined);
        this.#deps.onResult(this.#upstream, ok, ok ? undefined : found[0]);
      });
    };
    this.#running = asked.map(toCheck);
    for (const check of this.#running) check.send();
  }
}

/** One request and its answer. `onEnd` is called once, with the complaint if any. */
class Check implements AnswerHandler {
  readonly #toPool: () => ClientPool;
  readonly #upstream: Upstream;
  readonly #settings: HealthCheck;
  readonly #installation: string;
  #onEnd: ((why: string | undefined) => void) | undefined;
  #call: ClientCall | undefined = undefined;
  #started = false;
  readonly #timer: NodeJS.Timeout;
  #status = 0;
  #bodyBytes = 0;

  constructor(
    toPool: () => ClientPool,
    upstream: Upstream,
    settings: HealthCheck,
    installation: string,
    onEnd: (why: string | undefined) => void,
  ) {
    this.#toPool = toPool;
    this.#upstream = upstream;
    this.#settings = settings;
    this.#installation = installation;
    this.#onEnd = onEnd;
    const { timeoutMs } = settings;
    this.#timer = setTimeout(() => this.#end(`no answer within ${timeoutMs / 1000} s`), timeoutMs).unref();
  }

  send(): void {
    const { credentials } = this.#upstream;
    const credential = credentials.find(({ weight }) => weight > 0) ?? credentials[0];
    const headers = [...credential.headers, 'user-agent', 'postern', loopHeader, this.#installation];
    this.#started = false;
    try {
      this.#call = this.#toPool().send({ method: 'GET', path: this.#settings.path, headers }, this);
    } catch (error) {
      this.onError(error);
    }
  }

  cancel(): void {
    this.#end('cancelled');
  }

  onStart(): void {
    this.#started = true;
  }

  onSent(): void {}

  onFirstByte(): void {}

  onHead(status: number): void {
    this.#status = status;
  }

  onBody(piece: Buffer): void {
    this.#bodyBytes += piece.length;
    if (this.#bodyBytes > bodyLimitBytes) this.#judge();
  }

  onEnd(): void {
    this.#judge();
  }

  onError(error: unknown): void {
    if (this.#onEnd === undefined) return;
    // The upstream just closed an idle connection; the failed attempts use all of these up.
    if (isStaleConnection(error)) this.send();
    else this.#end(toFailure(error, this.#started).cause);
  }

  #judge(): void {
    // A redirect leads elsewhere, often to a page that always exists.
    this.#end(this.#status < 300 ? undefined : `status ${this.#status}`);
  }

  #end(why: string | undefined): void {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return;
    this.#onEnd = undefined;
    clearTimeout(this.#timer);
    // No effect after the end of an answer.
    this.#call?.abort();
    onEnd(why);
  }
}
