/** Circuit breaker of a target or a credential: in cooldown after too many failures, then tried again by one call at a time. */

import { RecentCalls } from './recent-calls.ts';

const mostFailuresInARow = 5;
const leastCalls = 20;
const mostFailedShare = 0.5;
const recentSeconds = 10;
const firstCooldownMs = 1_000;
const longestCooldownMs = 60_000;
/** Cooldowns are shorter by up to this share, so that not all nodes retry at once. */
const jitter = 0.2;
/** After working for this long, cooldowns are short again. */
const provenMs = 30_000;

/** A target that is loading a model will soon be back. */
const longestLoadingCooldownMs = 5_000;

/** `wire`: unreachable, broke off or silent; `answer`: an error status; `loading`: not ready yet. */
type Kind = 'wire' | 'answer' | 'loading';

/** Fields are read-only for others. Times are monotonic. */
export class Circuit {
  /** When the probe may be made; 0 while closed. */
  cooldownUntilMs = 0;
  /** End of a pause that the upstream asked for; 0 while closed. */
  bindingUntilMs = 0;
  /** The cause of the latest cooldown; empty before the first. */
  why = '';
  openedBy: Kind | undefined = undefined;
  /** The only failed request body, where it alone opened the circuit. Its cooldown always has the first length. */
  oneBody: string | undefined = undefined;
  consecutiveFailures = 0;
  /** How often it opened. A failed probe does not count. */
  openedCount = 0;

  readonly #random: () => number;
  readonly #recent = new RecentCalls(1_000, recentSeconds);
  #isOpen = false;
  #isProbed = false;
  #nextCooldownMs = firstCooldownMs;
  #closedAtMs = Number.NEGATIVE_INFINITY;

  constructor(random: () => number) {
    this.#random = random;
  }

  state(nowMs: number): 'closed' | 'open' | 'half-open' {
    if (!this.#isOpen) return 'closed';
    return nowMs < this.cooldownUntilMs ? 'open' : 'half-open';
  }

  /** Closed, or past its cooldown without a running probe. */
  allows(nowMs: number): boolean {
    return !this.#isOpen || (nowMs >= this.cooldownUntilMs && !this.#isProbed);
  }

  /** A call begins, perhaps although `allows` is false. Its ticket (above 0 for a probe) is for exactly one report of the outcome. */
  begin(nowMs: number): number {
    if (!this.#isOpen || !this.allows(nowMs)) return -this.#period;
    this.#isProbed = true;
    return this.#period;
  }

  succeeded(ticket: number, nowMs: number): void {
    this.#giveBack(ticket);
    if (this.#isStale(ticket)) return;
    this.consecutiveFailures = 0;
    if (!this.#isOpen) this.#recent.add(nowMs, false);
    else if (nowMs >= this.bindingUntilMs) this.#close(nowMs);
  }

  /** With `oneBody`, only this request body has failed. */
  failed(ticket: number, nowMs: number, why: string, kind: Kind, oneBody?: string): void {
    this.#giveBack(ticket);
    if (this.#isStale(ticket)) return;
    this.consecutiveFailures += 1;
    if (this.#isOpen) {
      if (ticket > 0) this.#openFor(oneBody === this.oneBody ? oneBody : undefined, nowMs, why, kind);
      return;
    }
    this.#recent.add(nowMs, true);
    const isOver = this.consecutiveFailures >= mostFailuresInARow || this.#failsTooOften(nowMs);
    if (isOver) this.#openFor(oneBody, nowMs, why, kind);
  }

  /** Closes it where this body alone had opened it: the request is at fault. Never before the end of a requested pause. */
  excuse(body: string, nowMs: number): void {
    if (this.#isOpen && this.oneBody === body && nowMs >= this.bindingUntilMs) this.#close(nowMs);
  }

  /** Whether a request with this body may be the probe. The body that opened it waits for as long again. */
  mayProbe(body: string, nowMs: number): boolean {
    return body !== this.oneBody || nowMs >= this.cooldownUntilMs + firstCooldownMs;
  }

  /** Takes back failures reported with this ticket, unless they opened the circuit. */
  forgive(ticket: number, failures: number): void {
    if (this.#isOpen || this.#isStale(ticket)) return;
    this.consecutiveFailures = Math.max(0, this.consecutiveFailures - failures);
    this.#recent.takeBack(failures);
  }

  /** A call without a verdict. */
  abandoned(ticket: number): void {
    this.#giveBack(ticket);
  }

  /** The upstream asked for a pause, which nothing shortens. The caller caps it. */
  coolDownFor(ms: number, nowMs: number, why: string): void {
    if (ms <= 0) return;
    this.#open(nowMs);
    this.bindingUntilMs = Math.max(this.bindingUntilMs, nowMs + ms);
    if (this.cooldownUntilMs < this.bindingUntilMs) this.#rest(this.bindingUntilMs, why, 'answer');
  }

  /** Opens it at once. A running cooldown is not extended. */
  openNow(nowMs: number, why: string, kind: Kind): void {
    if (this.state(nowMs) === 'open') return;
    this.#open(nowMs);
    const cooldownMs =
      kind === 'loading' ? Math.min(this.#nextCooldownMs, longestLoadingCooldownMs) : this.#nextCooldownMs;
    this.#rest(nowMs + cooldownMs * (1 - jitter * this.#random()), why, kind);
    this.#nextCooldownMs = Math.min(longestCooldownMs, this.#nextCooldownMs * 2);
  }

  #openFor(oneBody: string | undefined, nowMs: number, why: string, kind: Kind): void {
    this.oneBody = oneBody;
    const nextCooldownMs = this.#nextCooldownMs;
    if (oneBody !== undefined) this.#nextCooldownMs = firstCooldownMs;
    this.openNow(nowMs, why, kind);
    if (oneBody !== undefined) this.#nextCooldownMs = nextCooldownMs;
  }

  /** It seems to be back: the probe may be made at once, unless a pause was requested. */
  wake(nowMs: number): void {
    this.cooldownUntilMs = Math.min(this.cooldownUntilMs, Math.max(this.bindingUntilMs, nowMs));
  }

  /** Counts the periods from closed to closed. A ticket holds the one of its call's beginning. */
  get #period(): number {
    return this.openedCount + 1;
  }

  /** A call that began before the circuit opened says nothing of the time since. */
  #isStale(ticket: number): boolean {
    return ticket === 0 ? this.#isOpen : Math.abs(ticket) !== this.#period;
  }

  #failsTooOften(nowMs: number): boolean {
    const { calls, failedCalls } = this.#recent.sums(nowMs);
    return calls >= leastCalls && failedCalls >= calls * mostFailedShare;
  }

  #giveBack(ticket: number): void {
    if (ticket === this.#period) this.#isProbed = false;
  }

  #open(nowMs: number): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.openedCount += 1;
    if (nowMs - this.#closedAtMs >= provenMs) this.#nextCooldownMs = firstCooldownMs;
  }

  #rest(untilMs: number, why: string, kind: Kind): void {
    this.cooldownUntilMs = untilMs;
    this.why = why;
    this.openedBy = kind;
  }

  #close(nowMs: number): void {
    this.#isOpen = false;
    // A hanging probe does not block that of the next cooldown.
    this.#isProbed = false;
    this.#closedAtMs = nowMs;
    this.cooldownUntilMs = 0;
    this.bindingUntilMs = 0;
    this.openedBy = undefined;
    this.oneBody = undefined;
    this.#recent.clear();
  }
}
