/** Memory for bodies in flight: the interface between body readers and the shared memory limit. */

import type { Buffer } from 'node:buffer';
import type { GatewayError } from './errors.ts';
import type { Listening } from './outcome.ts';

/** What one body holds. It is asked for before the memory is, and given back after it. */
export interface MemoryLease {
  readonly bytes: number;
  /** So many in all, at once; where there is no memory for them, false, and it holds what it held. Never waits. */
  growTo(bytes: number): boolean;
  /** Gives back what is beyond that. */
  shrinkTo(bytes: number): void;
  /** Gives back all of it. Only the first time does anything. */
  release(): void;
}

/** For whose body memory is requested, and how long the request may wait. */
export interface LeaseRequest {
  /** The ID of the key whose share it is. */
  readonly key: string;
  readonly client: Listening;
  readonly waitMs: number;
}

export interface MemoryPool {
  /**
   * Memory to begin with. Without a promise where it can be had at once; else it waits, holding nothing. Throws `overloaded` where
   * too many wait or its time is up, and `client_closed` where the client leaves meanwhile.
   */
  enter(leaseRequest: LeaseRequest, bytes: number): MemoryLease | Promise<MemoryLease>;
}

/** Is told what came of reading a body: one of these, once. */
export interface BodyWaiter {
  onWhole(body: Buffer | Promise<Buffer>): void;
  onFailed(error: GatewayError): void;
}
