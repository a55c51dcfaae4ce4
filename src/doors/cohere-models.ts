/** The models as Cohere's clients list them: by endpoint, in pages. */

import { Buffer } from 'node:buffer';
import type { DoorPage, PageView, SeenModel } from '../core/door.ts';
import { GatewayError } from '../core/errors.ts';
import { type Operation, operationRows, operations } from '../core/operations/index.ts';

const endpoints = ['chat', 'embed', 'classify', 'summarize', 'rerank', 'rate', 'generate'] as const;

const asListed = ({ id, operations: served, context }: SeenModel): Readonly<Record<string, unknown>> => ({
  name: id,
  endpoints: served.flatMap((operation) => operationRows[operation].listedAs?.endpoint ?? []),
  finetuned: false,
  is_deprecated: false,
  ...(context !== undefined && { context_length: context }),
});

const isFor = (operation: Operation, endpoint: string): boolean =>
  operationRows[operation].listedAs?.endpoint === endpoint;

/** Those of an endpoint, and of these the standard one where nothing else is wanted. */
function chosenFrom({ models, query, defaultModel }: PageView): readonly SeenModel[] {
  const endpoint = query.get('endpoint');
  const isDefaultOnly = query.get('default_only') === 'true';
  if (endpoint === undefined) {
    if (isDefaultOnly) throw unfit('default_only', 'send endpoint beside it, or leave it out');
    return models;
  }
  const meant = operations.filter((operation) => isFor(operation, endpoint));
  const standard = meant.map(defaultModel);
  return models.filter(
    (model) =>
      model.operations.some((operation) => meant.includes(operation)) &&
      (!isDefaultOnly || standard.includes(model.id)),
  );
}

function unfit(param: string, next: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The query parameter "${param}" cannot be served; ${next}.`,
  });
}

const toToken = (name: string): string => Buffer.from(name).toString('base64url');

/** Behind the last one of the page before. */
function startOf(models: readonly SeenModel[], token: string | undefined): number {
  if (token === undefined) return 0;
  const last = models.findIndex(({ id }) => toToken(id) === token);
  if (last === -1) throw unfit('page_token', 'the list has changed, so begin again without it');
  return last + 1;
}

export const models: DoorPage = {
  method: 'GET',
  paths: ['/cohere/v1/models'],
  summary: "The visible models that the caller's key may use, as Cohere's clients list them.",
  query: {
    page_size: { pattern: /^(?:[1-9]\d{0,2}|1000)$/, form: 'a number from 1 to 1000' },
    page_token: { pattern: /^[\w-]+$/, form: 'what the page before has said' },
    endpoint: { pattern: new RegExp(`^(?:${endpoints.join('|')})$`), form: `one of ${endpoints.join(', ')}` },
    default_only: { pattern: /^(?:true|false)$/, form: 'true or false' },
  },
  show(view) {
    const chosen = chosenFrom(view);
    const start = startOf(chosen, view.query.get('page_token'));
    const size = view.query.get('page_size');
    const page = chosen.slice(start, size === undefined ? undefined : start + Number(size));
    const last = page.at(-1);
    const isMore = last !== undefined && start + page.length < chosen.length;
    return { models: page.map(asListed), ...(isMore && { next_page_token: toToken(last.id) }) };
  },
};

export const oneModel: DoorPage = {
  method: 'GET',
  paths: ['/cohere/v1/models/{model}'],
  summary: "One model as Cohere's clients look at it.",
  show: ({ find, modelInPath = '' }) => asListed(find(modelInPath)),
};
