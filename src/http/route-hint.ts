/** The message of a 404: the nearest existing path, and the paths for the request's method. */

import { nearestName } from '../lib/nearest-name.ts';

/** A path that is served, without the base path. */
export interface ServedPath {
  readonly path: string;
  readonly methods: readonly string[];
  /** Clients of which service it is for; undefined where it is the gateway's own. */
  readonly clientApi: string | undefined;
  /** Whether a list of paths shows it. */
  readonly isListed: boolean;
}

/** The request whose path is not served. */
export interface Missed {
  readonly path: string;
  readonly method: string;
  /** By the path: clients of which service ask. */
  readonly clientApi: { readonly id: string } | undefined;
}

/** Longer ones are not compared: the time grows with the square of the length. */
const longestPath = 100;
/** Of one request. */
const mostCompared = 4;
/** A third of the letters, as for other names, would make `/api/ps` of `/api/pull`. */
const shareOfLetters = 4;

/** The path, and what is left of it without its first segments: two segments at least. */
function tailsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  return segments.flatMap((_, index) =>
    index === 0 || index < segments.length - 1 ? [`/${segments.slice(index).join('/')}`] : [],
  );
}

export function createRouteHint(
  served: readonly ServedPath[],
  basePath: string,
  find: (path: string) => ServedPath | undefined,
): (missed: Missed) => string {
  const shown = ({ path, methods: [method = ''] }: ServedPath): string => `${method} ${basePath}${path}`;

  /** One that takes the method goes before. */
  function likeIt(path: string, method: string): ServedPath | undefined {
    for (const takesIt of [true, false]) {
      const candidates = served.filter(({ methods }) => methods.includes(method) === takesIt);
      const paths = candidates.map((one) => one.path);
      const name = nearestName(path, paths, shareOfLetters);
      if (name !== undefined) return candidates.find((one) => one.path === name);
    }
    return undefined;
  }

  /** The path as it came, or behind what leads to it, such as another base path. */
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
