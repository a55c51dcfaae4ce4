/** Defines a client API: how another service's requests (Cohere's, Ollama's) are read into an operation, and answers written back. */

import type { Buffer } from 'node:buffer';
import type { Json, JsonObject } from '../lib/json/json-text.ts';
import { GatewayError } from './errors.ts';
import type { Offer } from './family.ts';
import type { Label } from './label.ts';
import type { Operation } from './operations/index.ts';
import type { OperationRow } from './operations/row.ts';
import type { Query, QueryGrammar } from './query.ts';
import type { ModelIndex, ResolvedModel } from './snapshot.ts';
import type { ApiWords, RerankShape } from './translation.ts';

/** An error, of the gateway or an upstream, for a client API to write in its own format. */
interface SaidOfError {
  readonly status: number;
  readonly message: string;
  readonly id: string;
  /** For the gateway's own errors: type and code, and the request field that the error is about. */
  readonly type?: string;
  readonly code?: string;
  readonly param?: string | null;
  readonly retryAfter?: string | undefined;
}

export interface ApiAnswer {
  /** The answer in the operation's own shape; its numbers keep their digits. */
  readonly body: Json;
  /** The client's name for the model. */
  readonly model: string;
  readonly id: string;
  readonly nowMs: number;
  /** Milliseconds since the request arrived. */
  readonly tookMs: number;
}

export interface WrittenAnswer {
  readonly body: Json;
  /** Further headers: names and values in turn. */
  readonly headers?: readonly string[];
}

/** A request field that not every upstream supports: upstreams without it are not called. */
export interface Demand {
  readonly field: string;
  /** What is missing, to complete the sentence "none of its upstreams ...". */
  readonly what: string;
  isMetBy(offer: Offer): boolean;
}

/** Converts an upstream's event stream to the lines of JSON that the client reads. */
export interface ApiStream {
  readonly contentType: string;
  /** Lines for the client, from the data of one event. */
  event(data: Json): readonly Json[];
  /** The remaining lines, at the end of the events. Throws `Unfit` where the stream is incomplete. */
  end(): readonly Json[];
  error(message: string): Json;
}

export interface Entrance {
  /** The request in the operation's own format, with a `model` where the client names one. */
  readonly body: JsonObject;
  readonly words: ApiWords;
  readonly demands?: readonly Demand[];
  /** The whole answer, where no upstream is needed for it. */
  readonly atOnce?: JsonObject;
  /** Set where the client asked for a stream. `startedMs` is the request's start on the monotonic clock. */
  readonly stream?: (startedMs: number) => ApiStream;
  /** Writes an upstream's answer in the client's format. Throws `Unfit` where the answer cannot be used. */
  write(answer: ApiAnswer): WrittenAnswer | Promise<WrittenAnswer>;
}

/** Facts about a request that decide which of two operations at one path it means. */
export interface MeantRequest {
  /** The field is present and not null. */
  has(field: string): boolean;
  /** The field is present, and neither null, false nor an empty text. */
  isSet(field: string): boolean;
  /** Whether the model serves the operation and the key may use it. Throws where there is no such model. */
  serves(operation: Operation): boolean;
}

export interface AskedModel {
  /** The names that the upstreams have for the model. Throws where there is no such model. */
  upstreamNames(): readonly string[];
}

/** One path of a client API that maps to an operation. Kinds of fields are written as in `Route`. */
export interface ApiMapping {
  readonly operation: Operation;
  /** The first path names the mapping in the ledger and the metrics; the other paths may hold `{model}`. */
  readonly paths: readonly [string, ...string[]];
  readonly required?: Readonly<Record<string, string>>;
  readonly optional?: Readonly<Record<string, string>>;
  /** Fields whose values are read, but validated by `enter` alone. */
  readonly watched?: readonly string[];
  readonly summary: string;
  /** Another operation that some requests at the same path mean; both have fields of the same kinds. */
  readonly instead?: { readonly mapping: ApiMapping; isMeant(request: MeantRequest): boolean };
  /** Converts a request. `body` has fields of valid kinds, without those that were null. Throws a `GatewayError`. */
  enter(body: JsonObject, model: AskedModel): Entrance;
  /** Set where bytes pass unchanged to upstreams that speak the same wire format. */
  readonly passes?: Passage;
}

export interface Passage {
  readonly label: Label;
  /** The operation, with field names of the upstream's wire format. */
  readonly row: OperationRow;
  /** Bytes pass only if all upstreams of the model speak the format. Without it one such upstream is enough, and the others are not called. */
  readonly needsAll?: true;
  /** Bytes pass only where one of these fields has JSON that its function accepts, as the operation could not express it. */
  readonly holds?: Readonly<Record<string, (json: Buffer) => boolean>>;
}

export interface SeenModel {
  readonly id: string;
  /** Creation time of the model in seconds since the epoch; stable while the model exists. */
  readonly createdAtS: number;
  readonly operations: readonly Operation[];
  /** Context length in tokens, where the operator set it. */
  readonly context: number | undefined;
  readonly upstreamNames: readonly string[];
}

/** What a fixed endpoint may show: only what the caller's key may see. */
export interface EndpointView {
  readonly models: readonly SeenModel[];
  /** Finds a model; throws `model_not_found` where the caller may see no model of that name. */
  find(name: string): SeenModel;
  defaultModel(operation: Operation): string | undefined;
  readonly modelInPath: string | undefined;
  readonly query: Query;
  readonly body: JsonObject;
  readonly version: string;
}

/** A path of a client API that the gateway answers itself. */
interface EndpointAddress {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  readonly query?: QueryGrammar;
}

export interface JsonEndpoint extends EndpointAddress {
  show(view: EndpointView): unknown;
}

/** An endpoint with a constant text that needs no key: it shows only that the gateway is running. */
interface TextEndpoint extends EndpointAddress {
  readonly text: string;
}

export type FixedEndpoint = JsonEndpoint | TextEndpoint;

interface OwnPath {
  readonly path: string;
  readonly label: Label;
}

export interface ClientApi {
  readonly id: string;
  readonly title: string;
  /** A second prefix of all paths of the API, such as `/ollama`. */
  readonly prefix: string;
  /** Every path with one of these labels belongs to the API. */
  readonly labels?: readonly Label[];
  /** Path prefixes that only this API has: an unknown path below them is answered in the API's error format. */
  readonly grounds: readonly string[];
  readonly mappings: readonly ApiMapping[];
  readonly fixedEndpoints: readonly FixedEndpoint[];
  /** Paths at which the API's clients call an operation directly, in that operation's own format. */
  standsFor?(route: OwnPath): readonly string[];
  /** The shape in which clients read reranked documents at the paths of `standsFor`. */
  readonly shape?: RerankShape;
  /** Clients of the API may send a content type other than JSON's, or none. */
  readonly takesAnyMediaType?: true;
  /** Throws a `GatewayError` for a query string that clients of the API never send. */
  judgeQuery?(query: string): void;
  /** Paths at which the API's clients read the list of models in the gateway's usual format. */
  readonly modelLists: readonly string[];
  /** Other spellings of a model's name that may mean the same model. */
  otherNames?(name: string): readonly string[];
  /** The body of an error; the gateway's usual body where undefined. */
  error?(said: SaidOfError): JsonObject;
}

type Lists = 'grounds' | 'mappings' | 'fixedEndpoints' | 'modelLists';

export function defineClientApi(clientApi: Omit<ClientApi, Lists> & Partial<Pick<ClientApi, Lists>>): ClientApi {
  return Object.freeze({ grounds: [], mappings: [], fixedEndpoints: [], modelLists: [], ...clientApi });
}

/** The given paths, and the same paths below the client API's prefix. */
export function pathsUnder({ prefix }: ClientApi, paths: readonly string[]): readonly string[] {
  return [
    ...new Set(
      paths.flatMap((path) => {
        if (path === prefix || path.startsWith(`${prefix}/`)) return [path];
        return [path, path === '/' ? prefix : prefix + path];
      }),
    ),
  ];
}

/** Finds a model by its name; where no model has exactly this name, by the client API's other spellings of it. */
export function resolveAt(
  clientApi: ClientApi | undefined,
  models: ModelIndex,
  name: string,
): ResolvedModel | undefined {
  const found = models.resolve(name);
  if (clientApi?.otherNames === undefined || (found !== undefined && found.matched === '')) return found;
  for (const other of clientApi.otherNames(name)) {
    const meant = models.resolve(other);
    if (meant !== undefined && meant.matched === '') return meant;
  }
  return found;
}

export function refusedField(field: string, model: Json | undefined, why: string): GatewayError {
  const named = typeof model === 'string' ? ` for the model ${JSON.stringify(model.slice(0, 80).toWellFormed())}` : '';
  return new GatewayError('unsupported_parameter', {
    param: field,
    message: `The field "${field}" cannot be served${named}: ${why}.`,
  });
}

export function missingField(field: string, wanted: string): GatewayError {
  const message = `The field "${field}" is missing; send ${wanted}.`;
  return new GatewayError('missing_required_parameter', { param: field, message });
}

export function wrongField(field: string, wanted: string, came = 'something else came, or nothing'): GatewayError {
  const message = `The field "${field}" must be ${wanted}; ${came}.`;
  return new GatewayError('invalid_type', { param: field, message });
}

export function unfitField(field: string, wanted: string): GatewayError {
  return new GatewayError('invalid_type', { param: field, message: `The field "${field}" must be ${wanted}.` });
}

/** The error for a path of another service, where none of the model's upstreams is that service. */
export const notServed = (message: string): GatewayError =>
  new GatewayError('operation_not_supported', { param: 'model', message });

interface PassedOn extends Omit<ApiMapping, 'enter'> {
  readonly passes: Passage;
  readonly refusal: string;
}

/** A mapping whose bytes always pass unchanged: no other wire format has a counterpart to it. */
export const passedOn = ({ refusal, ...mapping }: PassedOn): ApiMapping => ({
  ...mapping,
  enter() {
    throw notServed(refusal);
  },
});
