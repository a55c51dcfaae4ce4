/** Reserves memory for bodies, at once or after a bounded wait; counts refusals and explains them to the client. */

import { GatewayError } from '../core/errors.ts';
import type { BodyMemoryState, LeaseRequest, MemoryLease, MemoryPool } from '../core/memory-lease.ts';
import type { ClientWork } from '../core/outcome.ts';
import { BodyBudget, type BudgetLimits, type LeaseWaiter } from './body-budget.ts';
import type { ProcessMemory } from './process-memory.ts';

export interface BodyMemory extends MemoryPool {
  configure(limits: BudgetLimits): void;
  state(): BodyMemoryState;
}

const litterFromBytes = 256 * 1024;
const worthCollectingBytes = 16 * 1024 ** 2;
/** Limit of released but uncollected memory, as a share of the memory limit: V8 itself might exceed all of it. */
const mostLitter = 0.5;
/** Delay between the last long body and a garbage collection. */
const quietMs = 2_000;

const retryAfter = ['Retry-After', '1'];

/** Creates a memory limit; `what` names its use, such as: request bodies. */
export function createBodyMemory(what: string, limits: BudgetLimits, collector: Collector): BodyMemory {
  const litter = new Litter(collector, () => budget.totalBytes * mostLitter);
  const budget = new BodyBudget(limits, (bytes) => litter.add(bytes));
  let refused = 0;

  function refusal(why: string): GatewayError {
    refused += 1;
    return new GatewayError('overloaded', {
      message: `There is no memory left for ${what} (server.body_memory): ${why}; try again in 1 s.`,
      headers: retryAfter,
      cause: `memory for ${what}: ${budget.heldBytes} of ${budget.totalBytes} bytes held, ${budget.waiting} waiting`,
    });
  }

  function wait(leaseRequest: LeaseRequest, bytes: number): Promise<MemoryLease> {
    return new Promise((resolve, reject) => {
      const waiter = new WaitingBody(leaseRequest, bytes, { budget, resolve, reject, refusal });
      const answer = budget.wait(waiter);
      if (answer === 'waiting') waiter.begin();
      else reject(refusal(answer === 'full' ? 'as many wait for it as may' : 'as many of this key wait for it as may'));
    });
  }

  return {
    enter(leaseRequest, bytes) {
      const lease = budget.take(leaseRequest.key, bytes);
      return lease === undefined ? wait(leaseRequest, bytes) : lease;
    },
    configure: (next) => budget.configure(next),
    state: () => {
      const { heldBytes, totalBytes, waiting, outgrown } = budget;
      return { heldBytes, totalBytes, waiting, refused, outgrown };
    },
  };
}

type Collector = Pick<ProcessMemory, 'readBufferBytes' | 'collectGarbage' | 'beginCollection'>;

/** Collects the garbage of long bodies: V8 would do so only when they equal the live heap, or after hours of idling. */
class Litter {
  readonly #collector: Collector;
  readonly #mostBytes: () => number;
  #bytes = 0;
  /** Buffer memory when a collection in steps began; undefined once another long body came. */
  #heldBefore: number | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(collector: Collector, mostBytes: () => number) {
    this.#collector = collector;
    this.#mostBytes = mostBytes;
  }

  add(bytes: number): void {
    if (bytes < litterFromBytes) return;
    this.#bytes += bytes;
    this.#heldBefore = undefined;
    if (this.#bytes < worthCollectingBytes) return;
    // Under load a pause hurts, and V8 collects by itself: but not always soon enough to stay within the limit.
    if (this.#bytes < this.#mostBytes()) this.#lookLater();
    else if (this.#collector.readBufferBytes() < this.#bytes / 2) this.#bytes /= 2;
    else this.#end(true);
  }

  /** Collects in steps at first: a collection at once would also drop the compiled code for requests. */
  collect(): void {
    this.#timer = undefined;
    const held = this.#collector.readBufferBytes();
    const before = this.#heldBefore;
    if (held < this.#bytes) this.#end(false);
    else if (before !== undefined) this.#end(held > before - this.#bytes / 2);
    else {
      this.#heldBefore = held;
      this.#collector.beginCollection();
      this.#lookLater();
    }
  }

  #lookLater(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(collect, quietMs, this).unref();
    else this.#timer.refresh();
  }

  #end(isThere: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#heldBefore = undefined;
    this.#bytes = 0;
    if (isThere) this.#collector.collectGarbage();
  }
}

function collect(litter: Litter): void {
  litter.collect();
}

interface Ending {
  readonly budget: BodyBudget;
  resolve(lease: MemoryLease): void;
  reject(error: GatewayError): void;
  refusal(why: string): GatewayError;
}

class WaitingBody implements LeaseWaiter, ClientWork {
  readonly key: string;
  readonly bytes: number;
  readonly #seeker: LeaseRequest;
  readonly #ending: Ending;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** The work that would be stopped when the client leaves, as set before this wait began; restored afterwards. */
  #before: ClientWork | undefined = undefined;
  #isOver = false;

  constructor(leaseRequest: LeaseRequest, bytes: number, ending: Ending) {
    this.key = leaseRequest.key;
    this.bytes = bytes;
    this.#seeker = leaseRequest;
    this.#ending = ending;
  }

  /** Starts waiting, unless the memory came at once because no request was ahead. */
  begin(): void {
    if (this.#isOver) return;
    const { client } = this.#seeker;
    this.#before = client.work;
    client.work = this;
    this.#timer = setTimeout(giveUp, this.#seeker.waitMs, this).unref();
  }

  entered(lease: MemoryLease): void {
    this.#end();
    this.#ending.resolve(lease);
  }

  clientLeft(): void {
    const before = this.#before;
    this.#leave(new GatewayError('client_closed'));
    before?.clientLeft();
  }

  timeIsUp(): void {
    if (this.#isOver) return;
    const { budget, refusal } = this.#ending;
    const why = `this key holds ${budget.heldBy(this.key)} of ${budget.totalBytes} bytes, others ${budget.heldBytes - budget.heldBy(this.key)}`;
    this.#leave(refusal(`none came free within ${this.#seeker.waitMs / 1_000} s (${why})`));
  }

  #leave(error: GatewayError): void {
    if (this.#isOver) return;
    this.#ending.budget.withdraw(this);
    this.#end();
    this.#ending.reject(error);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const { client } = this.#seeker;
    if (client.work === this) client.work = this.#before;
  }
}

function giveUp(waiter: WaitingBody): void {
  waiter.timeIsUp();
}
