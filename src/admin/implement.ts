/** Binds the implementation of an admin endpoint to its description. */

import type * as z from 'zod';
import type { Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';

type Read<S> = [Exclude<S, undefined>] extends [never] ? undefined : z.output<Exclude<S, undefined>>;

export interface Call<E extends Endpoint = Endpoint> {
  readonly params: Read<E['params']>;
  readonly query: Read<E['query']>;
  readonly body: Read<E['body']>;
  readonly caller: Caller;
  readonly context: AdminContext;
  readonly headers: Headers;
  /** The peer's address on the socket. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** The unparsed body, for an endpoint without a schema for it. */
  raw(limitBytes: number): Promise<Buffer>;
}

interface ReplyFacts {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with a status or headers besides its body. A `Response` is sent unchanged, for streams and redirects. */
export class Reply<T> {
  readonly body: T;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: T, { status, headers = {} }: ReplyFacts) {
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}

/** What an endpoint may return for its answer's type: the same data, also where it is read-only. */
export type Given<T> = T extends object ? { readonly [N in keyof T]: Given<T[N]> } : T;

type Answer<S> = Given<z.input<Exclude<S, undefined>>>;

type Run<E extends Endpoint> = [Exclude<E['answer'], undefined>] extends [never]
  ? ((call: Call<E>) => Promise<void>) | ((call: Call<E>) => Promise<Reply<undefined> | Response> | Response)
  : (call: Call<E>) => Promise<Sent<E['answer']>> | Sent<E['answer']>;

type Sent<S> = Answer<S> | Reply<Answer<S>> | Response;

/** Any endpoint with its implementation, for lists of them. */
export type Implemented = Endpoint & { run(call: never): unknown };

export function implement<E extends Endpoint>(endpoint: E, run: Run<E>): E & { readonly run: Run<E> } {
  return Object.freeze({ ...endpoint, run });
}
