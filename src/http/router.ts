/** Finds what a request path means: one of the client routes, the model list, or a health check. */

import { mayStandInPath } from '../core/model-name.ts';
import type { Route } from '../core/route.ts';
import type { RerankShape } from '../core/translation.ts';

/** `path` is the canonical one, whichever spelling came. */
export type Place = { readonly path: string } & (
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly modelFromPath: string | undefined;
      readonly shape?: RerankShape;
    }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly id: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'ready' }
);

export interface Router {
  /** `path` is the request target up to its query string, as it came. */
  find(path: string): Place | undefined;
  /** For clients of which service everything under its first segment is. */
  shapeOf(path: string): RerankShape | undefined;
}

/** What `openai` before version 1 calls the list of models. */
const engineListPaths = ['/v1/engines', '/engines', '/v1/v1/engines'];

const modelListPaths = ['/v1/models', '/models', '/v1/v1/models'];

/** Paths with a model's name in the middle: `/v1/engines/` + name + `/embeddings`. */
interface ModelPath {
  readonly prefix: string;
  readonly suffix: string;
  readonly place: (model: string) => Place;
}

export function createRouter(routes: readonly Route[], basePath: string): Router {
  const exact = new Map<string, Place>();
  const modelPaths: ModelPath[] = [];
  const shapes = new Map<string, RerankShape>();

  // Probes come straight to the listener; they need not know where the routes were put.
  for (const base of new Set(['', basePath])) {
    exact.set(`${base}/healthz`, { kind: 'health', path: '/healthz' });
    exact.set(`${base}/readyz`, { kind: 'ready', path: '/readyz' });
  }
  for (const route of routes) {
    for (const path of [route.path, ...route.aliases]) {
      const [prefix, suffix] = path.split('{model}');
      if (prefix === undefined || suffix === undefined) {
        exact.set(basePath + path, { kind: 'route', path: route.path, route, modelFromPath: undefined });
      } else {
        modelPaths.push({
          prefix: basePath + prefix,
          suffix,
          place: (modelFromPath) => ({ kind: 'route', path: route.path, route, modelFromPath }),
        });
      }
    }
  }
  for (const route of routes) {
    for (const [path, shape] of Object.entries(route.shapedPaths ?? {})) {
      exact.set(basePath + path, { kind: 'route', path: route.path, route, modelFromPath: undefined, shape });
      shapes.set(path.slice(0, path.indexOf('/', 1) + 1), shape);
    }
  }
  for (const path of engineListPaths) exact.set(basePath + path, { kind: 'models', path: '/v1/models' });
  for (const path of modelListPaths) {
    exact.set(basePath + path, { kind: 'models', path: '/v1/models' });
    modelPaths.push({
      prefix: `${basePath + path}/`,
      suffix: '',
      place: (id) => ({ kind: 'model', path: '/v1/models/{id}', id }),
    });
  }

  function findWithModel(path: string): Place | undefined {
    for (const { prefix, suffix, place } of modelPaths) {
      if (path.length <= prefix.length + suffix.length) continue;
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const model = toModelName(path.slice(prefix.length, path.length - suffix.length));
      return model === undefined ? undefined : place(model);
    }
    return undefined;
  }

  return {
    shapeOf(path) {
      if (!path.startsWith(basePath)) return undefined;
      const start = path.slice(basePath.length, path.indexOf('/', basePath.length + 1) + 1);
      return shapes.get(start);
    },
    find(path) {
      const found = exact.get(path);
      if (found !== undefined) return found;
      const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      return (trimmed === path ? undefined : exact.get(trimmed)) ?? findWithModel(trimmed);
    },
  };
}

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
