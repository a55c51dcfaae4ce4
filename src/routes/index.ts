/** Lists all client routes, including those of client APIs; only the app imports this file. */

import { clientApis } from '../apis/index.ts';
import { pathsUnder } from '../core/client-api.ts';
import type { ObjectRoute } from '../core/object-route.ts';
import type { Operation } from '../core/operations/index.ts';
import { engineListPaths, modelListPaths, probePaths, realtimePaths, type TakenPath } from '../core/paths.ts';
import { type Route, routeOfMapping } from '../core/route.ts';
import { anthropicRoutes } from './anthropic.ts';
import { geminiRoutes, interactions } from './gemini.ts';
import { batchRoutesOf, fileRoutesOf, interactionRoutesOf, objectRoutesOf } from './objects.ts';
import { engineRoutes, openaiRoutes } from './openai.ts';

/** All routes, apart from client APIs. The first route of an operation has the operation's own format; the others are alternatives. */
const own: readonly Route[] = [...openaiRoutes, ...anthropicRoutes, ...geminiRoutes, ...engineRoutes];

function withClientApiPaths(route: Route): Route {
  const paths = clientApis.flatMap((clientApi) =>
    (clientApi.standsFor?.(route) ?? []).map((path) => [path, clientApi] as const),
  );
  const clientApi = clientApis.find(({ labels }) => labels?.includes(route.label));
  if (paths.length === 0 && clientApi === undefined) return route;
  return Object.freeze({
    ...route,
    clientApiPaths: Object.fromEntries(paths),
    ...(clientApi !== undefined && { clientApi }),
  });
}

const canonical = own.map(withClientApiPaths);

function canonicalFor(operation: Operation): Route {
  const route = canonical.find((one) => one.operation === operation);
  if (route === undefined) throw new TypeError(`no route leads to ${operation}`);
  return route;
}

/** A route for every mapping of a client API; mappings that pass through an existing route share that route. */
const byMappings = clientApis.flatMap((clientApi) =>
  clientApi.mappings.map((mapping) => {
    const passing = canonical.find(({ path, label }) => path === mapping.paths[0] && clientApi.labels?.includes(label));
    return routeOfMapping(clientApi, mapping, canonicalFor, passing);
  }),
);

export const routes: readonly Route[] = [
  ...canonical.filter((route) => byMappings.every(({ entry }) => entry?.passing?.route !== route)),
  ...byMappings,
];

export const responses = canonicalFor('responses');

const inBatches = [
  canonicalFor('chat'),
  responses,
  ...(['embeddings', 'completions', 'moderations'] as const).map(canonicalFor),
] as const;

const version = '/v1';

/** Routes that the lines of a batch may use, by each spelling of the path. */
export const lineRoutes: ReadonlyMap<string, Route> = new Map(
  inBatches.flatMap((route) => [
    [route.path, route],
    [route.path.slice(version.length), route],
  ]),
);

const clientApiPathsOf = (route: Route): Route['clientApiPaths'] => withClientApiPaths(route).clientApiPaths;

export const objectRoutes: readonly ObjectRoute[] = [
  ...objectRoutesOf(responses),
  ...interactionRoutesOf(withClientApiPaths(interactions)),
  ...fileRoutesOf(responses, inBatches, clientApiPathsOf),
  ...batchRoutesOf(inBatches, clientApiPathsOf),
];

/** The routes of batches: one for each operation, by the path that lines of the batch use. */
export const batchRoutes: ReadonlyMap<string, Route> = new Map(
  inBatches.map((route) => [
    route.path,
    Object.freeze({ ...route, path: '/v1/batches', aliases: [], clientApiPaths: {} }),
  ]),
);

/** Paths of the gateway's own routes and endpoints, which no custom route may take. */
const reservedPaths: readonly string[] = [
  ...[...routes.filter(({ entry }) => entry === undefined), ...objectRoutes.map(({ route }) => route)].flatMap(pathsOf),
  ...[...modelListPaths, ...clientApis.flatMap(({ modelLists }) => modelLists)].flatMap((path) => [
    path,
    `${path}/{model}`,
  ]),
  ...engineListPaths,
  ...realtimePaths,
  ...Object.values(probePaths),
];

function pathsOf({ path, aliases, shapedPaths = {}, clientApiPaths = {} }: Route): string[] {
  return [path, ...aliases, ...Object.keys(shapedPaths), ...Object.keys(clientApiPaths)];
}

/** All paths of the client APIs' mappings and fixed endpoints; where a path has no prefix, the client API's prefix is given too. */
function pathsOfClientApis(): TakenPath[] {
  const all = clientApis.flatMap((clientApi) => [
    ...clientApi.mappings.map(({ paths }) => ({ clientApi, paths: pathsUnder(clientApi, paths) })),
    ...clientApi.fixedEndpoints.map(({ paths }) => ({ clientApi, paths: pathsUnder(clientApi, paths) })),
  ]);
  return all.flatMap(({ clientApi: { prefix }, paths }) => {
    const elsewhere = paths.find((path) => path.startsWith(`${prefix}/`) && !path.includes('{'));
    return paths.map((path) => (isUnprefixed(path) && elsewhere !== undefined ? { path, elsewhere } : { path }));
  });
}

/** Whether a path has one segment only, such as `/classify`, but not `/v1/score` or `/api/embed`. */
const isUnprefixed = (path: string): boolean => /^\/[^/{]+$/.test(path);

/** Every path in use, in the form that routes have. */
export const takenPaths: readonly TakenPath[] = [...reservedPaths.map((path) => ({ path })), ...pathsOfClientApis()];
