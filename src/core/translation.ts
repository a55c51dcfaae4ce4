/** Defines translation between a client's wire format and an upstream's: it builds the request for the upstream, and reads its response. */

import type { Buffer } from 'node:buffer';
import type { JsonFields } from '../lib/json/json-scan.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import type { Usage } from './accounting/usage.ts';
import { GatewayError } from './errors.ts';
import type { TargetScores } from './scores.ts';

/** The shapes of reranked documents (`x-postern-shape`). */
export const rerankShapes = ['cohere', 'jina', 'voyage', 'tei'] as const;
export type RerankShape = (typeof rerankShapes)[number];

/** The shape of reranked documents that a request wants: `top_k` in place of `top_n` is what Voyage's clients send. */
export function rerankShapeOf(said: RerankShape | undefined, has: (name: string) => boolean): RerankShape | undefined {
  return said ?? (has('top_k') && !has('top_n') ? 'voyage' : undefined);
}

/** Adds `data`, in which Voyage's clients read results with their documents as texts. */
export function withData({ id, object, model, ...more }: JsonObject): JsonObject {
  const results = isJsonList(more.results) ? more.results : [];
  const data = results.map((one) => (isJsonObject(one) ? { ...one, document: plainText(one.document) } : one));
  return { id, object, model, data, ...more };
}

export function plainText<D extends Json | undefined>(document: D): D | string {
  return isJsonObject(document) && typeof document.text === 'string' ? document.text : document;
}

/** The purpose of embedded texts, by all words that any service has for it. */
export type Purpose = 'document' | 'query' | 'classification' | 'clustering';

/** Purposes by the words of Cohere, Voyage and NVIDIA in `input_type`. */
export const inputTypes: ReadonlyMap<Json, Purpose> = new Map<Json, Purpose>([
  ['search_document', 'document'],
  ['document', 'document'],
  ['passage', 'document'],
  ['search_query', 'query'],
  ['query', 'query'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
]);

/** Parts of a client API's request for which the operation's own format has no field. */
export interface ApiWords {
  readonly clientApi: string;
  readonly purpose?: Purpose | undefined;
  /** Fields under the client API's own names, for an upstream with the same wire format. */
  readonly more: JsonObject;
  /** Rerank scores should be raw, if the upstream lets a request choose the scale. */
  readonly prefersRawScores?: true;
}

/** Vector elements other than floats that some upstreams support. */
export const vectorKinds = ['int8', 'uint8', 'binary', 'ubinary'] as const;
export type VectorKind = (typeof vectorKinds)[number];

/** A view of a request that is not parsed yet: kinds and positions of its watched fields. */
export interface Glance {
  readonly body: Buffer;
  readonly fields: JsonFields;
  readonly shape: RerankShape | undefined;
  readonly tokenIds: TokenIds;
}

/** How lists of token IDs are decoded: by the vocabulary for the model's name, by a named one, or not at all. */
export const tokenIdKinds = ['decode', 'cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base', 'pass'] as const;
export type TokenIds = (typeof tokenIdKinds)[number];

/** What to do with parameters that the upstream lacks. Undefined: refuse them, except harmless ones. */
export type Unsupported = 'refuse' | 'drop' | undefined;

const longestName = 200;

const orElse = 'or ask the operator for a target that can';
const withoutIt = `leave it out, ${orElse}`;

/** A client's request with the target's settings, as a translation gets it. */
export class Asked {
  /** The request body, completed by the target's `defaults`, without null fields. */
  readonly body: JsonObject;
  /** The operator's default parameters for the target, also present in `body` where the client sent none. */
  readonly defaults: JsonObject;
  /** The upstream's name for the model. */
  readonly model: string;
  /** The client's name for the model, which decides the vocabulary of its tokens. */
  readonly publicModel: string;
  readonly shape: RerankShape | undefined;
  readonly tokenIds: TokenIds;
  readonly scores: TargetScores | undefined;
  readonly options: Options;
  readonly id: string;
  readonly nowS: number;
  /** Further fields of a client API's request; undefined where it came by no client API. */
  readonly words: ApiWords | undefined;
  /** The answer is to be merged with those of other parts of a list. */
  readonly isPart: true | undefined;
  /** Parameters left out of the call, in the order they were found. */
  readonly ignored = new Set<string>();
  readonly #unsupported: Unsupported;
  readonly #upstreamId: string;

  constructor(parts: AskedParts) {
    this.body = parts.body;
    this.defaults = parts.defaults ?? {};
    this.model = parts.model;
    this.publicModel = parts.publicModel;
    this.shape = parts.shape;
    this.tokenIds = parts.tokenIds;
    this.scores = parts.scores;
    this.options = parts.options;
    this.id = parts.id;
    this.nowS = parts.nowS;
    this.words = parts.words;
    this.isPart = parts.isPart;
    this.#unsupported = parts.unsupported;
    this.#upstreamId = parts.upstreamId;
  }

  /** For a parameter that the upstream cannot serve: refuses it by name, or leaves it out where the operator allows that. */
  cannot(parameter: string, why = 'has no such parameter'): void {
    if (this.#unsupported !== 'drop') throw this.refusal(parameter, why, withoutIt);
    this.ignored.add(parameter);
  }

  /** For a parameter that the answer can do without: leaves it out, unless the operator wants it refused. */
  canDoWithout(parameter: string, why = 'has no such parameter'): void {
    if (this.#unsupported === 'refuse') throw this.refusal(parameter, why, withoutIt);
    this.ignored.add(parameter);
  }

  /** The error for a parameter that must not be left out, whatever the operator allows. */
  refusal(parameter: string, why: string, next = `change it, ${orElse}`): GatewayError {
    const name = parameter.length > longestName ? `${parameter.slice(0, longestName)}...`.toWellFormed() : parameter;
    return new GatewayError('unsupported_parameter', {
      param: name,
      message: `The field "${name}" cannot be served: the upstream "${this.#upstreamId}" ${why}; ${next}.`,
    });
  }
}

type AskedParts = Pick<Asked, 'body' | 'model' | 'publicModel' | 'shape' | 'tokenIds' | 'options' | 'id' | 'nowS'> &
  Partial<Pick<Asked, 'defaults' | 'scores' | 'words' | 'isPart'>> & {
    readonly unsupported: Unsupported;
    readonly upstreamId: string;
  };

export interface WireRequest {
  readonly body: JsonObject;
  /** The path, where it differs from the offer's; may hold `{model}` and names of options in braces. */
  readonly path?: string;
}

export interface WireAnswer {
  readonly body: Json;
  /** Header names, each followed by its value. */
  readonly headers: readonly string[];
}

export interface Reply {
  readonly body: Json;
  /** The usage that the upstream reported; null where the answer holds an estimate, or none. */
  readonly usage: Usage | null;
  readonly isEstimated?: boolean;
  /** For embeddings: the length of the first vector, and the requested length; undefined where unknown. */
  readonly width?: { readonly came: number | undefined; readonly asked: number | undefined };
  /** The only answer has the client's format already: its bytes pass, and `body` is unused. */
  readonly isAsItCame?: boolean;
}

export interface StreamReader {
  /** Converts the data of one event to events for the client. Throws `Unfit` where it is none. */
  event(data: Json): readonly Json[];
  /** The remaining events before `[DONE]`. */
  end(): readonly Json[];
  /** Whether the stream is complete: some upstreams end without a final event. */
  readonly isComplete: boolean;
  readonly usage: Usage | null;
}

export interface Conversation {
  /** The requests for the upstream; at least one. */
  readonly requests: readonly WireRequest[];
  /** Merges the answers, one for each request and in their order. Throws `Unfit`. */
  read(answers: readonly WireAnswer[]): Reply | Promise<Reply>;
  /** The usage in one of several answers; null where it has none. Throws `Unfit`. */
  counted?(answer: WireAnswer, index: number): Usage | null;
  /** Converts the stream, where the client wants one: there is exactly one request then. */
  readonly stream?: StreamReader;
}

export interface Translation {
  /** Whether a request must be translated; absent where all must, because the wire format differs. */
  isNeeded?(glance: Glance): boolean;
  /** For lists: the limits of one call; a longer list is split before any call. */
  readonly limits?: KnownLimits;
  /** For embeddings: the upstream has a field of its own for queries and documents. */
  readonly hasRoles?: true;
  /** Translates a request. Throws a `GatewayError` for what the upstream cannot serve. */
  ask(asked: Asked): Conversation | Promise<Conversation>;
}

/** Thrown for an answer that does not match the request, which is never passed on as good. */
export class Unfit extends Error {
  constructor(fact: string) {
    super(fact);
    this.name = 'Unfit';
  }
}

export interface SaidError {
  readonly message?: string | undefined;
  readonly param?: string | undefined;
  /** The error is about the operator's credential, whatever its status. */
  readonly isOurKey?: true;
}

/** How a family reports errors, where it differs from OpenAI. Common spellings are read without it. */
export interface ErrorWireFormat {
  /** Statuses that clients do not know, each with its replacement. */
  readonly statuses?: Readonly<Record<number, number>>;
  /** The real status of an error sent with status 200. */
  hiddenIn?(body: Json): number | undefined;
  /** Reads unusual fields, such as a header; fields that it leaves undefined are read from the usual places. */
  read?(body: Json | undefined, headers: readonly string[]): SaidError | undefined;
  retryAfterS?(body: Json): number | undefined;
  /** Statuses whose text is about the operator's account, and is withheld. */
  readonly withheld?: readonly number[];
}

/** What a translation adds to the answer's headers and to the exchange. */
export interface Translated {
  /** The value of `x-postern-translated`: the name of the family or the bridge. */
  readonly by: string;
  readonly ignored: readonly string[];
  readonly isEstimated: boolean;
  readonly usage: Usage | null;
}

/** Limits of one call to a target; the upstream enforces undefined ones. */
export interface ListLimits {
  readonly items?: number | undefined;
  /** Tokens of the items, estimated high: one for three bytes. */
  readonly tokens?: number | undefined;
  /** Bytes of the items, as JSON. */
  readonly bytes?: number | undefined;
}

/** A family's limits of one call, which may depend on the upstream's name for the model, and on its options. */
export type KnownLimits = ListLimits | ((model: string, options: Options) => ListLimits);

export function limitsFor(known: KnownLimits | undefined, model: string, options: Options): ListLimits {
  return (typeof known === 'function' ? known(model, options) : known) ?? noLimits;
}

const noLimits: ListLimits = Object.freeze({});

/** An upstream's family options by name, defaults included; `base64` is the upstream's own setting. */
export type Options = Readonly<Record<string, string>>;
