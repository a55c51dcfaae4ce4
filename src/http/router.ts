/** Resolves a request path: a client route, the model list, a fixed endpoint of a client API, or a health check. */

import { type ClientApi, type FixedEndpoint, pathsUnder } from '../core/client-api.ts';
import { mayStandInPath } from '../core/model-name.ts';
import type { ObjectRoute } from '../core/object-route.ts';
import {
  anthropicFilePaths,
  engineListPaths,
  modelListPaths,
  probePaths,
  readPath,
  realtimePaths,
} from '../core/paths.ts';
import type { Route } from '../core/route.ts';
import type { RerankShape } from '../core/translation.ts';
import { nearestName } from '../lib/nearest-name.ts';

interface ServedPath {
  readonly path: string;
  readonly methods: readonly string[];
  /** ID of the client API that the path belongs to; undefined for the gateway's own paths. */
  readonly clientApi: string | undefined;
  /** Whether lists of paths include it. */
  readonly isListed: boolean;
}

interface Missed {
  readonly path: string;
  readonly method: string;
  /** The client API that the path seems to belong to. */
  readonly clientApi: { readonly id: string } | undefined;
}

/** Longest path that is compared with others: the time grows with the square of the length. */
const longestPath = 100;
const mostCompared = 4;
/** A suggested path may differ in one of so many letters. The usual third would suggest `/api/ps` for `/api/pull`. */
const shareOfLetters = 4;

/** The path, and its endings of at least two segments. */
function tailsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  return segments.flatMap((_, index) =>
    index === 0 || index < segments.length - 1 ? [`/${segments.slice(index).join('/')}`] : [],
  );
}

/** Writes the message of a 404 error: the nearest existing path, and the paths for the request's method. */
function createRouteHint(
  served: readonly ServedPath[],
  basePath: string,
  find: (path: string) => ServedPath | undefined,
): (missed: Missed) => string {
  const shown = ({ path, methods: [method = ''] }: ServedPath): string => `${method} ${basePath}${path}`;

  /** A served path with a similar spelling; paths with the same method are preferred. */
  function likeIt(path: string, method: string): ServedPath | undefined {
    for (const takesIt of [true, false]) {
      const candidates = served.filter(({ methods }) => methods.includes(method) === takesIt);
      const paths = candidates.map((one) => one.path);
      const name = nearestName(path, paths, shareOfLetters);
      if (name !== undefined) return candidates.find((one) => one.path === name);
    }
    return undefined;
  }

  /** The served path nearest to the requested one, which may have a wrong prefix, such as another base path. */
  function nearest({ path, method }: Missed): ServedPath | undefined {
    if (path.length > longestPath) return undefined;
    const own = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
    const tails = tailsOf(own);
    for (const tail of tails) {
      const found = find(tail);
      if (found !== undefined) return found;
    }
    for (const tail of tails.slice(0, mostCompared)) {
      const found = likeIt(tail, method);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function pathsFor({ method, clientApi }: Missed): string {
    const ofClientApi = served.filter((one) => one.clientApi !== undefined && one.clientApi === clientApi?.id);
    const here = ofClientApi.length === 0 ? served.filter(({ isListed }) => isListed) : ofClientApi;
    const taking = here.filter(({ methods }) => methods.includes(method));
    const paths = (taking.length === 0 ? here : taking).map(({ path }) => basePath + path);
    return `Paths${taking.length === 0 ? '' : ` for ${method}`}: ${paths.join(', ')}.`;
  }

  return (request) => {
    const missed = request.method === 'HEAD' ? { ...request, method: 'GET' } : request;
    const near = nearest(missed);
    const hint = near === undefined ? '' : `; the nearest is ${shown(near)}`;
    return `No route has this path${hint}. ${pathsFor(missed)}`;
  };
}

/** What a path leads to. `path` is the canonical one, for any spelling. */
export type RouteMatch = { readonly path: string } & (
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly modelFromPath: string | undefined;
      readonly shape?: RerankShape;
      readonly errorShape?: RerankShape | undefined;
      readonly clientApi?: ClientApi;
    }
  | {
      readonly kind: 'object';
      readonly routes: readonly ObjectRoute[];
      readonly id: string;
      readonly clientApi?: ClientApi;
    }
  | {
      readonly kind: 'endpoint';
      readonly endpoint: FixedEndpoint;
      readonly clientApi: ClientApi;
      readonly modelFromPath: string | undefined;
    }
  | { readonly kind: 'models'; readonly clientApi?: ClientApi }
  | { readonly kind: 'model'; readonly id: string; readonly clientApi?: ClientApi }
  | { readonly kind: 'health' }
  | { readonly kind: 'ready' }
  /** A path that clients look for, but that is not served. */
  | { readonly kind: 'refused'; readonly why: string }
);

export interface Router {
  /** Finds a route; `path` is the raw request target without its query string. */
  find(path: string): RouteMatch | undefined;
  /** The answer shape that the first segment of a path implies, even for an unknown path. */
  shapeOf(path: string): RerankShape | undefined;
  /** The client API in whose format errors at this path are written. */
  clientApiOf(path: string): ClientApi | undefined;
  hintFor(missed: Missed): string;
}

export function methodsAt(match: RouteMatch): readonly string[] {
  if (match.kind === 'route') return [match.route.own?.method ?? 'POST'];
  if (match.kind === 'endpoint' && match.endpoint.method === 'POST') return ['POST'];
  if (match.kind !== 'object') return ['GET', 'HEAD'];
  return match.routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A path for messages. Lists in messages show the canonical paths of operations, and other paths without a parameter in the middle. */
function toServedPath(match: RouteMatch): ServedPath {
  const { path } = match;
  const isListed =
    match.kind === 'route'
      ? match.route.entry === undefined && path === match.route.row.path
      : match.kind !== 'endpoint' && (match.kind === 'model' || !path.includes('{'));
  const clientApi =
    match.kind === 'route' ? match.route.entry?.clientApi : match.kind === 'endpoint' ? match.clientApi : undefined;
  return { path, methods: methodsAt(match), clientApi: clientApi?.id, isListed };
}

const noRealtime =
  'Realtime is not served: no WebSocket is relayed here, and a key or a call of the upstream would lead around the limits and budgets of this gateway. Send sound to /v1/audio/transcriptions, text to /v1/chat/completions and /v1/audio/speech.';

export const noAnthropicFiles =
  "Anthropic's Files API is not served; put the content of a file into the message, as a source of type base64 or text.";

/** A path with a name in the middle: `/v1/engines/` + a model's + `/embeddings`, `/v1/responses/` + an ID + `/cancel`. */
interface NamePath {
  readonly prefix: string;
  readonly suffix: string;
  /** True for an ID, of exactly one segment; a model's name may have several. */
  readonly isId: boolean;
  readonly match: (name: string) => RouteMatch;
}

/** Matches the encoded form of the colon before Google's methods, which some clients send. */
const encodedColon = /%3a(?=[A-Za-z]+\/?$)/i;

type Ends = Pick<NamePath, 'prefix' | 'suffix'>;

/** Whether one path could match both, and neither is more specific. */
function mayBeBoth(one: Ends, other: Ends): boolean {
  const begins = one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix);
  const ends = one.suffix.endsWith(other.suffix) || other.suffix.endsWith(one.suffix);
  return begins && ends && isNarrower(one, other) === isNarrower(other, one);
}

function isNarrower(one: Ends, other: Ends): boolean {
  return one.prefix.startsWith(other.prefix) && one.suffix.endsWith(other.suffix);
}

const longest = (one: Ends, other: Ends): number =>
  other.prefix.length + other.suffix.length - one.prefix.length - one.suffix.length;

const listedFirst = (one: ServedPath, other: ServedPath): number => Number(other.isListed) - Number(one.isListed);

const isCustom = (match: RouteMatch): boolean => match.kind === 'route' && match.route.own !== undefined;

const customFirst = (one: Route, other: Route): number =>
  Number(one.own === undefined) - Number(other.own === undefined);

function twice(paths: string): TypeError {
  return new TypeError(`two routes or client APIs stand for the same path: ${paths}`);
}

export interface Routes {
  readonly routes: readonly Route[];
  readonly objectRoutes: readonly ObjectRoute[];
  readonly clientApis: readonly ClientApi[];
}

/** Builds the router; throws where two routes could match the same path. */
export function createRouter({ routes, objectRoutes, clientApis }: Routes, basePath: string): Router {
  const exact = new Map<string, RouteMatch>();
  const namePaths: NamePath[] = [];
  const shapes = new Map<string, RerankShape>();
  const served = new Map<string, ServedPath>();
  const grounds = clientApis
    .flatMap((clientApi) =>
      [`${clientApi.prefix}/`, ...clientApi.grounds].map((ground) => [basePath + ground, clientApi] as const),
    )
    .toSorted(([one], [other]) => other.length - one.length);

  function put(spelled: string, match: (name: string | undefined) => RouteMatch): void {
    const path = withoutSlash(spelled);
    const { before, what, beginning, suffix } = readPath(path);
    if (suffix === undefined) {
      const there = exact.get(path);
      const routeMatch = match(undefined);
      // The validated configuration permits the custom route that is at this path already.
      if (there !== undefined && isCustom(there) && !isCustom(routeMatch)) return;
      if (there !== undefined) throw twice(path);
      exact.set(path, routeMatch);
      note(routeMatch);
      return;
    }
    note(match(''));
    const prefix = before + beginning;
    const rival = namePaths.find((other) => mayBeBoth(other, { prefix, suffix }));
    if (rival !== undefined) throw twice(`${path} and ${rival.prefix}{...}${rival.suffix}`);
    namePaths.push({ prefix, suffix, isId: what === 'id', match: (name) => match(beginning + name) });
  }

  /** Notes a path for messages; custom paths are left out, as callers without a key would see them. */
  function note(match: RouteMatch): void {
    if (match.kind !== 'refused' && !isCustom(match) && !served.has(match.path))
      served.set(match.path, toServedPath(match));
  }

  // Probes call the listener directly, without the base path.
  for (const base of new Set(['', basePath])) {
    put(base + probePaths.healthz, () => ({ kind: 'health', path: '/healthz' }));
    put(base + probePaths.readyz, () => ({ kind: 'ready', path: '/readyz' }));
  }
  for (const route of routes.toSorted(customFirst)) {
    const { path, aliases, shapedPaths = {}, errorShapes, clientApiPaths = {}, entry } = route;
    const { clientApi = entry?.clientApi } = route;
    const match = { kind: 'route', path, route } as const;
    const here = clientApi === undefined ? match : { ...match, clientApi };
    for (const spelling of [path, ...aliases]) {
      put(basePath + spelling, (modelFromPath) => ({ ...here, modelFromPath, errorShape: errorShapes?.[spelling] }));
    }
    for (const [shaped, shape] of Object.entries(shapedPaths)) {
      put(basePath + shaped, (modelFromPath) => ({ ...match, modelFromPath, shape }));
      shapes.set(shaped.slice(0, shaped.indexOf('/', 1) + 1), shape);
    }
    for (const [spelling, clientApi] of Object.entries(clientApiPaths)) {
      const { shape } = clientApi;
      put(basePath + spelling, (modelFromPath) => ({
        ...match,
        modelFromPath,
        clientApi,
        ...(shape !== undefined && { shape }),
      }));
    }
  }
  for (const [{ path, aliases, clientApiPaths = {}, clientApi }, same] of Map.groupBy(
    objectRoutes,
    ({ route }) => route,
  )) {
    const match = { kind: 'object', path, routes: same, ...(clientApi !== undefined && { clientApi }) } as const;
    for (const spelling of [path, ...aliases]) put(basePath + spelling, (id = '') => ({ ...match, id }));
    for (const [spelling, clientApi] of Object.entries(clientApiPaths)) {
      put(basePath + spelling, (id = '') => ({ ...match, id, clientApi }));
    }
  }
  for (const clientApi of clientApis) {
    for (const endpoint of clientApi.fixedEndpoints) {
      const [path] = endpoint.paths;
      for (const spelling of pathsUnder(clientApi, endpoint.paths)) {
        put(basePath + spelling, (modelFromPath) => ({ kind: 'endpoint', path, endpoint, clientApi, modelFromPath }));
      }
    }
  }
  for (const path of engineListPaths) put(basePath + path, () => ({ kind: 'models', path: '/v1/models' }));
  function putModelList(path: string, by: { readonly clientApi?: ClientApi }): void {
    put(basePath + path, () => ({ kind: 'models', path: '/v1/models', ...by }));
    put(`${basePath + path}/{model}`, (id = '') => ({ kind: 'model', path: '/v1/models/{id}', id, ...by }));
  }
  for (const path of modelListPaths) putModelList(path, {});
  for (const clientApi of clientApis) for (const path of clientApi.modelLists) putModelList(path, { clientApi });

  for (const path of realtimePaths) {
    put(basePath + path, () => ({ kind: 'refused', path: '/v1/realtime', why: noRealtime }));
  }

  for (const path of anthropicFilePaths) {
    put(basePath + path, () => ({ kind: 'refused', path: '/v1/files', why: noAnthropicFiles }));
  }

  namePaths.sort(longest);

  function findWithName(path: string): RouteMatch | undefined {
    for (const { prefix, suffix, isId, match } of namePaths) {
      if (path.length <= prefix.length + suffix.length) continue;
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const encoded = path.slice(prefix.length, path.length - suffix.length);
      const name = isId ? toId(encoded) : toModelName(encoded);
      return name === undefined ? undefined : match(name);
    }
    return undefined;
  }

  const servedAt = (path: string): ServedPath | undefined => {
    const match = find(basePath + path);
    return match === undefined ? undefined : served.get(match.path);
  };

  function find(path: string): RouteMatch | undefined {
    const found = exact.get(path);
    if (found !== undefined) return found;
    const trimmed = withoutSlash(path);
    return (trimmed === path ? undefined : exact.get(trimmed)) ?? findWithName(trimmed.replace(encodedColon, ':'));
  }

  return {
    hintFor: createRouteHint([...served.values()].toSorted(listedFirst), basePath, servedAt),
    shapeOf(path) {
      if (!path.startsWith(basePath)) return undefined;
      const start = path.slice(basePath.length, path.indexOf('/', basePath.length + 1) + 1);
      return shapes.get(start);
    },
    clientApiOf: (path) => grounds.find(([ground]) => path.startsWith(ground))?.[1],
    find,
  };
}

const withoutSlash = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/** Decodes a model's name in a path, once; undefined where the result is ambiguous. */
function toModelName(encoded: string): string | undefined {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return undefined; // not UTF-8 behind the percent signs
  }
  return mayStandInPath(name) ? name : undefined;
}

/** Decodes an ID in a path, once; it must be one segment. */
function toId(encoded: string): string | undefined {
  if (encoded.includes('/')) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // not UTF-8 behind the percent signs
  }
}
