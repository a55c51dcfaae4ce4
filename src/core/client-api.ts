/** A client API: another service's wire format, read into an operation and written back. */

import type { Json, JsonObject } from '../lib/json/json-text.ts';
import { GatewayError } from './errors.ts';
import type { Offer } from './family.ts';
import type { Label } from './label.ts';
import type { Operation } from './operations/index.ts';
import type { OperationRow } from './operations/row.ts';
import type { Query, QueryGrammar } from './query.ts';
import type { ModelIndex, ResolvedModel } from './snapshot.ts';
import type { ApiWords, RerankShape } from './translation.ts';

/** An error as a client API is told of it, ours or an upstream's. */
interface SaidOfError {
  readonly status: number;
  readonly message: string;
  /** The ID of the exchange. */
  readonly id: string;
  /** Of those that are ours: what it is called here, and the field that is meant. */
  readonly code?: string;
  readonly param?: string | null;
  /** In seconds. */
  readonly retryAfter?: string | undefined;
}

/** What a good answer is written from. */
export interface ApiAnswer {
  /** The operation's own answer; its numbers keep their digits. */
  readonly body: Json;
  /** The model by the name that the client has for it. */
  readonly model: string;
  /** The ID of the exchange. */
  readonly id: string;
  readonly nowMs: number;
  /** Since the request came. */
  readonly tookMs: number;
}

export interface WrittenAnswer {
  readonly body: Json;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
}

/** What the client wants that not every upstream can do; who cannot is not asked. */
export interface Demand {
  /** By the client's name for it. */
  readonly field: string;
  /** What is wanted, behind "none of its upstreams". */
  readonly what: string;
  isMetBy(offer: Offer): boolean;
}

/** An answer that comes as events, of which the client reads lines of JSON. */
export interface ApiStream {
  readonly contentType: string;
  /** What the client gets for the data of one event. */
  event(data: Json): readonly Json[];
  /** What is still owed when no more events come. Throws `Unfit` where they are not all that there are. */
  end(): readonly Json[];
  error(message: string): Json;
}

/** A request, read. */
export interface Entrance {
  /** The operation's own request, with a `model` where the client names one. */
  readonly body: JsonObject;
  readonly words: ApiWords;
  readonly demands?: readonly Demand[];
  /** The answer where nobody has to be asked for it. */
  readonly atOnce?: JsonObject;
  /** Where the client wants its answer as it comes; the request began at `startedMs` of the monotonic clock. */
  readonly stream?: (startedMs: number) => ApiStream;
  /** Throws `Unfit` where the answer is none. */
  write(answer: ApiAnswer): WrittenAnswer | Promise<WrittenAnswer>;
}

/** What decides between two operations at one path. */
export interface MeantRequest {
  /** The field is there, and is not null. */
  has(field: string): boolean;
  /** It is neither false nor an empty text either. */
  isSet(field: string): boolean;
  /** The model serves the operation, and the key may ask for it. Throws where there is no such model. */
  serves(operation: Operation): boolean;
}

/** The model that a request names. */
export interface AskedModel {
  /** As the services behind it call it. Throws where there is no such model. */
  upstreamNames(): readonly string[];
}

/** One path of a client API that leads to an operation. Kinds are written as those of a route. */
export interface ApiMapping {
  readonly operation: Operation;
  /** The first is the one that it is known by; one with `{model}` in it may be among the others. */
  readonly paths: readonly [string, ...string[]];
  readonly required?: Readonly<Record<string, string>>;
  readonly optional?: Readonly<Record<string, string>>;
  /** Read, and judged nowhere but in `enter`. */
  readonly watched?: readonly string[];
  /** For people: what it is, in the OpenAPI document. */
  readonly summary: string;
  /** Another operation that some requests at the same path mean; the kinds of their fields are the same. */
  readonly instead?: { readonly mapping: ApiMapping; isMeant(request: MeantRequest): boolean };
  /** Of a body whose fields have the kinds that they must have; what was null is not there. Throws a `GatewayError`. */
  enter(body: JsonObject, model: AskedModel): Entrance;
  /** Where upstreams speak the same wire, the bytes pass. */
  readonly passes?: Passage;
}

/** A request that goes on as it came, and its answer too. */
export interface Passage {
  readonly label: Label;
  /** The operation by its names on that wire. */
  readonly row: OperationRow;
  /** All upstreams of the model have to speak it: else one is enough, and the others are not asked. */
  readonly needsAll?: true;
  /** Only what has one of these fields with such a text in it, for which the operation has no words. */
  readonly holds?: Readonly<Record<string, string>>;
}

/** A model as the caller may see it. */
export interface SeenModel {
  readonly id: string;
  /** Seconds since the epoch; does not move while the model stays. */
  readonly createdAtS: number;
  readonly operations: readonly Operation[];
  /** How many tokens it can hold, where the operator says it. */
  readonly context: number | undefined;
  /** As the services behind it call it. */
  readonly upstreamNames: readonly string[];
}

/** What a fixed endpoint answers from: it shows nothing that the caller's key may not see. */
export interface EndpointView {
  readonly models: readonly SeenModel[];
  /** Throws `model_not_found` where the caller sees none of that name. */
  find(name: string): SeenModel;
  defaultModel(operation: Operation): string | undefined;
  /** From the path, where it has one. */
  readonly modelInPath: string | undefined;
  /** What the endpoint knows of the query. */
  readonly query: Query;
  /** Empty where the method has none. */
  readonly body: JsonObject;
  /** Of the gateway. */
  readonly version: string;
}

/** An address of a client API that no upstream is asked for. */
interface EndpointAddress {
  readonly method: 'GET' | 'POST';
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  /** What it knows of the query; anything else there is read by nobody. */
  readonly query?: QueryGrammar;
}

export interface JsonEndpoint extends EndpointAddress {
  /** What is shown, or a promise of it. */
  show(view: EndpointView): unknown;
}

/** A text that needs no key: it tells nothing but that the gateway is there. */
interface TextEndpoint extends EndpointAddress {
  readonly text: string;
}

export type FixedEndpoint = JsonEndpoint | TextEndpoint;

/** Of an operation: its canonical path, and how that is dispatched. */
interface OwnPath {
  readonly path: string;
  readonly label: Label;
}

export interface ClientApi {
  readonly id: string;
  /** For people: whose clients come by it. */
  readonly title: string;
  /** Under which everything of it stands as well, such as `/ollama`. */
  readonly prefix: string;
  /** All that is dispatched by these is asked for by its clients, on every path. */
  readonly labels?: readonly Label[];
  /** Where nobody else has paths: what is not there is told in its words. */
  readonly grounds: readonly string[];
  readonly mappings: readonly ApiMapping[];
  readonly fixedEndpoints: readonly FixedEndpoint[];
  /** Where an operation's own path stands for its clients as well: they ask and read as that operation does. */
  standsFor?(route: OwnPath): readonly string[];
  /** In which shape they read reranked documents on such a path. */
  readonly shape?: RerankShape;
  /** Its clients may say that their JSON is something else, or nothing. */
  readonly takesAnyMediaType?: true;
  /** Throws a `GatewayError` where the query string is none that its clients send. */
  judgeQuery?(query: string): void;
  /** Where the list of models stands for its clients, in the form that it has everywhere. */
  readonly modelLists: readonly string[];
  /** Other names by which the same model may be meant. */
  otherNames?(name: string): readonly string[];
  /** The body of an error; without, it has the shape that all have. */
  error?(said: SaidOfError): JsonObject;
}

/** What most have none of, and need not say. */
type Lists = 'grounds' | 'mappings' | 'fixedEndpoints' | 'modelLists';

export function defineClientApi(clientApi: Omit<ClientApi, Lists> & Partial<Pick<ClientApi, Lists>>): ClientApi {
  return Object.freeze({ grounds: [], mappings: [], fixedEndpoints: [], modelLists: [], ...clientApi });
}

/** As they are written, and behind the client API's prefix. */
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

/** By another name that the client API has for it, where no model is declared by this one. */
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

/** For what no upstream is asked, as none could do it. */
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

/** For a path of another service, where no upstream of the model is that service. */
export const notServed = (message: string): GatewayError =>
  new GatewayError('operation_not_supported', { param: 'model', message });
