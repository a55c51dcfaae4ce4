/** Describes an admin endpoint as data: path, role, request and answer. Routes, checks, OpenAPI and the console's types derive from it. */

import * as z from 'zod';
import type { Role } from '../core/role.ts';
import { recordOf } from '../lib/record-of.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may use an endpoint. `anyone`: even before signing in; `member`: any signed-in member, for its own settings. */
export type Needed = 'anyone' | 'member' | Role;

type Shape = z.ZodType;
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
  /** The endpoint's path, such as `/api/models/:id`; a parameter is one encoded segment. */
  readonly path: Path;
  /** What the endpoint does, in one line and in the imperative. */
  readonly summary: string;
  readonly tag: Tag;
  readonly needs: Needed;
  /** Set where the action gives lasting power: API tokens and sessions without a recent proof of identity are refused (`access/sign-in.ts`). */
  readonly proof?: true;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The answer's schema; undefined where there is no body, or a stream. */
  readonly answer?: A;
  /** The media type of the answer, where it is a stream. */
  readonly streams?: string;
  /** The status of a success, by default 200, or 204 without an answer. */
  readonly status?: number;
  /** Set for a POST that runs only once when it is repeated with the same `Idempotency-Key`. */
  readonly once?: true;
}

/** The groups of endpoints, in the order of the OpenAPI document. */
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

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type ParamsIn<Path extends string> =
  NamesIn<Path> extends never ? undefined : z.ZodObject<Readonly<Record<NamesIn<Path>, z.ZodString>>>;

/** Defines endpoints of one tag: method and path as in `GET /api/keys/:id`, the needed role, and the rest. Path parameters are IDs by default. */
export function endpointsOf(tag: Tag) {
  return <
    M extends Method,
    Path extends string,
    P extends MaybeShape = ParamsIn<Path>,
    Q extends MaybeShape = undefined,
    B extends MaybeShape = undefined,
    A extends MaybeShape = undefined,
  >(
    asked: `${M} ${Path}`,
    needs: Needed,
    rest: Omit<Endpoint<M, Path, P, Q, B, A>, 'method' | 'path' | 'tag' | 'needs'>,
  ): Endpoint<M, Path, P, Q, B, A> => {
    const [method, path] = asked.split(' ', 2) as [M, Path];
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    const params = names.length === 0 ? undefined : z.object(recordOf(names, () => z.string().min(1).max(256)));
    return Object.freeze({ method, path, tag, needs, params: params as P, ...rest });
  };
}

/** The request and answer of an endpoint, as sent over the wire. */
export type Asked<E> =
  E extends Endpoint<Method, string, infer P, infer Q, infer B, infer A>
    ? {
        readonly params: P extends Shape ? z.input<P> : undefined;
        readonly query: Q extends Shape ? Written<z.input<Q>> : undefined;
        readonly body: B extends Shape ? Sent<z.input<B>> : undefined;
        readonly answer: A extends Shape ? z.output<A> : undefined;
      }
    : never;

/** The input that a request's body may have; an open record accepts any object. */
type Sent<B> = unknown extends B ? B : Record<string, unknown> extends B ? object : { [N in keyof B]: Sent<B[N]> };

/** The input that a query may have: a schema that converts texts to numbers does not state its input type. */
type Written<Q> = { readonly [N in keyof Q]: unknown extends Q[N] ? string | number : Q[N] };
