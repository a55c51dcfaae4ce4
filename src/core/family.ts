/** An upstream family as data and small functions: its operations, their labels and paths. */

import type { Buffer } from 'node:buffer';
import type { AddressRule } from '../lib/addresses/address-rule.ts';
import type { Label } from './label.ts';
import type { ListLimits } from './list-limits.ts';
import type { Operation } from './operations/index.ts';
import type { Options } from './options.ts';
import type { OfferedScores } from './scores.ts';
import type { ErrorWireFormat, Translation, VectorKind } from './translation.ts';

export type { Options } from './options.ts';

/** How an upstream wants its credential: one header, built once when the configuration is compiled. */
export interface Auth {
  readonly header: string;
  readonly prefix: string;
}

export const bearer = (): Auth => ({ header: 'authorization', prefix: 'Bearer ' });

/** Something of a family's own that an operator may set under `upstreams[].options`. */
export interface FamilyOption {
  readonly description: string;
  /** What it may be; without, any text that fits in a URL's segment. */
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** For people: what fits the pattern. */
  readonly form?: string;
  /** Without one the option is left out, or has to be set where it is `required`. */
  readonly default?: string;
  readonly required?: true;
}

/** A call as it is about to leave, for those who sign it. */
export interface SignedCall {
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface SigningTools {
  nowMs(): number;
  /** A small request of our own, such as for a token. */
  post(url: string, headers: readonly string[], body: string): Promise<{ status: number; body: string }>;
}

/** What those tools are made of: such a request leads nowhere that its upstream may not lead. */
export interface SigningGround {
  nowMs(): number;
  post(
    ...call: [...Parameters<SigningTools['post']>, addresses: AddressRule | undefined]
  ): ReturnType<SigningTools['post']>;
}

/** Makes the headers that prove who calls, from a secret; names and values in turn. Throws where it cannot. */
export type Signer = ((call: SignedCall, tools: SigningTools) => readonly string[] | Promise<readonly string[]>) & {
  /** Parts of the secret, and what was made of it: no answer may repeat them either. The same list until that is more. */
  readonly secrets?: () => readonly string[];
};

/** An answer made in this process; a body in parts is a stream and is sent part by part. */
export interface MadeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** Fields of the question that it went without. */
  readonly ignored?: readonly string[];
}

/** Makes an answer without a network. `signal` fires when the client is gone. */
export type Maker = (body: Buffer, signal: AbortSignal) => MadeAnswer | Promise<MadeAnswer>;

/** One operation as a family serves it. */
export interface Offer {
  /**
   * Under the upstream's base URL; `{model}` is replaced by the upstream's name, as one encoded segment, and an option's name in
   * braces by its value.
   */
  readonly path: string;
  /** Of the model's name: how paths and bodies have it, where that is more than the name. */
  readonly resource?: (name: string) => string;
  /** Those of its operation's methods that it has, where these stand in its path as `{verb}`; all where it does not say. */
  readonly verbs?: readonly string[];
  /** A server of one model, whose bodies name none: none is put in. */
  readonly namesNoModel?: true;
  /** It wants the credential as the family's chat does, where that is another way. */
  readonly asChat?: true;
  /** Its errors are in the words of those who ask by it. */
  readonly passesErrors?: true;
  /** Used only by upstreams whose configuration has this switch set, such as `legacy_engines: native`. */
  readonly onlyWhen?: 'legacy_engines';
  readonly make?: Maker;
  /** Without one, bytes pass. */
  readonly translation?: Translation;
  /** What `x-postern-translated` says, where it is not the family. */
  readonly translatedBy?: string;
  /** What a call for one item can count beyond what the client sent: a task around it, a verdict. */
  readonly addedTokens?: { readonly input: number; readonly output: number };
  /** Where the client sets no `max_tokens`, none is set: the answer may be as long as the model likes. */
  readonly isUnlimited?: boolean;
  /** Of reranking: on which scale its scores are; without, nobody knows. */
  readonly scores?: OfferedScores;
  /** The client API whose words it understands beside the operation's own. */
  readonly speaks?: string;
  /** Of embeddings: numbers other than floats that it makes, by the client's `output_dtype`. */
  readonly vectorKinds?: readonly VectorKind[];
  /** Of operations that are maps over a list: what one call holds at the family's own address; of others who speak its wire nothing is known. */
  readonly limitsAtHome?: ListLimits;
  /** For people: what it can take and what not. A fact that nobody could verify says so. */
  readonly facts?: string;
  /** For people: what a token ID that is none of its own does to it, where that is worse than an error. */
  readonly perilOfTokenIds?: string;
}

export type Offers = Readonly<Partial<Record<Label, Readonly<Partial<Record<Operation, Offer>>>>>>;

/** A model that an upstream of the family serves without being declared. */
export interface BuiltInModel {
  readonly id: string;
  readonly operations: readonly Operation[];
}

/** A model as an upstream's own list names it. */
export interface ListedModel {
  readonly id: string;
  /** Of those that the family offers; absent where the list does not say, empty where it does none of them. */
  readonly operations?: readonly Operation[];
}

/** How an upstream says which models it has: one GET with its credential. */
export interface ModelList {
  /** Under the base URL; an option's name in braces stands for its value. */
  readonly path: string;
  /** A server of one model, which serves it whatever it is called: a name that is not in the list is as good. */
  readonly takesAnyName?: true;
  /** Undefined where the answer is no list. */
  read(body: unknown): readonly ListedModel[] | undefined;
}

export interface Family {
  readonly id: string;
  /** For people: how the family is called in lists and documents. */
  readonly title: string;
  /** Where upstreams of the family are when the configuration does not say; none where each has a place of its own, or needs none. */
  readonly baseUrl?: string;
  /** Where they are instead, by their options; undefined where `baseUrl` is right. */
  readonly addressFor?: (options: Options) => string | undefined;
  readonly auth?: Auth | ((options: Options) => Auth);
  /** What every call carries beside it, such as a version, unless the operator's `headers` say otherwise; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of clients that reach it, beyond those that reach everyone, unless the operator's `headers` say otherwise; names in lower case. */
  readonly forwards?: readonly string[];
  /** For those whose credential is no header: a signer from what `api_key` says, or why it cannot be one. */
  readonly signer?: (secret: string, options: Options) => Signer | string;
  /** What `api_key_file` holds where it is more than one word; the signer judges it. */
  readonly credential?: 'document';
  /** Ends of a base URL that are part of the offers' paths: they may stand there or not; `{model}` is any one segment. */
  readonly versions?: readonly string[];
  readonly options?: Readonly<Record<string, FamilyOption>>;
  /** Absent: OpenAI's, which pass as they come. */
  readonly errors?: ErrorWireFormat;
  /** The path at which it speaks OpenAI's chat: what bridges go over. */
  readonly chat?: string | ((options: Options) => string);
  /** The path at which it keeps files in OpenAI's way. */
  readonly files?: string | ((options: Options) => string);
  /** And that at which it works off batches of requests that such files hold. */
  readonly batches?: string | ((options: Options) => string);
  /** How it wants its credential there, where not as elsewhere. */
  readonly chatAuth?: Auth;
  /** What a model is called there, where not as elsewhere. */
  readonly chatModel?: (name: string) => string;
  /** Of its models, by their names: those for which that path is not documented. */
  readonly chatLacks?: RegExp;
  /** For people: which of its models are served there, and what else is to be known of it. */
  readonly chatFacts?: string;
  /** What a target of it offers in place of the family's own, by the name of the bridge. */
  readonly bridges?: (options: Options) => Readonly<Record<string, Offers>>;
  /** The environment variable that usually holds a key for it, and models to start with (`postern init`). */
  readonly starter?: { readonly apiKeyEnv: string; readonly models: readonly BuiltInModel[] };
  /** Other variables that hold a credential for it, where it takes more than that to start (`postern init`). */
  readonly environment?: readonly string[];
  readonly builtIn?: readonly BuiltInModel[];
  /** Where it has a list that is documented; without one, people write a model's name themselves. */
  readonly modelList?: ModelList;
  readonly offers: Offers | ((options: Options) => Offers);
  /** An event of its streams of completions may hold no token or several; without it, one that holds text is one token. */
  readonly streamEvents?: 'any';
  /** Of several prompts or choices it counts the tokens of one. */
  readonly countsOneChoice?: true;
  /** What some of its errors say of the call, whatever their status says. */
  readonly signs?: readonly ErrorSign[];
  /** How it says with another status than 402 that the account is exhausted. */
  readonly exhaustion?: Exhaustion;
  /** Its parser fails on halves of surrogate pairs, which JSON can write: what has one is not sent there. */
  readonly refusesHalfCharacters?: true;
  /**
   * Some say 200 and mean an error. Of a short JSON body of that status, by its beginning: the status that is meant, undefined
   * where it is an answer, and `unclear` where more of it has to be seen (`isWhole` says that there is no more).
   */
  readonly failureIn?: (beginning: Buffer, isWhole: boolean) => number | 'unclear' | undefined;
}

/** What an upstream has whose operator sets nothing. */
export function standardOptions({ options = {} }: Family): Options {
  const set = Object.entries(options).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(set);
}

export function offersOf({ offers }: Family, options: Options): Offers {
  return typeof offers === 'function' ? offers(options) : offers;
}

/** Each option's name in braces, replaced by its value. */
export function withOptions(text: string, options: Options): string {
  return text.replaceAll(/\{(\w+)\}/g, (written, name: string) =>
    Object.hasOwn(options, name) ? (options[name] ?? written) : written,
  );
}

/** Whether answers are made in this process, without a network. */
export function isMadeHere(offers: Offers): boolean {
  return Object.values(offers).some((byOperation) =>
    Object.values(byOperation).some((offer) => offer.make !== undefined),
  );
}

/** Whether an error with this status may say by its body that an account is exhausted. 401, 402, 403 and 429 say so themselves. */
export function mayTellExhaustion(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 402 && status !== 403 && status !== 429;
}

/** Never a piece of a message: upstreams repeat what clients send. */
interface Exhaustion {
  /** Whole values of `error.code` or `error.type`. */
  readonly codes: readonly string[];
  /** What `error.message` begins with. */
  readonly messages: readonly string[];
}

/** A piece of the body of an error, by which it is known what is meant. */
interface ErrorSign {
  readonly status: number;
  readonly says: string;
  /** Another status, such as 400 for what the request is to blame for; or `loading`: it is not ready yet, and nothing was done. */
  readonly means: number | 'loading';
}

export function defineFamily(family: Family): Family {
  return Object.freeze(family);
}
