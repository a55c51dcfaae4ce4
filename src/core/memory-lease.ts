/** Memory for bodies in flight: the interface between body readers and the shared memory limit. */

import type { Buffer } from 'node:buffer';
import type { GatewayError } from './errors.ts';
import type { Listening } from './outcome.ts';

/** Memory for one body. Acquired before the memory is allocated, released after it is freed. */
export interface MemoryLease {
  readonly bytes: number;
  /** Grows to `bytes` in all, at once; false, and unchanged, where there is no memory. Never waits. */
  growTo(bytes: number): boolean;
  /** Releases what is beyond `bytes`. */
  shrinkTo(bytes: number): void;
  /** Idempotent. */
  release(): void;
}

/** Whose body the memory is for, and how long the request may wait. */
export interface LeaseRequest {
  /** The ID of the key whose share it counts for. */
  readonly key: string;
  readonly client: Listening;
  readonly waitMs: number;
}

export interface MemoryPool {
  /** Returns no promise where memory is available; else waits. Throws `overloaded` where too many wait or the time is up, and `client_closed`. */
  enter(leaseRequest: LeaseRequest, bytes: number): MemoryLease | Promise<MemoryLease>;
}

/** What is held and awaited at this moment. */
export interface BodyMemoryState {
  readonly heldBytes: number;
  readonly totalBytes: number;
  readonly waiting: number;
  /** Since the start: requests that could not wait, or waited in vain; and those that found no more while growing. */
  readonly refused: number;
  readonly outgrown: number;
}

/** Receives the result of reading a body: one of these calls, once. */
export interface BodyWaiter {
  onWhole(body: Buffer | Promise<Buffer>): void;
  onFailed(error: GatewayError): void;
}
