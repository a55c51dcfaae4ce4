/** An admin endpoint as data: path, role, request and response. Routes, checks, OpenAPI and the console's types derive from it. */

import type * as z from 'zod';
import type { Needed } from './roles.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Shape = z.ZodType;
type MaybeShape = Shape | undefined;

export interface Endpoint<
  M extends Method = Method,
  Path extends string = string,
  P extends MaybeShape = MaybeShape,
  Q extends MaybeShape = MaybeShape,
  B extends MaybeShape = MaybeShape,
  A extends MaybeShape = MaybeShape,
> {
  readonly method: M;
  /** Such as `/api/models/:id`; a parameter is one encoded segment. */
  readonly path: Path;
  /** One line for people, in the imperative. */
  readonly summary: string;
  /** Under which it stands in the document. */
  readonly tag: Tag;
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
}

/** In the order of the document. */
export const tags = [
  'Access',
  'Me',
  'Members',
  'Tokens',
  'Overview',
  'Series',
  'Alerts',
  'Upstreams',
  'Models',
  'Playground',
  'Keys and projects',
  'Settings',
  'Ledger',
  'Audit',
  'About',
] as const;

type Tag = (typeof tags)[number];

/** Makes those that stand under one tag: what is asked, as in `GET /api/keys/:id`, who may, and the rest. */
export function endpointsOf(tag: Tag) {
  return <
    M extends Method,
    Path extends string,
    P extends MaybeShape = undefined,
    Q extends MaybeShape = undefined,
    B extends MaybeShape = undefined,
    A extends MaybeShape = undefined,
  >(
    asked: `${M} ${Path}`,
    needs: Needed,
    rest: Omit<Endpoint<M, Path, P, Q, B, A>, 'method' | 'path' | 'tag' | 'needs'>,
  ): Endpoint<M, Path, P, Q, B, A> => {
    const [method, path] = asked.split(' ', 2) as [M, Path];
    return Object.freeze({ method, path, tag, needs, ...rest });
  };
}

/** What whoever asks has to give, and what comes back: as it goes over the wire. */
export type Asked<E> =
  E extends Endpoint<Method, infer Path, infer P, infer Q, infer B, infer A>
    ? {
        readonly params: P extends Shape ? z.input<P> : ParamsOf<Path>;
        readonly query: Q extends Shape ? Written<z.input<Q>> : undefined;
        readonly body: B extends Shape ? Sent<z.input<B>> : undefined;
        readonly answer: A extends Shape ? z.output<A> : undefined;
      }
    : never;

type ParamsOf<Path extends string> = Path extends `${string}/:${string}` ? never : undefined;

/** An open record takes any object. */
type Sent<B> = unknown extends B ? B : Record<string, unknown> extends B ? object : { [N in keyof B]: Sent<B[N]> };

/** A shape that reads a number out of a text says nothing of what it takes. */
type Written<Q> = { readonly [N in keyof Q]: unknown extends Q[N] ? string | number : Q[N] };
