/** Circuit breaker of a target or credential: begins a cooldown after too many failures, and then lets one call at a time try again. */

import { RecentCalls } from './recent-calls.ts';

const mostFailuresInARow = 5;
const leastCalls = 20;
const mostFailedShare = 0.5;
const recentSeconds = 10;
const firstCooldownMs = 1_000;
const longestCooldownMs = 60_000;
/** Cooldowns are shorter by a random share up to this one, so that not all nodes retry at once. */
const jitter = 0.2;
/** After the target has worked for this long, cooldowns are short again. */
const provenMs = 30_000;

/** Longest cooldown of a target that is loading a model, as it will soon be back. */
const longestLoadingCooldownMs = 5_000;

/** Causes of a cooldown. `wire`: unreachable, broke off or silent; `answer`: an error status; `loading`: not ready yet. */
type Kind = 'wire' | 'answer' | 'loading';

/** Counts failures and keeps the cooldown. Others only read the fields. Times are monotonic. */
export class Circuit {
  /** When one call may probe the target; 0 while closed. */
  cooldownUntilMs = 0;
  /** End of a pause that the upstream requested; 0 while closed. */
  bindingUntilMs = 0;
  why = '';
  openedBy: Kind | undefined = undefined;
  /** Set if a single request body opened the circuit: that body. The cooldown then always has the first length. */
  oneBody: string | undefined = undefined;
  consecutiveFailures = 0;
  /** How often the circuit was opened. A failed probe does not count. */
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

  /** Whether a call may be made: the circuit is closed, or past its cooldown without a running probe. */
  allows(nowMs: number): boolean {
    return !this.#isOpen || (nowMs >= this.cooldownUntilMs && !this.#isProbed);
  }

  /** Begins a call, even if `allows` is false. The ticket (above 0 for a probe) is for exactly one report of the outcome. */
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

  /** Reports a failed call. `oneBody`: the request body, if no other one has failed. */
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

  /** Closes a circuit that this body alone has opened, as the request is at fault; not before the end of a requested pause. */
  excuse(body: string, nowMs: number): void {
    if (this.#isOpen && this.oneBody === body && nowMs >= this.bindingUntilMs) this.#close(nowMs);
  }

  /** Whether a request with this body may be the probe. The body that opened the circuit must wait one more cooldown. */
  mayProbe(body: string, nowMs: number): boolean {
    return body !== this.oneBody || nowMs >= this.cooldownUntilMs + firstCooldownMs;
  }

  /** Takes back failures reported with this ticket, unless they opened the circuit. */
  forgive(ticket: number, failures: number): void {
    if (this.#isOpen || this.#isStale(ticket)) return;
    this.consecutiveFailures = Math.max(0, this.consecutiveFailures - failures);
    this.#recent.takeBack(failures);
  }

  /** Reports a call that proves nothing about the target. */
  abandoned(ticket: number): void {
    this.#giveBack(ticket);
  }

  /** Begins a pause that the upstream requested; nothing shortens it. The caller limits its length. */
  coolDownFor(ms: number, nowMs: number, why: string): void {
    if (ms <= 0) return;
    this.#open(nowMs);
    this.bindingUntilMs = Math.max(this.bindingUntilMs, nowMs + ms);
    if (this.cooldownUntilMs < this.bindingUntilMs) this.#rest(this.bindingUntilMs, why, 'answer');
  }

  /** Opens the circuit at once. A running cooldown is not extended. */
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

  /** Allows the probe at once, as the target seems to be back, unless a pause was requested. */
  wake(nowMs: number): void {
    this.cooldownUntilMs = Math.min(this.cooldownUntilMs, Math.max(this.bindingUntilMs, nowMs));
  }

  /** Number of the present period, which lasts from one closing to the next. A ticket has the number of the period in which its call began. */
  get #period(): number {
    return this.openedCount + 1;
  }

  /** Whether the call began before the circuit was opened: its outcome then says nothing about the time since. */
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
