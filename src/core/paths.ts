/** Parses and compares path templates of routes, with a model name or ID inside, and lists paths that are refused. */

/** Matches `{model}` or `{id}` in a path; or a name with a prefix that belongs to it, as in `{model=tunedModels/*}`. */
const nameInPath = /\{(model|id)(?:=([\w/]+\/)\*)?\}/;

interface PathParts {
  readonly before: string;
  /** `model` or `id`: what the placeholder in the path stands for; undefined where the path has none. */
  readonly what: string | undefined;
  /** Prefix that belongs to the name, such as `tunedModels/`. */
  readonly beginning: string;
  readonly suffix: string | undefined;
}

export function readPath(path: string): PathParts {
  const [before = '', what, beginning = '', suffix] = path.split(nameInPath);
  return { before, what, beginning, suffix };
}

export interface TakenPath {
  readonly path: string;
  /** Another path that does the same: a custom route may then replace this one. */
  readonly elsewhere?: string;
}

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

/** Paths at which OpenAI's library before version 1 reads the list of models. */
export const engineListPaths = ['/v1/engines', '/engines', '/v1/v1/engines'];

/** Tails of paths that are refused: WebSocket sessions, and calls that create sessions which bypass the gateway (client keys, telephone calls). */
export const realtimePaths = ['', '/sessions', '/transcription_sessions', '/client_secrets', '/calls'].flatMap((tail) =>
  [
    ...['/v1/realtime', '/realtime', '/v1/v1/realtime'],
    ...['/openai/v1/realtime', '/openai/realtime', '/ollama/v1/realtime', '/api/v1/realtime'],
  ].map((path) => path + tail),
);
export const modelListPaths = ['/v1/models', '/models', '/v1/v1/models', '/anthropic/v1/models'];

/** Paths of Anthropic's files that no other service has. */
export const anthropicFilePaths = ['', '/{id}', '/{id}/content'].map((tail) => `/anthropic/v1/files${tail}`);

export const probePaths = { healthz: '/healthz', readyz: '/readyz' } as const;
