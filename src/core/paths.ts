/** Path templates of routes, with a model name or ID inside; and paths that are no routes. */

/** `{model}`; or with what belongs to the name already, `{model=tunedModels/*}`. */
const nameInPath = /\{(model|id)(?:=([\w/]+\/)\*)?\}/;

interface PathParts {
  readonly before: string;
  /** What the name is of. */
  readonly what: string | undefined;
  /** Of the name. */
  readonly beginning: string;
  /** Undefined where there is no name in it. */
  readonly suffix: string | undefined;
}

export function readPath(path: string): PathParts {
  const [before = '', what, beginning = '', suffix] = path.split(nameInPath);
  return { before, what, beginning, suffix };
}

/** A path that means something already. */
export interface TakenPath {
  readonly path: string;
  /** Where what it means stands as well: a custom route may take its place then. */
  readonly elsewhere?: string;
}

/** Whether there is a path of a request that both could mean. */
export function mayMeanTheSame(one: string, other: string): boolean {
  const [a, b] = [readPath(one), readPath(other)];
  if (a.suffix === undefined && b.suffix === undefined) return a.before === b.before;
  if (a.suffix === undefined) return fits(a.before, b);
  if (b.suffix === undefined) return fits(b.before, a);
  const [begins, others] = [a.before + a.beginning, b.before + b.beginning];
  const areLike = begins.startsWith(others) || others.startsWith(begins);
  return areLike && (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix));
}

function fits(path: string, { before, beginning, suffix = '' }: PathParts): boolean {
  const prefix = before + beginning;
  return path.length > prefix.length + suffix.length && path.startsWith(prefix) && path.endsWith(suffix);
}

/** What `openai` before version 1 calls the list of models. */
export const engineListPaths = ['/v1/engines', '/engines', '/v1/v1/engines'];

/** A session over a WebSocket, and what leads to one around the gateway: keys for clients, and calls. */
export const realtimePaths = ['', '/sessions', '/transcription_sessions', '/client_secrets', '/calls'].flatMap((tail) =>
  [
    ...['/v1/realtime', '/realtime', '/v1/v1/realtime'],
    ...['/openai/v1/realtime', '/openai/realtime', '/ollama/v1/realtime', '/api/v1/realtime'],
  ].map((path) => path + tail),
);
export const modelListPaths = ['/v1/models', '/models', '/v1/v1/models', '/anthropic/v1/models'];

/** Of Anthropic's files, where no other service has its own. */
export const anthropicFilePaths = ['', '/{id}', '/{id}/content'].map((tail) => `/anthropic/v1/files${tail}`);

/** Of who looks whether the process is there. */
export const probePaths = { healthz: '/healthz', readyz: '/readyz' } as const;
