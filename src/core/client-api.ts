/** A client API: another service's wire format, read into an operation and written back. */

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

/** An error for a client API to write, ours or an upstream's. */
interface SaidOfError {
  readonly status: number;
  readonly message: string;
  readonly id: string;
  /** For the gateway's own errors: type and code, and the field that it is about. */
  readonly type?: string;
  readonly code?: string;
  readonly param?: string | null;
  readonly retryAfter?: string | undefined;
}

export interface ApiAnswer {
  /** In the operation's own shape; its numbers keep their digits. */
  readonly body: Json;
  /** The client's name for it. */
  readonly model: string;
  readonly id: string;
  readonly nowMs: number;
  /** Since the request arrived. */
  readonly tookMs: number;
}

export interface WrittenAnswer {
  readonly body: Json;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

/** A request field that not every upstream supports; those that do not are not asked. */
export interface Demand {
  /** By the client's name for it. */
  readonly field: string;
  /** Completes the sentence "none of its upstreams ...". */
  readonly what: string;
  isMetBy(offer: Offer): boolean;
}

/** An answer in events, which the client reads as lines of JSON. */
export interface ApiStream {
  readonly contentType: string;
  /** Lines for the client, from the data of one event. */
  event(data: Json): readonly Json[];
  /** The remaining lines, at the end of the events. Throws `Unfit` where the stream is incomplete. */
  end(): readonly Json[];
  error(message: string): Json;
}

export interface Entrance {
  /** As the operation's own request, with a `model` where the client names one. */
  readonly body: JsonObject;
  readonly words: ApiWords;
  readonly demands?: readonly Demand[];
  /** The answer, where no upstream is needed for it. */
  readonly atOnce?: JsonObject;
  /** Where the client asked for a stream. `startedMs` is the request's start on the monotonic clock. */
  readonly stream?: (startedMs: number) => ApiStream;
  /** Throws `Unfit` where the upstream's answer cannot be used. */
  write(answer: ApiAnswer): WrittenAnswer | Promise<WrittenAnswer>;
}

/** The facts that decide between two operations at one path. */
export interface MeantRequest {
  /** The field is present and not null. */
  has(field: string): boolean;
  /** It is also neither false nor an empty text. */
  isSet(field: string): boolean;
  /** The model serves the operation, and the key may use it. Throws where there is no such model. */
  serves(operation: Operation): boolean;
}

export interface AskedModel {
  /** The upstreams' names for it. Throws where there is no such model. */
  upstreamNames(): readonly string[];
}

/** One path of a client API that maps to an operation. Kinds are written as those of a route. */
export interface ApiMapping {
  readonly operation: Operation;
  /** The first is its name in the ledger and the metrics; another one may hold `{model}`. */
  readonly paths: readonly [string, ...string[]];
  readonly required?: Readonly<Record<string, string>>;
  readonly optional?: Readonly<Record<string, string>>;
  /** Fields that are read, and validated by `enter` alone. */
  readonly watched?: readonly string[];
  /** Text for the OpenAPI document. */
  readonly summary: string;
  /** Another operation that some requests at the same path mean; both have fields of the same kinds. */
  readonly instead?: { readonly mapping: ApiMapping; isMeant(request: MeantRequest): boolean };
  /** `body` has fields of valid kinds, without those that were null. Throws a `GatewayError`. */
  enter(body: JsonObject, model: AskedModel): Entrance;
  /** Bytes pass unchanged to upstreams that speak the same wire format. */
  readonly passes?: Passage;
}

export interface Passage {
  readonly label: Label;
  /** The operation, with the names of that wire format. */
  readonly row: OperationRow;
  /** All upstreams of the model must speak it; else one is enough, and only such are asked. */
  readonly needsAll?: true;
  /** Only for requests with one of these fields as judged here, by its JSON: the operation cannot express it. */
  readonly holds?: Readonly<Record<string, (json: Buffer) => boolean>>;
}

/** A model as the caller may see it. */
export interface SeenModel {
  readonly id: string;
  /** Seconds since the epoch; stable while the model exists. */
  readonly createdAtS: number;
  readonly operations: readonly Operation[];
  /** Context length in tokens, where the operator set it. */
  readonly context: number | undefined;
  /** The upstreams' names for it. */
  readonly upstreamNames: readonly string[];
}

/** The data of a fixed endpoint: only what the caller's key may see. */
export interface EndpointView {
  readonly models: readonly SeenModel[];
  /** Throws `model_not_found` where the caller may see no model of that name. */
  find(name: string): SeenModel;
  defaultModel(operation: Operation): string | undefined;
  readonly modelInPath: string | undefined;
  /** Its known parameters. */
  readonly query: Query;
  /** Empty where the method has none. */
  readonly body: JsonObject;
  readonly version: string;
}

/** A path of a client API that the gateway answers itself. */
interface EndpointAddress {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  /** Its known parameters; others are ignored. */
  readonly query?: QueryGrammar;
}

export interface JsonEndpoint extends EndpointAddress {
  /** Returns the answer's document, or a promise of it. */
  show(view: EndpointView): unknown;
}

/** A text that needs no key: it shows only that the gateway is running. */
interface TextEndpoint extends EndpointAddress {
  readonly text: string;
}

export type FixedEndpoint = JsonEndpoint | TextEndpoint;

/** An operation's canonical path, and the label that it is dispatched by. */
interface OwnPath {
  readonly path: string;
  readonly label: Label;
}

export interface ClientApi {
  readonly id: string;
  /** For people: the clients that use it. */
  readonly title: string;
  /** A second prefix of all its paths, such as `/ollama`. */
  readonly prefix: string;
  /** Every path dispatched by these labels is one of its clients'. */
  readonly labels?: readonly Label[];
  /** Prefixes that only this API has: an unknown path below them is answered in its form. */
  readonly grounds: readonly string[];
  readonly mappings: readonly ApiMapping[];
  readonly fixedEndpoints: readonly FixedEndpoint[];
  /** Paths at which its clients call an operation directly, in that operation's own format. */
  standsFor?(route: OwnPath): readonly string[];
  /** The shape in which its clients read reranked documents there. */
  readonly shape?: RerankShape;
  /** Its clients may send another content type than JSON's, or none. */
  readonly takesAnyMediaType?: true;
  /** Throws a `GatewayError` for a query string that its clients never send. */
  judgeQuery?(query: string): void;
  /** Paths of the list of models in the gateway's usual format. */
  readonly modelLists: readonly string[];
  /** Other names that may mean the same model. */
  otherNames?(name: string): readonly string[];
  /** The body of an error; the usual one where undefined. */
  error?(said: SaidOfError): JsonObject;
}

/** Optional in `defineClientApi`. */
type Lists = 'grounds' | 'mappings' | 'fixedEndpoints' | 'modelLists';

export function defineClientApi(clientApi: Omit<ClientApi, Lists> & Partial<Pick<ClientApi, Lists>>): ClientApi {
  return Object.freeze({ grounds: [], mappings: [], fixedEndpoints: [], modelLists: [], ...clientApi });
}

/** The paths as written, and with the client API's prefix. */
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

/** Looks a model up by its other names, where none is declared by this one. */
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

/** For a field that no upstream could serve. */
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

/** For a path of another service, where none of the model's upstreams is that service. */
export const notServed = (message: string): GatewayError =>
  new GatewayError('operation_not_supported', { param: 'model', message });

interface PassedOn extends Omit<ApiMapping, 'enter'> {
  readonly passes: Passage;
  /** The message where no upstream speaks the wire format. */
  readonly refusal: string;
}

/** A path without a counterpart in another wire format. */
export const passedOn = ({ refusal, ...mapping }: PassedOn): ApiMapping => ({
  ...mapping,
  enter() {
    throw notServed(refusal);
  },
});
