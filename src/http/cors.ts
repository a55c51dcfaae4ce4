/** CORS for browsers, if the operator lists origins; off by default. */

import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';

export function allowOrigin(request: ServerRequest, response: ServerAnswer, origins: readonly string[]): void {
  const origin = request.header('origin');
  if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return;
  const { standing } = response;
  standing.push('access-control-allow-origin', origins.includes('*') ? '*' : origin);
  standing.push('access-control-expose-headers', '*, x-request-id, retry-after');
  if (!origins.includes('*')) standing.push('vary', 'origin');
}

/** True where the request was a preflight and is answered. */
export function answerPreflight(request: ServerRequest, response: ServerAnswer): boolean {
  const isPreflight = request.fields.has('origin') && request.fields.has('access-control-request-method');
  if (request.method !== 'OPTIONS' || !isPreflight) return false;
  const wanted = request.header('access-control-request-headers');
  const headers = [
    ...['access-control-allow-methods', 'POST, GET'],
    ...['access-control-allow-headers', wanted ?? 'authorization, content-type'],
    ...['access-control-max-age', '600'],
  ];
  response.writeHead(204, 'No Content', headers, 'none');
  response.end();
  return true;
}
