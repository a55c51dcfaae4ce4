/** One clock for all that may take too long: it looks often enough, and costs a number where a time is only moved. */

export interface Timed {
  /** On the monotonic clock; it may move while it is on the wheel, and is looked at when the old time has come. */
  dueMs: number;
  /** The time is up. It is on the wheel no longer, unless it puts itself there again. */
  onDue(nowMs: number): void;
}

export class Wheel {
  readonly #stepMs: number;
  readonly #slots = new Map<number, Set<Timed>>();
  readonly #slotOf = new Map<Timed, number>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #lastStep = 0;

  /** Nothing is ever more than two steps late. */
  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  get size(): number {
    return this.#slotOf.size;
  }

  /** Puts it on the wheel; where it is there already, only for an earlier time. */
  add(item: Timed): void {
    if (this.#timer === undefined) this.#start();
    const step = this.#stepOf(item.dueMs);
    const present = this.#slotOf.get(item);
    if (present !== undefined) {
      if (present <= step) return;
      this.#slots.get(present)?.delete(item);
    }
    const slot = this.#slots.get(step);
    if (slot === undefined) this.#slots.set(step, new Set([item]));
    else slot.add(item);
    this.#slotOf.set(item, step);
  }

  remove(item: Timed): void {
    const step = this.#slotOf.get(item);
    if (step === undefined) return;
    this.#slotOf.delete(item);
    const slot = this.#slots.get(step);
    slot?.delete(item);
    if (slot?.size === 0) this.#slots.delete(step);
  }

  /** The step at whose look the time has passed. */
  #stepOf(dueMs: number): number {
    const step = Math.ceil(Math.min(dueMs, Number.MAX_SAFE_INTEGER) / this.#stepMs);
    return Math.max(step, this.#lastStep + 1);
  }

  #start(): void {
    this.#lastStep = Math.floor(performance.now() / this.#stepMs);
    this.#timer = setInterval(() => this.#look(), this.#stepMs);
    this.#timer.unref();
  }

  #look(): void {
    const nowMs = performance.now();
    const step = Math.floor(nowMs / this.#stepMs);
    for (let each = this.#lastStep + 1; each <= step; each += 1) this.#turn(each, nowMs);
    this.#lastStep = Math.max(step, this.#lastStep);
    if (this.#slotOf.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #turn(step: number, nowMs: number): void {
    const slot = this.#slots.get(step);
    if (slot === undefined) return;
    this.#slots.delete(step);
    for (const item of slot) {
      this.#slotOf.delete(item);
      if (item.dueMs > nowMs) this.add(item);
      else item.onDue(nowMs);
    }
  }
}
