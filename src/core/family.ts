/** A kind of upstream: facts and small functions. What it offers, under which label, at which path. */

import type { Label, Operation } from './operation.ts';

/** How an upstream wants its credential: one header, built once when the configuration is compiled. */
export interface Auth {
  readonly header: string;
  readonly prefix: string;
}

export const bearer = (): Auth => ({ header: 'authorization', prefix: 'Bearer ' });

/** An answer made in this process; a body in parts is a stream and is sent part by part. */
export interface MadeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | AsyncIterable<Buffer>;
}

/** Makes an answer without a network. `signal` fires when the client is gone. */
export type Maker = (body: Buffer, signal: AbortSignal) => MadeAnswer | Promise<MadeAnswer>;

/** One operation as a family serves it. */
export interface Offer {
  /** Under the upstream's base URL; `{model}` is replaced by the upstream's name, as one encoded segment. */
  readonly path: string;
  /** Used only by upstreams whose configuration has this switch set, such as `legacy_engines: native`. */
  readonly onlyWhen?: 'legacy_engines';
  readonly make?: Maker;
}

type Offers = Readonly<Partial<Record<Label, Readonly<Partial<Record<Operation, Offer>>>>>>;

/** A model that an upstream of the family serves without being declared. */
export interface BuiltInModel {
  readonly id: string;
  readonly operations: readonly Operation[];
}

export interface Family {
  readonly id: string;
  /** For people: how the family is called in lists and documents. */
  readonly title: string;
  /** Where upstreams of the family are when the configuration does not say; none for families without a network. */
  readonly baseUrl?: string;
  readonly auth?: Auth;
  /** The environment variable that usually holds a key for it, and models to start with (`postern init`). */
  readonly starter?: { readonly apiKeyEnv: string; readonly models: readonly BuiltInModel[] };
  readonly builtIn?: readonly BuiltInModel[];
  readonly offers: Offers;
  /**
   * Some say 200 and mean an error. Of a short JSON body of that status, by its beginning: the status that is meant, undefined
   * where it is an answer, and `unclear` where more of it has to be seen (`isWhole` says that there is no more).
   */
  readonly failureIn?: (beginning: Buffer, isWhole: boolean) => number | 'unclear' | undefined;
}

export function defineFamily(family: Family): Family {
  return Object.freeze(family);
}
