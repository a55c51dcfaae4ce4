/** Makes a request wait for the rate limits of upstreams, if these are configured to pace calls instead of refusing them. */

import { performance } from 'node:perf_hooks';
import type { Denial } from '../../core/accounting/spending.ts';
import { CallerCall, type Dispatcher, type NoTarget, type PacedCall, type Pacing } from '../../core/dispatch.ts';
import type { ClientWork, Listening } from '../../core/outcome.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import type { Plan } from '../../plan/planned-call.ts';

const shortestWaitMs = 20;
/** Assumed wait where an upstream gives none. */
const unknownMs = 1_000;
/** A longer wait that an upstream asks for is cut to this. */
const longestWaitMs = 60_000;

/** Whether a request may wait: the model or one of its upstreams is configured to pace calls. */
export const mayPace = ({ routePlan, resolved }: Plan): boolean =>
  resolved.model.paceMs !== undefined ||
  routePlan.tiers.some((tier) => tier.some(({ target }) => target.upstream.paceMs !== undefined));

export const paceMsOf = ({ resolved }: Plan, { paceMs = 0 }: Upstream): number => resolved.model.paceMs ?? paceMs;

type Ended = 'again' | 'too-late' | 'client-gone';

export class RateWait extends CallerCall implements PacedCall, ClientWork {
  readonly #plan: Plan;
  readonly #deps: { readonly dispatcher: Pick<Dispatcher, 'pacing'> };
  readonly #client: Listening;
  readonly #sinceMs = performance.now();
  /** The queue of an upstream in which the request waits or tries. */
  #pacing: Pacing | undefined = undefined;
  #upstream: Upstream | undefined = undefined;
  /** Number of calls that an upstream refused with 429. */
  refusals = 0;
  #refusedBy: Upstream | undefined = undefined;
  /** The upstream that can take a call soonest, and when. */
  #denied: { readonly upstream: Upstream; readonly retryAfterMs: number } | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined = undefined;
  #resolve: ((ended: Ended) => void) | undefined = undefined;

  constructor(plan: Plan, deps: { readonly dispatcher: Pick<Dispatcher, 'pacing'> }, client: Listening) {
    super(plan.exchange);
    this.#plan = plan;
    this.#deps = deps;
    this.#client = client;
  }

  /** A denial where other requests wait for the upstream and go first; undefined if there are none. */
  behind(upstream: Upstream): Denial | undefined {
    if (this.#paceMs(upstream) === 0 || this.isRetrying(upstream)) return undefined;
    const retryAfterMs = this.#deps.dispatcher.pacing(upstream).behindMs(this.lane);
    return retryAfterMs === undefined
      ? undefined
      : { limit: `the calls that wait for the upstream ${JSON.stringify(upstream.id)}`, retryAfterMs };
  }

  isRetrying(upstream: Upstream): boolean {
    return this.#upstream === upstream;
  }

  denied(upstream: Upstream, { retryAfterMs, error }: Denial): void {
    if (error !== undefined || this.#paceMs(upstream) === 0) return;
    if (this.#denied === undefined || retryAfterMs < this.#denied.retryAfterMs)
      this.#denied = { upstream, retryAfterMs };
  }

  /** Notes that the upstream itself refused a call, with 429. */
  refused(upstream: Upstream, retryAfterMs = unknownMs): void {
    if (this.#paceMs(upstream) === 0) return;
    this.refusals += 1;
    this.#refusedBy = upstream;
    this.denied(upstream, { limit: upstream.id, retryAfterMs: Math.min(retryAfterMs, longestWaitMs) });
  }

  /** Notes that the request tries an upstream, which may be another than the one it waited for. */
  tries(upstream: Upstream): void {
    if (this.#upstream !== undefined && this.#upstream !== upstream) this.passed();
  }

  /** Goes on trying without holding up other requests. */
  letOthersTry(): void {
    this.#pacing?.done(this);
    this.#pacing = undefined;
  }

  /** Ends the wait, as the request may use the upstream now, or calls another one. */
  passed(): void {
    this.letOthersTry();
    this.#upstream = undefined;
  }

  /** Waits until the soonest upstream can take the call, unless that would take too long. */
  async next(none: NoTarget): Promise<Ended> {
    const found = this.#denied ?? this.#limited(none);
    this.#denied = undefined;
    if (found === undefined) return 'too-late';
    const { upstream, retryAfterMs } = found;
    const leftMs = Math.min(this.#sinceMs + this.#paceMs(upstream), this.#plan.deadlineMs) - performance.now();
    if (retryAfterMs > leftMs) return 'too-late';
    if (this.#client.gone) return 'client-gone';
    if (this.#upstream !== upstream) this.passed();
    this.#upstream = upstream;
    this.#pacing = this.#deps.dispatcher.pacing(upstream);
    const pacing = this.#pacing;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#client.work = this;
      this.#deadline = setTimeout(() => this.#end('too-late'), Math.max(0, leftMs));
      pacing.wait(this, Math.max(shortestWaitMs, retryAfterMs));
    });
  }

  resume(): void {
    this.#end('again');
  }

  clientLeft(): void {
    this.#end('client-gone');
  }

  #end(ended: Ended): void {
    clearTimeout(this.#deadline);
    if (this.#client.work === this) this.#client.work = undefined;
    this.#resolve?.(ended);
    this.#resolve = undefined;
  }

  /** The upstream to wait for where targets asked for a pause, or their first call after a pause is still running. */
  #limited(none: NoTarget): { readonly upstream: Upstream; readonly retryAfterMs: number } | undefined {
    if (none.kind === 'spent' && this.#refusedBy !== undefined)
      return { upstream: this.#refusedBy, retryAfterMs: unknownMs };
    if (none.kind !== 'resting' || !none.isLimited) return undefined;
    const paced = this.#plan.routePlan.tiers.flat().find(({ target }) => this.#paceMs(target.upstream) > 0);
    return paced && { upstream: paced.target.upstream, retryAfterMs: none.retryAfterMs };
  }

  #paceMs(upstream: Upstream): number {
    return paceMsOf(this.#plan, upstream);
  }
}

/** Headers in which services report the rest of their rate limits, and when these reset. */
const rateHeaders: readonly (readonly [remaining: string, reset: string])[] = [
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['anthropic-ratelimit-input-tokens-remaining', 'anthropic-ratelimit-input-tokens-reset'],
];

/** How long a rate limit is used up, by the head of an answer; undefined if something is left, or nothing is given. */
export function usedUpForMsIn(headers: readonly string[], nowEpochMs: number): number | undefined {
  let longest: number | undefined;
  for (const [remaining, reset] of rateHeaders) {
    if (headerValue(headers, remaining)?.trim() !== '0') continue;
    const ms = toMs(headerValue(headers, reset)?.trim() ?? '', nowEpochMs);
    if (ms !== undefined && ms > 0) longest = Math.max(longest ?? 0, ms);
  }
  return longest;
}

const durationParts = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/;
/** A larger number is a point in time, not a number of seconds. */
const mostSeconds = 1_000_000_000;

/** Parses seconds, a duration such as `6m0s`, or a time. */
function toMs(text: string, nowEpochMs: number): number | undefined {
  if (/^\d{1,12}(?:\.\d+)?$/.test(text)) {
    const seconds = Number(text);
    return seconds < mostSeconds ? seconds * 1_000 : seconds * 1_000 - nowEpochMs;
  }
  const parts = text === '' ? null : durationParts.exec(text);
  if (parts !== null) {
    const [hours = 0, minutes = 0, seconds = 0, ms = 0] = parts.slice(1).map((part) => Number(part ?? 0));
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms;
  }
  const atMs = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs - nowEpochMs;
}
