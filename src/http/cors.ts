/** Cross-origin access for browsers, where the operator names the origins; off otherwise. */

import type { IncomingMessage, ServerResponse } from 'node:http';

export function allowOrigin(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return;
  response.setHeader('access-control-allow-origin', origins.includes('*') ? '*' : origin);
  response.setHeader('access-control-expose-headers', '*, x-request-id, retry-after');
  if (!origins.includes('*')) response.setHeader('vary', 'origin');
}

/** True where the request was a preflight and is answered. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': wanted } = request.headers;
  if (request.method !== 'OPTIONS' || origin === undefined || method === undefined) return false;
  response.setHeader('access-control-allow-methods', 'POST, GET');
  response.setHeader('access-control-allow-headers', wanted ?? 'authorization, content-type');
  response.setHeader('access-control-max-age', '600');
  response.writeHead(204);
  response.end();
  return true;
}
