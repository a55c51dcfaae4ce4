/** Divides the lists of client APIs into pages, with a token for the next page. */

import { Buffer } from 'node:buffer';
import type { EndpointView, SeenModel } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { QueryGrammar } from '../core/query.ts';

interface PageNames {
  readonly size: string;
  readonly token: string;
}

export const pageQuery = ({ size, token }: PageNames): QueryGrammar => ({
  [size]: { pattern: /^(?:[1-9]\d{0,2}|1000)$/, form: 'a number from 1 to 1000' },
  [token]: { pattern: /^[\w-]+$/, form: 'what the page before has said' },
});

/** One page of models, or all models where the query has no size. `next`: the token of the next page, if there is one. */
export function pageOf(models: readonly SeenModel[], { query }: EndpointView, { size, token }: PageNames) {
  const start = startOf(models, query.get(token), token);
  const wanted = query.get(size);
  const page = models.slice(start, wanted === undefined ? undefined : start + Number(wanted));
  const last = page.at(-1);
  const isMore = last !== undefined && start + page.length < models.length;
  return { page, next: isMore ? toToken(last.id) : undefined };
}

const toToken = (name: string): string => Buffer.from(name).toString('base64url');

function startOf(models: readonly SeenModel[], token: string | undefined, param: string): number {
  if (token === undefined) return 0;
  const last = models.findIndex(({ id }) => toToken(id) === token);
  if (last === -1) throw unfitQuery(param, 'the list has changed, so begin again without it');
  return last + 1;
}

export function unfitQuery(param: string, next: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The query parameter "${param}" cannot be served; ${next}.`,
  });
}
