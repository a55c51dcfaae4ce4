/** The command line that does the same: the secret stands in a variable, never in the text. */

import type { GatewayRoute } from '../../../../src/admin/contract.ts';

export interface CurlFacts {
  /** What clients put before `/v1/...`. */
  readonly baseUrl: string;
  readonly route: GatewayRoute;
  readonly model: string;
  /** As it is sent. */
  readonly body: unknown;
}

/** Longer ones are written over several lines. */
const longestLine = 100;

export function toCurl({ baseUrl, route, model, body }: CurlFacts): string {
  const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
  const flat = JSON.stringify(body) ?? '';
  const text = flat.length > longestLine ? JSON.stringify(body, null, 2) : flat;
  return [
    `curl ${isStream ? '-N ' : ''}${quote(baseUrl + toPath(route, model))}`,
    '-H "Authorization: Bearer $POSTERN_KEY"',
    "-H 'Content-Type: application/json'",
    `-d ${quote(text)}`,
  ].join(' \\\n  ');
}

export function toPath(route: GatewayRoute, model: string): string {
  if (route !== 'engines-embeddings') return `/v1/${route}`;
  return `/v1/engines/${model.split('/').map(encodeURIComponent).join('/')}/embeddings`;
}

/** For a POSIX shell; what needs no quotes gets none. */
const quote = (text: string): string =>
  /^[\w:/.%-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
