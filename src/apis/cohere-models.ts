/** Lists models for Cohere's clients, by endpoint and page. */

import type { EndpointView, FixedEndpoint, SeenModel } from '../core/client-api.ts';
import { type Operation, operationRows, operations } from '../core/operations/index.ts';
import { pageOf, pageQuery, unfitQuery } from './paging.ts';

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

/** The models of an endpoint, or its default one. */
function chosenFrom({ models, query, defaultModel }: EndpointView): readonly SeenModel[] {
  const endpoint = query.get('endpoint');
  const isDefaultOnly = query.get('default_only') === 'true';
  if (endpoint === undefined) {
    if (isDefaultOnly) throw unfitQuery('default_only', 'send endpoint beside it, or leave it out');
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

const names = { size: 'page_size', token: 'page_token' };

export const models: FixedEndpoint = {
  method: 'GET',
  paths: ['/cohere/v1/models'],
  summary: "The visible models that the caller's key may use, as Cohere's clients list them.",
  query: {
    ...pageQuery(names),
    endpoint: { pattern: new RegExp(`^(?:${endpoints.join('|')})$`), form: `one of ${endpoints.join(', ')}` },
    default_only: { pattern: /^(?:true|false)$/, form: 'true or false' },
  },
  show(view) {
    const { page, next } = pageOf(chosenFrom(view), view, names);
    return { models: page.map(asListed), ...(next !== undefined && { next_page_token: next }) };
  },
};

export const oneModel: FixedEndpoint = {
  method: 'GET',
  paths: ['/cohere/v1/models/{model}'],
  summary: "One model as Cohere's clients look at it.",
  show: ({ find, modelInPath = '' }) => asListed(find(modelInPath)),
};
