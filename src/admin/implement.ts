/** Binds the implementation of an admin endpoint to its description. */

import type * as z from 'zod';
import type { Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import type { Endpoint, Method, Shape } from './endpoint.ts';

type Of<S extends Shape | undefined> = S extends Shape ? z.output<S> : undefined;

export interface Call<
  P extends Shape | undefined = Shape | undefined,
  Q extends Shape | undefined = Shape | undefined,
  B extends Shape | undefined = Shape | undefined,
> {
  readonly params: Of<P>;
  readonly query: Of<Q>;
  readonly body: Of<B>;
  readonly caller: Caller;
  readonly context: AdminContext;
  readonly headers: Headers;
  /** The peer's address on the socket. */
  readonly address: string;
  /** Fires when the caller disconnects. */
  readonly signal: AbortSignal;
  /** The raw body, for an endpoint without a schema for it; up to `bodyLimitBytes` by default. */
  raw(limitBytes?: number): Promise<Buffer>;
}

/** An answer with more than a body, made by `replyWith`. A `Response` is sent unchanged (streams, redirects). */
export class Reply<T> {
  readonly body: T;
  readonly status: number | undefined;
  readonly headers: readonly (readonly [string, string])[];

  constructor(body: T, { status, headers = {} }: ReplyFacts) {
    this.body = body;
    this.status = status;
    this.headers = toPairs(headers);
  }
}

type HeaderFacts = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

const toPairs = (headers: HeaderFacts): readonly (readonly [string, string])[] =>
  Array.isArray(headers) ? headers : Object.entries(headers);

interface ReplyFacts {
  readonly status?: number;
  /** Pairs where a name is repeated. */
  readonly headers?: HeaderFacts;
}

export function replyWith<T>(body: T, facts: ReplyFacts): Reply<T> {
  return new Reply(body, facts);
}

/** The type of an answer: output may be read-only. */
export type Given<T> = T extends object ? { readonly [N in keyof T]: Given<T[N]> } : T;

type Answer<A extends Shape | undefined> = A extends Shape
  ? Given<z.input<A>> | Reply<Given<z.input<A>>> | Response
  : undefined | Reply<undefined> | Response;

type Run<
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  A extends Shape | undefined,
> = (call: Call<P, Q, B>) => Promise<Answer<A>> | Answer<A>;

/** Any endpoint with its implementation, for lists of them. */
export type Implemented = Endpoint & { run(call: never): unknown };

export function implement<
  M extends Method,
  Path extends string,
  P extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  A extends Shape | undefined,
>(
  endpoint: Endpoint<M, Path, P, Q, B, A>,
  run: Run<P, Q, B, A>,
): Endpoint<M, Path, P, Q, B, A> & { readonly run: Run<P, Q, B, A> } {
  return Object.freeze({ ...endpoint, run });
}
