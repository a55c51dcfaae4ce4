/** One thing that the console or a script may ask for: where, who may, what it takes, what it gives. Routes, checks and OpenAPI derive from it. */

import type * as z from 'zod';
import type { Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import type { Needed } from './roles.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type Shape = z.ZodType;
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
  /** The address of the peer, as the socket has it. */
  readonly address: string;
  /** Fires when the caller is gone. */
  readonly signal: AbortSignal;
  /** The body as it came, for an endpoint without a shape for it; up to `bodyLimitBytes` where no other limit is given. */
  raw(limitBytes?: number): Promise<Buffer>;
}

/** An answer that is more than a body: `replyWith` makes it. A `Response` goes out as it is (streams, redirects). */
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
  /** Pairs where a name stands more than once. */
  readonly headers?: HeaderFacts;
}

export function replyWith<T>(body: T, facts: ReplyFacts): Reply<T> {
  return new Reply(body, facts);
}

export interface Endpoint<
  P extends Shape | undefined = Shape | undefined,
  Q extends Shape | undefined = Shape | undefined,
  B extends Shape | undefined = Shape | undefined,
  A extends Shape | undefined = Shape | undefined,
> {
  readonly method: Method;
  /** Such as `/api/models/:id`; a parameter is one encoded segment. */
  readonly path: string;
  /** One line for people, in the imperative. */
  readonly summary: string;
  /** Under which it stands in the document. */
  readonly tag: string;
  readonly needs: Needed;
  /** It gives lasting power: for no API token, and for a session only with fresh proof (`access/proof.ts`). */
  readonly proof?: true;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** What comes back; none for no body, or for what the endpoint streams. */
  readonly answer?: A;
  /** What streams, as its media type. */
  readonly streams?: string;
  /** Where it is not 200 (or 204 where there is no answer). */
  readonly status?: number;
  readonly bodyLimitBytes?: number;
  /** A POST that may be sent again with the same `Idempotency-Key`, and is done once. */
  readonly once?: true;
  run(call: Call<P, Q, B>): Promise<Answer<A>> | Answer<A>;
}

type Answer<A extends Shape | undefined> = A extends Shape
  ? z.input<A> | Reply<z.input<A>> | Response
  : undefined | Reply<undefined> | Response;

/** Any endpoint, whatever its shapes: what lists of them hold. */
export type AnyEndpoint = Omit<Endpoint, 'run'> & { run(call: never): unknown };

export function defineEndpoint<
  P extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  A extends Shape | undefined = undefined,
>(endpoint: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return Object.freeze(endpoint);
}
