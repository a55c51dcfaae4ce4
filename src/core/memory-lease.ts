/** Interface to reserve memory for bodies in flight from the limit that all of them share. */

import type { Buffer } from 'node:buffer';
import type { GatewayError } from './errors.ts';
import type { Listening } from './outcome.ts';

/** Reserved memory for one body: taken before the memory is allocated, released after it is freed. */
export interface MemoryLease {
  readonly bytes: number;
  /** Enlarges the lease to `bytes` in all, at once; returns false and changes nothing where there is no memory. Never waits. */
  growTo(bytes: number): boolean;
  shrinkTo(bytes: number): void;
  /** Releases the whole lease. Idempotent. */
  release(): void;
}

/** Which key asks for memory, and how long the request may wait. */
export interface LeaseRequest {
  readonly key: string;
  readonly client: Listening;
  readonly waitMs: number;
}

export interface MemoryPool {
  /** Reserves memory. Returns no promise where it is available. Throws `overloaded` where too many wait or the time is up, or `client_closed`. */
  enter(leaseRequest: LeaseRequest, bytes: number): MemoryLease | Promise<MemoryLease>;
}

/** How much memory is held, and how many requests wait for some at this moment. */
export interface BodyMemoryState {
  readonly heldBytes: number;
  readonly totalBytes: number;
  readonly waiting: number;
  /** Requests refused since the start because they could not wait, or waited in vain; and bodies that found no memory while growing. */
  readonly refused: number;
  readonly outgrown: number;
}

/** Receives the result of reading a body: one of these calls, once. */
export interface BodyWaiter {
  onWhole(body: Buffer | Promise<Buffer>): void;
  onFailed(error: GatewayError): void;
}
