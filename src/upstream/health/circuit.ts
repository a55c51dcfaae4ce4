/** Circuit breaker of a target or a credential: in cooldown after too many failures, then tried again by one call at a time. */

const mostFailuresInARow = 5;
const leastCalls = 20;
const mostFailedShare = 0.5;
const recentSeconds = 10;
const firstCooldownMs = 1_000;
const longestCooldownMs = 60_000;
/** Rests are shorter by up to this share, so that not everyone who saw the same failure comes back at once. */
const jitter = 0.2;
/** Who worked for this long begins with short rests again. */
const provenMs = 30_000;

/** Who loads a model says so, and is about to be back. */
const longestLoadingCooldownMs = 5_000;

/** `wire`: nobody was there, or it broke off or fell silent; `answer`: it said itself that it cannot; `loading`: that it is not ready yet. */
type Kind = 'wire' | 'answer' | 'loading';

/** The fields are for reading only. Times are those of one clock that never goes back. */
export class Circuit {
  /** When the probe may be made; 0 while closed. */
  cooldownUntilMs = 0;
  /** Up to then it asked not to be called at all; 0 while closed. */
  bindingUntilMs = 0;
  /** Of the latest rest; empty before the first. */
  why = '';
  openedBy: Kind | undefined = undefined;
  /** The one request body that opened it, where no other has failed; undefined otherwise. Its cooldown is always as long as the first. */
  oneBody: string | undefined = undefined;
  consecutiveFailures = 0;
  /** How often it stopped being closed. A failed probe does not count. */
  openedCount = 0;

  readonly #random: () => number;
  readonly #recent = new RecentCalls();
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

  /** Closed, or at rest no longer and without a probe under way. */
  allows(nowMs: number): boolean {
    return !this.#isOpen || (nowMs >= this.cooldownUntilMs && !this.#isProbed);
  }

  /**
   * A call begins, which may also be where `allows` says no. Its ticket is for `succeeded`, `failed` or `abandoned`: one of them, once.
   * A probe's is above 0. Where only an end is known, 0 stands for an ordinary call.
   */
  begin(nowMs: number): number {
    if (!this.#isOpen || !this.allows(nowMs)) return -this.#period;
    this.#isProbed = true;
    return this.#period;
  }

  succeeded(ticket: number, nowMs: number): void {
    this.#giveBack(ticket);
    if (this.#isStale(ticket)) return;
    this.consecutiveFailures = 0;
    if (!this.#isOpen) this.#recent.add(nowMs, 0);
    else if (nowMs >= this.bindingUntilMs) this.#close(nowMs);
  }

  /** With `oneBody`, no request body but this one has failed. */
  failed(ticket: number, nowMs: number, why: string, kind: Kind, oneBody?: string): void {
    this.#giveBack(ticket);
    if (this.#isStale(ticket)) return;
    this.consecutiveFailures += 1;
    if (this.#isOpen) {
      if (ticket > 0) this.#openFor(oneBody === this.oneBody ? oneBody : undefined, nowMs, why, kind);
      return;
    }
    this.#recent.add(nowMs, 1);
    const isOver = this.consecutiveFailures >= mostFailuresInARow || this.#recent.failTooOften;
    if (isOver) this.#openFor(oneBody, nowMs, why, kind);
  }

  /** Closes it where this body alone had opened it: the request is to blame. Never before the end of a pause that was asked for. */
  excuse(body: string, nowMs: number): void {
    if (this.#isOpen && this.oneBody === body && nowMs >= this.bindingUntilMs) this.#close(nowMs);
  }

  /** Whether a request with this body may be the probe. The one body that opened it leaves that to others, for as long again. */
  mayProbe(body: string, nowMs: number): boolean {
    return body !== this.oneBody || nowMs >= this.cooldownUntilMs + firstCooldownMs;
  }

  /** So many failures that were told with this ticket were none, as long as nothing came of them. */
  forgive(ticket: number, failures: number): void {
    if (this.#isOpen || this.#isStale(ticket)) return;
    this.consecutiveFailures = Math.max(0, this.consecutiveFailures - failures);
    this.#recent.takeBack(failures);
  }

  /** It says nothing of the other side. */
  abandoned(ticket: number): void {
    this.#giveBack(ticket);
  }

  /** It asked to be left alone: nothing ends this early. Who calls caps it. */
  coolDownFor(ms: number, nowMs: number, why: string): void {
    if (ms <= 0) return;
    this.#open(nowMs);
    this.bindingUntilMs = Math.max(this.bindingUntilMs, nowMs + ms);
    if (this.cooldownUntilMs < this.bindingUntilMs) this.#rest(this.bindingUntilMs, why, 'answer');
  }

  /** Whatever it did before. One that rests anyway rests no longer for it. */
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

  /** It seems to be back: the probe may be made at once, unless it asked to be left alone. */
  wake(nowMs: number): void {
    this.cooldownUntilMs = Math.min(this.cooldownUntilMs, Math.max(this.bindingUntilMs, nowMs));
  }

  /** Counts the times from closed to closed again. A ticket holds the one in which its call began. */
  get #period(): number {
    return this.openedCount + 1;
  }

  /** What began before it opened says nothing of the time since. */
  #isStale(ticket: number): boolean {
    return ticket === 0 ? this.#isOpen : Math.abs(ticket) !== this.#period;
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
    // One that hangs does not keep the next rest from being probed.
    this.#isProbed = false;
    this.#closedAtMs = nowMs;
    this.cooldownUntilMs = 0;
    this.bindingUntilMs = 0;
    this.openedBy = undefined;
    this.oneBody = undefined;
    this.#recent.clear();
  }
}

/** What those have in common that were never called, as most of many targets were not: nothing is ever added to it. */
const none = new Uint32Array(recentSeconds);

/** Calls and failures of the last seconds, a slot a second. */
class RecentCalls {
  #calls = none;
  #failures = none;
  #second = 0;

  add(nowMs: number, failures: 0 | 1): void {
    if (this.#calls === none) {
      this.#calls = new Uint32Array(recentSeconds);
      this.#failures = new Uint32Array(recentSeconds);
    }
    this.#goTo(Math.floor(nowMs / 1000));
    const slot = this.#second % recentSeconds;
    this.#calls[slot] = (this.#calls[slot] ?? 0) + 1;
    this.#failures[slot] = (this.#failures[slot] ?? 0) + failures;
  }

  /** The newest first. */
  takeBack(failures: number): void {
    let left = failures;
    for (let second = this.#second; left > 0 && second > this.#second - recentSeconds; second -= 1) {
      const slot = ((second % recentSeconds) + recentSeconds) % recentSeconds;
      const taken = Math.min(left, this.#failures[slot] ?? 0);
      this.#failures[slot] = (this.#failures[slot] ?? 0) - taken;
      this.#calls[slot] = Math.max(0, (this.#calls[slot] ?? 0) - taken);
      left -= taken;
    }
  }

  get failTooOften(): boolean {
    let calls = 0;
    let failures = 0;
    for (let slot = 0; slot < recentSeconds; slot += 1) {
      calls += this.#calls[slot] ?? 0;
      failures += this.#failures[slot] ?? 0;
    }
    return calls >= leastCalls && failures >= calls * mostFailedShare;
  }

  clear(): void {
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  #goTo(second: number): void {
    if (second - this.#second >= recentSeconds) this.clear();
    else for (let next = this.#second + 1; next <= second; next += 1) this.#empty(next % recentSeconds);
    this.#second = second;
  }

  #empty(slot: number): void {
    this.#calls[slot] = 0;
    this.#failures[slot] = 0;
  }
}
