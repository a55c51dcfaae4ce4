/** Translation between a client's wire format and an upstream's: builds the call's request, and reads its response. */

import type { Buffer } from 'node:buffer';
import type { JsonFields } from '../lib/json/json-scan.ts';
import type { Json, JsonObject } from '../lib/json/json-text.ts';
import type { Usage } from './accounting/usage.ts';
import { GatewayError } from './errors.ts';
import type { KnownLimits } from './list-limits.ts';
import type { Options } from './options.ts';
import type { TargetScores } from './scores.ts';

/** The shapes in which a client may have its reranked documents (`x-postern-shape`). */
export const rerankShapes = ['cohere', 'jina', 'voyage', 'tei'] as const;
export type RerankShape = (typeof rerankShapes)[number];

/** What texts are embedded for, where the client says it in words that one service has and another has not. */
export type Purpose = 'document' | 'query' | 'classification' | 'clustering';

/** What a client of another API said that the operation's own request has no place for. */
export interface ApiWords {
  /** The wire that it was said in. */
  readonly clientApi: string;
  readonly purpose?: Purpose | undefined;
  /** By its names there; an upstream that speaks the same wire understands them. */
  readonly more: JsonObject;
}

/** Numbers other than floats in which some upstreams give vectors. */
export const vectorKinds = ['int8', 'uint8', 'binary', 'ubinary'] as const;
export type VectorKind = (typeof vectorKinds)[number];

/** What shows of a request before it is read: the kinds and places of its watched fields. */
export interface Glance {
  readonly body: Buffer;
  readonly fields: JsonFields;
  readonly shape: RerankShape | undefined;
  readonly tokenIds: TokenIds;
}

/** What lists of token IDs are taken for: those of a vocabulary, of the one that goes with the model's name, or the upstream's own. */
export const tokenIdKinds = ['decode', 'cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base', 'pass'] as const;
export type TokenIds = (typeof tokenIdKinds)[number];

/** What the operator wants done with a parameter that the upstream has no name for. Undefined: refused, save the harmless ones. */
export type Unsupported = 'refuse' | 'drop' | undefined;

/** Of what a client calls a parameter, as much is repeated. */
const longestName = 200;

const orElse = 'or ask the operator for a target that can';
const withoutIt = `leave it out, ${orElse}`;

/** A client's request, and what the operator says of the target. */
export class Asked {
  /** As the client sent it, completed by the target's `defaults`; what was null is not there. */
  readonly body: JsonObject;
  /** What the operator set for the target, as `body` has it where the client sent none. */
  readonly defaults: JsonObject;
  /** The upstream's name for the model. */
  readonly model: string;
  /** The name by which the client asked for it: what it took its tokens for. */
  readonly publicModel: string;
  readonly shape: RerankShape | undefined;
  readonly tokenIds: TokenIds;
  /** Undefined where nothing is ranked. */
  readonly scores: TargetScores | undefined;
  readonly options: Options;
  /** The ID of the exchange. */
  readonly id: string;
  readonly nowS: number;
  /** Where it came by a client API. */
  readonly words: ApiWords | undefined;
  /** What was left out of the call, in the order of its discovery. */
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
    this.#unsupported = parts.unsupported;
    this.#upstreamId = parts.upstreamId;
  }

  /** The upstream cannot serve it: refused by name, or left out where the operator says so. */
  cannot(parameter: string, why = 'has no such parameter'): void {
    if (this.#unsupported !== 'drop') throw this.refusal(parameter, why, withoutIt);
    this.ignored.add(parameter);
  }

  /** The upstream has no name for it, and the answer is good without: left out unless the operator wants it refused. */
  canDoWithout(parameter: string, why = 'has no such parameter'): void {
    if (this.#unsupported === 'refuse') throw this.refusal(parameter, why, withoutIt);
    this.ignored.add(parameter);
  }

  /** For what cannot be left out, whatever the operator says. */
  refusal(parameter: string, why: string, next = `change it, ${orElse}`): GatewayError {
    const name = parameter.length > longestName ? `${parameter.slice(0, longestName)}...`.toWellFormed() : parameter;
    return new GatewayError('unsupported_parameter', {
      param: name,
      message: `The field "${name}" cannot be served: the upstream "${this.#upstreamId}" ${why}; ${next}.`,
    });
  }
}

interface AskedParts {
  readonly body: JsonObject;
  readonly defaults?: JsonObject;
  readonly model: string;
  readonly publicModel: string;
  readonly shape: RerankShape | undefined;
  readonly tokenIds: TokenIds;
  readonly scores?: TargetScores | undefined;
  readonly options: Options;
  readonly id: string;
  readonly nowS: number;
  readonly words?: ApiWords | undefined;
  readonly unsupported: Unsupported;
  readonly upstreamId: string;
}

export interface WireRequest {
  readonly body: JsonObject;
  /** Instead of the offer's own, where there are several; may hold `{model}` and names of options. */
  readonly path?: string;
}

/** A good answer, whole. */
export interface WireAnswer {
  readonly body: Json;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** What the client gets. */
export interface Reply {
  readonly body: Json;
  /** What the upstream counted; null where it said nothing and the answer holds an estimate, or none. */
  readonly usage: Usage | null;
  readonly isEstimated?: boolean;
  /** Of embeddings: how many numbers the first vector has, and how many the client asked the upstream for; undefined where that is not known. */
  readonly width?: { readonly came: number | undefined; readonly asked: number | undefined };
  /** There was one answer, and the client can have it: its own bytes pass, and the body here is none of it. */
  readonly isAsItCame?: boolean;
}

/** A stream in the client's shape, made of the events of another. */
export interface StreamReader {
  /** The data of one event; what the client gets for it, event by event. Throws `Unfit` where it is none. */
  event(data: Json): readonly Json[];
  /** The upstream is done: what is still owed to the client before `[DONE]`. */
  end(): readonly Json[];
  /** Whether all has come that was to come: some upstreams end without saying so. */
  readonly isComplete: boolean;
  readonly usage: Usage | null;
}

export interface Conversation {
  /** At least one. */
  readonly requests: readonly WireRequest[];
  /** From one answer for each request, in their order. Throws `Unfit`. */
  read(answers: readonly WireAnswer[]): Reply | Promise<Reply>;
  /** What one of several answers counted; null where it does not say. Throws `Unfit`. */
  counted?(answer: WireAnswer, index: number): Usage | null;
  /** Where the client wants a stream: there is one request then. */
  readonly stream?: StreamReader;
}

export interface Translation {
  /** Whether a request needs it; without this, every one does, as the upstream's wire format is another. */
  isNeeded?(glance: Glance): boolean;
  /** Of operations that are maps over a list: what one call holds. A longer list is taken apart before anyone is asked. */
  readonly limits?: KnownLimits;
  /** Of embeddings: the upstream is told in its own words whether a text is a query or a document. */
  readonly hasRoles?: true;
  /** Throws a `GatewayError` for what the upstream cannot serve. */
  ask(asked: Asked): Conversation | Promise<Conversation>;
}

/** An answer that is not what was asked for. It is never passed on as good. */
export class Unfit extends Error {
  constructor(fact: string) {
    super(fact);
    this.name = 'Unfit';
  }
}

/** What an upstream says of an error, in whatever words. What kind of error it is, its status says. */
export interface SaidError {
  readonly message?: string | undefined;
  /** Where it lies in the call, as a path. */
  readonly param?: string | undefined;
  /** It is about the operator's credential, whatever its status is. */
  readonly isOurKey?: true;
}

/** How a family speaks of errors, where it is not OpenAI's way. Every known spelling is read without being named here. */
export interface ErrorWireFormat {
  /** Statuses that no client knows, and what to answer instead. */
  readonly statuses?: Readonly<Record<number, number>>;
  /** The status that is meant by an answer that says 200. */
  hiddenIn?(body: Json): number | undefined;
  /** What it says in its own way, such as in a header; what it leaves out is looked for where others have it. */
  read?(body: Json | undefined, headers: readonly string[]): SaidError | undefined;
  /** When it may be asked again, where its body says so, in seconds. */
  retryAfterS?(body: Json): number | undefined;
  /** Its words speak of the operator's account: they are withheld for these statuses. */
  readonly withheld?: readonly number[];
}

/** Shown on the answer's head and kept with the exchange. */
export interface Translated {
  /** `x-postern-translated`: the family, or the bridge. */
  readonly by: string;
  readonly ignored: readonly string[];
  readonly isEstimated: boolean;
  readonly usage: Usage | null;
}
