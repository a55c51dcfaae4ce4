/** An upstream family as data and small functions: its operations, their labels and paths. */

import type { Buffer } from 'node:buffer';
import type { AddressRule } from '../lib/addresses/address-rule.ts';
import type { Label } from './label.ts';
import type { Operation } from './operations/index.ts';
import type { OfferedScores } from './scores.ts';
import type { ErrorWireFormat, ListLimits, Options, Translation, VectorKind } from './translation.ts';

export type { Options } from './translation.ts';

/** How an upstream takes its credential: one header, built once when the configuration is compiled. */
export interface Auth {
  readonly header: string;
  readonly prefix: string;
}

export const bearer = (): Auth => ({ header: 'authorization', prefix: 'Bearer ' });

/** A family's own setting under `upstreams[].options`. */
export interface FamilyOption {
  readonly description: string;
  /** Its valid values; without, any text that fits in a URL's segment. */
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** For people: a description of the pattern. */
  readonly form?: string;
  /** Without one the option may be left out, or must be set where it is `required`. */
  readonly default?: string;
  readonly required?: true;
}

/** A call for the signer, just before it is sent. */
export interface SignedCall {
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface SigningTools {
  nowMs(): number;
  /** A small request of the gateway's own, such as for a token. */
  post(url: string, headers: readonly string[], body: string): Promise<{ status: number; body: string }>;
}

/** The parts of the signing tools. Their requests obey the upstream's address policy. */
export interface SigningGround {
  nowMs(): number;
  post(
    ...call: [...Parameters<SigningTools['post']>, addresses: AddressRule | undefined]
  ): ReturnType<SigningTools['post']>;
}

/** Makes authentication headers from a secret; names and values in turn. Throws where it cannot. */
export type Signer = ((call: SignedCall, tools: SigningTools) => readonly string[] | Promise<readonly string[]>) & {
  /** Parts of the secret and values made of it, which no answer may contain. The same array until it grows. */
  readonly secrets?: () => readonly string[];
};

/** An answer made in this process; a body in parts is sent as a stream. */
export interface MadeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** Fields of the request that it ignored. */
  readonly ignored?: readonly string[];
}

/** Makes an answer without a network. `signal` fires when the client leaves. */
export type Maker = (body: Buffer, signal: AbortSignal) => MadeAnswer | Promise<MadeAnswer>;

/** One operation as a family serves it. */
export interface Offer {
  /** Under the base URL; `{model}` and option names in braces are replaced by the upstream's name for the model and by option values. */
  readonly path: string;
  /** The model's form in paths and bodies, where it is more than the name. */
  readonly resource?: (name: string) => string;
  /** The methods that it supports, where its path has `{verb}`; all where undefined. */
  readonly verbs?: readonly string[];
  /** A server of one model, whose bodies have no `model`. */
  readonly namesNoModel?: true;
  /** The credential is sent as for the family's chat, where that differs. */
  readonly asChat?: true;
  /** Its errors have the format that clients of the operation expect already. */
  readonly passesErrors?: true;
  /** Used only by upstreams with this switch set, such as `legacy_engines: native`. */
  readonly onlyWhen?: 'legacy_engines';
  readonly make?: Maker;
  /** Without one, bytes pass unchanged. */
  readonly translation?: Translation;
  /** The value of `x-postern-translated`, where it is not the family. */
  readonly translatedBy?: string;
  /** Upper bound of tokens per item beyond the client's own: a surrounding task, a verdict. */
  readonly addedTokens?: { readonly input: number; readonly output: number };
  /** Without a client's `max_tokens` none is sent: the answer's length has no bound. */
  readonly isUnlimited?: boolean;
  /** For reranking: the scale of its scores; unknown where undefined. */
  readonly scores?: OfferedScores;
  /** The client API whose fields it also understands. */
  readonly speaks?: string;
  /** For embeddings: vector types other than floats, by the client's `output_dtype`. */
  readonly vectorKinds?: readonly VectorKind[];
  /** For lists: the limits of one call at the family's own address; unknown for other services on the same wire format. */
  readonly limitsAtHome?: ListLimits;
  /** For people: what it supports and what not. A fact that nobody could verify says so. */
  readonly facts?: string;
  /** For people: what an unknown token ID causes, where it is worse than an error. */
  readonly perilOfTokenIds?: string;
}

export type Offers = Readonly<Partial<Record<Label, Readonly<Partial<Record<Operation, Offer>>>>>>;

/** A model that an upstream of the family serves without being declared. */
export interface BuiltInModel {
  readonly id: string;
  readonly operations: readonly Operation[];
}

export interface ListedModel {
  readonly id: string;
  /** Limited to those of the family; absent where the list has no such field, empty where it supports none. */
  readonly operations?: readonly Operation[];
}

/** How an upstream lists its models: one GET with its credential. */
export interface ModelList {
  /** Under the base URL; an option's name in braces stands for its value. */
  readonly path: string;
  /** A server of one model, which accepts every name: a name outside the list is valid. */
  readonly takesAnyName?: true;
  /** Undefined where the answer is no list. */
  read(body: unknown): readonly ListedModel[] | undefined;
}

export interface Family {
  readonly id: string;
  /** For people: the family's name in lists and documents. */
  readonly title: string;
  /** The default base URL; undefined where each upstream has its own, or needs none. */
  readonly baseUrl?: string;
  /** The base URL by the options; `baseUrl` where undefined. */
  readonly addressFor?: (options: Options) => string | undefined;
  readonly auth?: Auth | ((options: Options) => Auth);
  /** Sent with every call, such as a version, unless the operator's `headers` override them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Client headers it receives beyond the usual ones, unless the operator's `headers` override them; names in lower case. */
  readonly forwards?: readonly string[];
  /** For a credential that is no header: a signer from `api_key`, or why there can be none. */
  readonly signer?: (secret: string, options: Options) => Signer | string;
  /** `api_key_file` holds a document; the signer validates it. */
  readonly credential?: 'document';
  /** Ends of a base URL that the offers' paths include already, so that a base URL may have them or not; `{model}` is any one segment. */
  readonly versions?: readonly string[];
  readonly options?: Readonly<Record<string, FamilyOption>>;
  /** OpenAI's where undefined, which pass unchanged. */
  readonly errors?: ErrorWireFormat;
  /** The path of its OpenAI chat, which bridges use. */
  readonly chat?: string | ((options: Options) => string);
  /** The path of its files, as in OpenAI's API. */
  readonly files?: string | ((options: Options) => string);
  /** The path of its batches over such files. */
  readonly batches?: string | ((options: Options) => string);
  /** How chat takes the credential, where it differs. */
  readonly chatAuth?: Auth;
  /** The model's name in chat, where it differs. */
  readonly chatModel?: (name: string) => string;
  /** Models for which that path is not documented. */
  readonly chatLacks?: RegExp;
  /** For people: which models are served there, and what else matters. */
  readonly chatFacts?: string;
  /** Offers of its targets in place of the family's own, by the bridge's name. */
  readonly bridges?: (options: Options) => Readonly<Record<string, Offers>>;
  /** The usual environment variable of its key, and models to start with (`postern init`). */
  readonly starter?: { readonly apiKeyEnv: string; readonly models: readonly BuiltInModel[] };
  /** Other variables of its credential, where one is not enough (`postern init`). */
  readonly environment?: readonly string[];
  readonly builtIn?: readonly BuiltInModel[];
  /** Its documented list of models; without one, people type a model's name. */
  readonly modelList?: ModelList;
  readonly offers: Offers | ((options: Options) => Offers);
  /** An event of its completion streams may hold no token or several; without it, an event with text is one token. */
  readonly streamEvents?: 'any';
  /** For several prompts or choices it reports the tokens of one. */
  readonly countsOneChoice?: true;
  /** The meaning of some errors, whatever their status. */
  readonly signs?: readonly ErrorSign[];
  /** How it reports an exhausted account with another status than 402. */
  readonly exhaustion?: Exhaustion;
  /** Its parser fails on unpaired surrogates, which JSON can contain: such a body is not sent there. */
  readonly refusesHalfCharacters?: true;
  /**
   * For services that answer 200 with an error. From the beginning of a short JSON body: the real status, undefined for an answer, `unclear` where
   * more bytes are needed (`isWhole`: there are no more).
   */
  readonly failureIn?: (beginning: Buffer, isWhole: boolean) => number | 'unclear' | undefined;
}

/** The defaults, where the operator sets nothing. */
export function standardOptions({ options = {} }: Family): Options {
  const set = Object.entries(options).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(set);
}

export function offersOf({ offers }: Family, options: Options): Offers {
  return typeof offers === 'function' ? offers(options) : offers;
}

export function withOptions(text: string, options: Options): string {
  return text.replaceAll(/\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(options, name) ? (options[name] ?? written) : written,
  );
}

export function isMadeHere(offers: Offers): boolean {
  return Object.values(offers).some((byOperation) =>
    Object.values(byOperation).some((offer) => offer.make !== undefined),
  );
}

/** Whether an error's body may report an exhausted account. 401, 402, 403 and 429 do so by themselves. */
export function mayMeanExhaustion(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 402 && status !== 403 && status !== 429;
}

/** Never part of a message: upstreams repeat what clients send. */
interface Exhaustion {
  /** Whole values of `error.code` or `error.type`. */
  readonly codes: readonly string[];
  /** Beginnings of `error.message`. */
  readonly messages: readonly string[];
}

/** A text in an error's body that identifies its meaning. */
interface ErrorSign {
  readonly status: number;
  readonly contains: string;
  /** Another status, such as 400 for the request's fault; or `loading`: it is not ready yet, and nothing was done. */
  readonly means: number | 'loading';
}

export function defineFamily(family: Family): Family {
  return Object.freeze(family);
}
