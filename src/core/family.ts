/** Defines an upstream family (a kind of upstream, such as `cohere`) as data and small functions: its operations and how it serves them. */

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
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** For people: a description of the pattern. */
  readonly form?: string;
  /** The default value; an option without one may be left out, unless it is `required`. */
  readonly default?: string;
  readonly required?: true;
}

export interface SignedCall {
  readonly url: string;
  /** Header names, each followed by its value. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface SigningTools {
  nowMs(): number;
  /** Sends a small request of the gateway's own, such as for a token. */
  post(url: string, headers: readonly string[], body: string): Promise<{ status: number; body: string }>;
}

/** What the signing tools are made from. Their requests obey the upstream's address policy. */
export interface SigningGround {
  nowMs(): number;
  post(
    ...call: [...Parameters<SigningTools['post']>, addresses: AddressRule | undefined]
  ): ReturnType<SigningTools['post']>;
}

/** Makes authentication headers (names and values in turn) for a call from a secret. Throws where it cannot. */
export type Signer = ((call: SignedCall, tools: SigningTools) => readonly string[] | Promise<readonly string[]>) & {
  /** Texts that no answer may contain: parts of the secret, and values made of it. The array is the same object until it grows. */
  readonly secrets?: () => readonly string[];
};

/** An answer made in this process, without an upstream's server; a body in parts is sent as a stream. */
export interface MadeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | AsyncIterable<Buffer>;
  readonly ignored?: readonly string[];
}

/** Makes an answer without a network. `signal` fires when the client leaves. */
export type Maker = (body: Buffer, signal: AbortSignal) => MadeAnswer | Promise<MadeAnswer>;

/** One operation as a family serves it: its path, its limits and its translation. */
export interface Offer {
  /** The path under the base URL; `{model}` and option names in braces stand for the upstream's name for the model and for option values. */
  readonly path: string;
  /** Converts the model's name to its form in paths and bodies, where that differs from the name. */
  readonly resource?: (name: string) => string;
  /** The methods after the model in the path that are supported, where the path has `{verb}`; all where undefined. */
  readonly verbs?: readonly string[];
  /** The upstream serves a single model, and its request bodies have no `model`. */
  readonly namesNoModel?: true;
  /** The credential is sent as in the family's chat, where chat takes it in another form. */
  readonly asChat?: true;
  /** Errors of the offer have the format that clients of the operation expect already. */
  readonly passesErrors?: true;
  /** Used only by upstreams with this switch set, such as `legacy_engines: native`. */
  readonly onlyWhen?: 'legacy_engines';
  readonly make?: Maker;
  /** Converts requests and answers; without a translation, bytes pass unchanged. */
  readonly translation?: Translation;
  /** The value of `x-postern-translated`, where it is not the family's name. */
  readonly translatedBy?: string;
  /** Upper bound of the tokens per item that the gateway adds to the client's own: a surrounding task, a verdict. */
  readonly addedTokens?: { readonly input: number; readonly output: number };
  /** The length of answers has no bound: where the client sends no `max_tokens`, none is sent. */
  readonly isUnlimited?: boolean;
  /** For reranking: the scale of the scores; unknown where undefined. */
  readonly scores?: OfferedScores;
  /** ID of a client API whose additional fields the upstream understands too. */
  readonly speaks?: string;
  /** For embeddings: vector types other than floats, by the client's `output_dtype`. */
  readonly vectorKinds?: readonly VectorKind[];
  /** For lists: the limits of one call at the family's own address; other services with the same wire format may have others. */
  readonly limitsAtHome?: ListLimits;
  /** For people: what the upstream supports and what not. A fact that nobody could verify says so. */
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
  /** The family's operations that the model serves; absent where the list has no such field, empty where it serves none. */
  readonly operations?: readonly Operation[];
}

/** Describes how an upstream lists its models: one GET with the upstream's credential. */
export interface ModelList {
  /** The path under the base URL; an option's name in braces stands for its value. */
  readonly path: string;
  /** The upstream is a server of one model that accepts every name: a name outside the list is valid too. */
  readonly takesAnyName?: true;
  /** Reads the models in the answer's body; undefined where it is no list. */
  read(body: unknown): readonly ListedModel[] | undefined;
}

export interface Family {
  readonly id: string;
  readonly title: string;
  readonly baseUrl?: string;
  /** Computes the base URL from the options; `baseUrl` applies where it returns undefined. */
  readonly addressFor?: (options: Options) => string | undefined;
  readonly auth?: Auth | ((options: Options) => Auth);
  /** Headers sent with every call, such as a version, unless the operator's `headers` override them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Client headers that are passed on beyond the usual ones, unless the operator's `headers` override them; names in lower case. */
  readonly forwards?: readonly string[];
  /** For a credential that is no header: makes a signer from `api_key`, or returns why it cannot. */
  readonly signer?: (secret: string, options: Options) => Signer | string;
  /** The credential is a document in `api_key_file`, which the signer validates. */
  readonly credential?: 'document';
  /** Ends of a base URL that the offers' paths include already: a base URL may have them or not. `{model}` is any one segment. */
  readonly versions?: readonly string[];
  readonly options?: Readonly<Record<string, FamilyOption>>;
  /** The family's format of errors; where undefined, OpenAI's, which passes unchanged. */
  readonly errors?: ErrorWireFormat;
  /** The path of chat in OpenAI's format, through which bridges serve other operations. */
  readonly chat?: string | ((options: Options) => string);
  /** The path of files, as in OpenAI's API. */
  readonly files?: string | ((options: Options) => string);
  /** The path of batches, whose requests are in files at `files`. */
  readonly batches?: string | ((options: Options) => string);
  /** How chat takes the credential, where this differs from the other operations. */
  readonly chatAuth?: Auth;
  /** Converts a model's name to its name in chat, where that differs. */
  readonly chatModel?: (name: string) => string;
  /** Matches names of models for which the chat path is not documented. */
  readonly chatLacks?: RegExp;
  /** For people: which models the chat path serves, and what else matters. */
  readonly chatFacts?: string;
  /** By a bridge's name: offers that replace the family's own at targets with that bridge. */
  readonly bridges?: (options: Options) => Readonly<Record<string, Offers>>;
  /** For `postern init`: the usual environment variable of the API key, and models to start with. */
  readonly starter?: { readonly apiKeyEnv: string; readonly models: readonly BuiltInModel[] };
  /** For `postern init`: further environment variables of the credential, where one is not enough. */
  readonly environment?: readonly string[];
  readonly builtIn?: readonly BuiltInModel[];
  /** How the family's upstreams list their models, if that is documented; without it, people type a model's name. */
  readonly modelList?: ModelList;
  readonly offers: Offers | ((options: Options) => Offers);
  /** An event of a completion stream may hold no token, or several; without this, an event with text counts as one token. */
  readonly streamEvents?: 'any';
  /** For several prompts or choices, the family reports the tokens of one. */
  readonly countsOneChoice?: true;
  /** Errors that mean something else than their status says. */
  readonly signs?: readonly ErrorSign[];
  /** How the family reports an exhausted account, where the status is not 402. */
  readonly exhaustion?: Exhaustion;
  /** The family's parser fails on unpaired surrogates, which JSON can contain: such a body is not sent. */
  readonly refusesHalfCharacters?: true;
  /**
   * For services that send an error with status 200. Given the beginning of a short JSON body, returns the real status, undefined for a good answer,
   * or `unclear` where more bytes are needed (`isWhole`: there are no more).
   */
  readonly failureIn?: (beginning: Buffer, isWhole: boolean) => number | 'unclear' | undefined;
}

/** Default values of the family's options, which apply where the operator sets nothing. */
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

/** Whether the body of an error with this status must be read to detect an exhausted account; 401, 402, 403 and 429 suffice by themselves. */
export function mayMeanExhaustion(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 402 && status !== 403 && status !== 429;
}

/** Texts in an error that identify an exhausted account. No gateway message repeats them, as upstreams repeat what clients send. */
interface Exhaustion {
  /** Exact values of `error.code` or `error.type`. */
  readonly codes: readonly string[];
  /** Beginnings of `error.message`. */
  readonly messages: readonly string[];
}

/** A text in an error's body that identifies its meaning. */
interface ErrorSign {
  readonly status: number;
  readonly contains: string;
  /** The status that is really meant, such as 400 for a faulty request; or `loading`: the upstream is not ready yet, and did nothing. */
  readonly means: number | 'loading';
}

export function defineFamily(family: Family): Family {
  return Object.freeze(family);
}
