/** The command line that does the same: the secret stands in a variable, never in the text. */

import { type GatewayRoute, operationRows, pathOf } from '../../../../src/admin/contract.ts';
import { toBodyText, toCurlLine } from '../../parts/snippets/curl-line.ts';
import type { FormPart } from './call.ts';

export interface CurlFacts {
  /** What clients put before `/v1/...`. */
  readonly baseUrl: string;
  readonly route: GatewayRoute;
  readonly model: string;
  /** As it is sent. */
  readonly body: unknown;
  readonly form?: readonly FormPart[] | undefined;
}

export function toCurl({ baseUrl, route, model, body, form }: CurlFacts): string {
  const path = toPath(route, model);
  if (form !== undefined) return toCurlLine({ baseUrl, path, ...toFormFacts(form) });
  const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
  const text = toBodyText(body);
  return toCurlLine({ baseUrl, path, body: isLong(text) ? bodyFile : text, isStream });
}

/** Files by their names, as if they stood in the folder where the shell is. */
function toFormFacts(form: readonly FormPart[]) {
  const files = form.flatMap(({ name, value }) => (typeof value === 'string' ? [] : [`${name}=@${value.name}`]));
  const texts = form.flatMap(({ name, value }) => (typeof value === 'string' ? [`${name}=${value}`] : []));
  return { parts: files, texts };
}

/** Pictures make a line that no shell takes: the body comes from a file then. */
export const bodyFile = '@body.json';
const mostCharacters = 50_000;
const isLong = (text: string): boolean => text.length > mostCharacters;

/** With `{model}` where the model stands. */
export const toPattern = (route: GatewayRoute): string =>
  route === 'engines-embeddings' ? '/v1/engines/{model}/embeddings' : operationRows[route].path;

export function toPath(route: GatewayRoute, model: string): string {
  if (route !== 'engines-embeddings') return pathOf(route, model);
  return `/v1/engines/${model.split('/').map(encodeURIComponent).join('/')}/embeddings`;
}
