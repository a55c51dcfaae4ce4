/** Paths that are no routes: lists of models, probes, and what is refused by name. */

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
