/** Writes the message of a 404 error: the nearest existing path, and the paths for the request's method. */

import { nearestName } from '../lib/nearest-name.ts';

export interface ServedPath {
  readonly path: string;
  readonly methods: readonly string[];
  /** ID of the client API that the path belongs to; undefined for the gateway's own paths. */
  readonly clientApi: string | undefined;
  /** Whether lists of paths include it. */
  readonly isListed: boolean;
}

export interface Missed {
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

export function createRouteHint(
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
