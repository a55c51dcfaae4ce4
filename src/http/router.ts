/** Finds what a request path means: one of the client routes, the model list, a page of a front door, or a health check. */

import { type Door, type DoorPage, pathsUnder } from '../core/door.ts';
import { mayStandInPath } from '../core/model-name.ts';
import type { ObjectRoute } from '../core/object-route.ts';
import { anthropicFilePaths, engineListPaths, modelListPaths, probePaths, realtimePaths } from '../core/other-paths.ts';
import { readPath } from '../core/paths.ts';
import type { Route } from '../core/route.ts';
import type { RerankShape } from '../core/translation.ts';
import { createRouteHint, type Missed, type ServedPath } from './route-hint.ts';

/** `path` is the canonical one, whichever spelling came. */
export type Place = { readonly path: string } & (
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly modelFromPath: string | undefined;
      readonly shape?: RerankShape;
      /** By which door the client came. */
      readonly door?: Door;
    }
  | { readonly kind: 'object'; readonly routes: readonly ObjectRoute[]; readonly id: string; readonly door?: Door }
  | { readonly kind: 'page'; readonly page: DoorPage; readonly door: Door; readonly modelFromPath: string | undefined }
  | { readonly kind: 'models'; readonly door?: Door }
  | { readonly kind: 'model'; readonly id: string; readonly door?: Door }
  | { readonly kind: 'health' }
  | { readonly kind: 'ready' }
  /** What clients are known to look for, and is not served. */
  | { readonly kind: 'refused'; readonly why: string }
);

export interface Router {
  /** `path` is the request target up to its query string, as it came. */
  find(path: string): Place | undefined;
  /** For clients of which service everything under its first segment is. */
  shapeOf(path: string): RerankShape | undefined;
  /** Whose clients look for what is not there. */
  doorOf(path: string): Door | undefined;
  /** What the answer to a request without a route says. */
  hintFor(missed: Missed): string;
}

/** The methods that a place takes. */
export function methodsAt(place: Place): readonly string[] {
  if (place.kind === 'route') return [place.route.own?.method ?? 'POST'];
  if (place.kind === 'page' && place.page.method === 'POST') return ['POST'];
  if (place.kind !== 'object') return ['GET', 'HEAD'];
  return place.routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** A list of paths shows those of the operations, and others that have no ID or name in the middle. */
function toServedPath(place: Place): ServedPath {
  const { path } = place;
  const isListed =
    place.kind === 'route'
      ? place.route.entry === undefined && path === place.route.row.path
      : place.kind !== 'page' && (place.kind === 'model' || !path.includes('{'));
  const door = place.kind === 'route' ? place.route.entry?.door : place.kind === 'page' ? place.door : undefined;
  return { path, methods: methodsAt(place), door: door?.id, isListed };
}

const noRealtime =
  'Realtime is not served: no WebSocket is relayed here, and a key or a call of the upstream would lead around the limits and budgets of this gateway. Send sound to /v1/audio/transcriptions, text to /v1/chat/completions and /v1/audio/speech.';

export const noAnthropicFiles =
  "Anthropic's Files API is not served; put the content of a file into the message, as a source of type base64 or text.";

/** Paths with a name in the middle: `/v1/engines/` + a model's + `/embeddings`, `/v1/responses/` + an ID + `/cancel`. */
interface NamePath {
  readonly prefix: string;
  readonly suffix: string;
  /** The name is an ID: one segment, whatever stands in it. */
  readonly isId: boolean;
  readonly place: (name: string) => Place;
}

/** What Google's paths have before a method, as some clients encode it. */
const encodedColon = /%3a(?=[A-Za-z]+\/?$)/i;

type Ends = Pick<NamePath, 'prefix' | 'suffix'>;

/** Whether there is a path that both may stand for, and neither is the narrower one, which goes before. */
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

const isCustom = (place: Place): boolean => place.kind === 'route' && place.route.own !== undefined;

const customFirst = (one: Route, other: Route): number =>
  Number(one.own === undefined) - Number(other.own === undefined);

function twice(paths: string): TypeError {
  return new TypeError(`two routes or doors stand for the same path: ${paths}`);
}

/** All that is served. */
export interface Routes {
  readonly routes: readonly Route[];
  readonly objectRoutes: readonly ObjectRoute[];
  readonly doors: readonly Door[];
}

/** Throws where two of them could mean the same path. */
export function createRouter({ routes, objectRoutes, doors }: Routes, basePath: string): Router {
  const exact = new Map<string, Place>();
  const namePaths: NamePath[] = [];
  const shapes = new Map<string, RerankShape>();
  const served = new Map<string, ServedPath>();
  const grounds = doors
    .flatMap((door) => [`${door.prefix}/`, ...door.grounds].map((ground) => [basePath + ground, door] as const))
    .toSorted(([one], [other]) => other.length - one.length);

  function put(spelled: string, place: (name: string | undefined) => Place): void {
    const path = withoutSlash(spelled);
    const { before, what, beginning, suffix } = readPath(path);
    if (suffix === undefined) {
      const there = exact.get(path);
      const placed = place(undefined);
      // The configuration was judged: a custom route is only where it may be.
      if (there !== undefined && isCustom(there) && !isCustom(placed)) return;
      if (there !== undefined) throw twice(path);
      exact.set(path, placed);
      note(placed);
      return;
    }
    note(place(''));
    const prefix = before + beginning;
    const rival = namePaths.find((other) => mayBeBoth(other, { prefix, suffix }));
    if (rival !== undefined) throw twice(`${path} and ${rival.prefix}{...}${rival.suffix}`);
    namePaths.push({ prefix, suffix, isId: what === 'id', place: (name) => place(beginning + name) });
  }

  /** Paths of the operator's own are shown to nobody who has no key. */
  function note(place: Place): void {
    if (place.kind !== 'refused' && !isCustom(place) && !served.has(place.path))
      served.set(place.path, toServedPath(place));
  }

  // Probes come straight to the listener; they need not know where the routes were put.
  for (const base of new Set(['', basePath])) {
    put(base + probePaths.healthz, () => ({ kind: 'health', path: '/healthz' }));
    put(base + probePaths.readyz, () => ({ kind: 'ready', path: '/readyz' }));
  }
  for (const route of routes.toSorted(customFirst)) {
    const { path, aliases, shapedPaths = {}, doorPaths = {}, entry, door = entry?.door } = route;
    const place = { kind: 'route', path, route } as const;
    const here = door === undefined ? place : { ...place, door };
    for (const spelling of [path, ...aliases]) {
      put(basePath + spelling, (modelFromPath) => ({ ...here, modelFromPath }));
    }
    for (const [shaped, shape] of Object.entries(shapedPaths)) {
      put(basePath + shaped, (modelFromPath) => ({ ...place, modelFromPath, shape }));
      shapes.set(shaped.slice(0, shaped.indexOf('/', 1) + 1), shape);
    }
    for (const [spelling, door] of Object.entries(doorPaths)) {
      const { shape } = door;
      put(basePath + spelling, (modelFromPath) => ({
        ...place,
        modelFromPath,
        door,
        ...(shape !== undefined && { shape }),
      }));
    }
  }
  for (const [{ path, aliases, doorPaths = {}, door }, same] of Map.groupBy(objectRoutes, ({ route }) => route)) {
    const place = { kind: 'object', path, routes: same, ...(door !== undefined && { door }) } as const;
    for (const spelling of [path, ...aliases]) put(basePath + spelling, (id = '') => ({ ...place, id }));
    for (const [spelling, door] of Object.entries(doorPaths)) {
      put(basePath + spelling, (id = '') => ({ ...place, id, door }));
    }
  }
  for (const door of doors) {
    for (const page of door.pages) {
      const [path] = page.paths;
      for (const spelling of pathsUnder(door, page.paths)) {
        put(basePath + spelling, (modelFromPath) => ({ kind: 'page', path, page, door, modelFromPath }));
      }
    }
  }
  for (const path of engineListPaths) put(basePath + path, () => ({ kind: 'models', path: '/v1/models' }));
  function putModelList(path: string, by: { readonly door?: Door }): void {
    put(basePath + path, () => ({ kind: 'models', path: '/v1/models', ...by }));
    put(`${basePath + path}/{model}`, (id = '') => ({ kind: 'model', path: '/v1/models/{id}', id, ...by }));
  }
  for (const path of modelListPaths) putModelList(path, {});
  for (const door of doors) for (const path of door.modelLists) putModelList(path, { door });

  for (const path of realtimePaths) {
    put(basePath + path, () => ({ kind: 'refused', path: '/v1/realtime', why: noRealtime }));
  }

  for (const path of anthropicFilePaths) {
    put(basePath + path, () => ({ kind: 'refused', path: '/v1/files', why: noAnthropicFiles }));
  }

  namePaths.sort(longest);

  function findWithName(path: string): Place | undefined {
    for (const { prefix, suffix, isId, place } of namePaths) {
      if (path.length <= prefix.length + suffix.length) continue;
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const encoded = path.slice(prefix.length, path.length - suffix.length);
      const name = isId ? toId(encoded) : toModelName(encoded);
      return name === undefined ? undefined : place(name);
    }
    return undefined;
  }

  const servedAt = (path: string): ServedPath | undefined => {
    const place = find(basePath + path);
    return place === undefined ? undefined : served.get(place.path);
  };

  function find(path: string): Place | undefined {
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
    doorOf: (path) => grounds.find(([ground]) => path.startsWith(ground))?.[1],
    find,
  };
}

const withoutSlash = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/** The name in a path, decoded once; undefined where it could be read as anything but a name. */
function toModelName(encoded: string): string | undefined {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return undefined; // not UTF-8 behind the percent signs
  }
  return mayStandInPath(name) ? name : undefined;
}

/** Nobody has an ID of several segments, and none is read twice. */
function toId(encoded: string): string | undefined {
  if (encoded.includes('/')) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // not UTF-8 behind the percent signs
  }
}
