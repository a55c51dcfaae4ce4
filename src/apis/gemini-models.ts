/** Lists models for clients of the Gemini API. */

import type { FixedEndpoint, SeenModel } from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { pageOf, pageQuery } from './paging.ts';

const names = { size: 'pageSize', token: 'pageToken' };

const asListed = ({ id, operations, context }: SeenModel): Readonly<Record<string, unknown>> => ({
  name: id.startsWith('tunedModels/') ? id : `models/${id}`,
  displayName: id,
  ...(context !== undefined && { inputTokenLimit: context }),
  supportedGenerationMethods: operations.flatMap((operation) => operationRows[operation].listedAs?.methods ?? []),
});

export const models: FixedEndpoint = {
  method: 'GET',
  paths: ['/v1beta/models', '/gemini/v1/models'],
  summary: "The visible models that the caller's key may use, as clients of the Gemini API list them.",
  query: pageQuery(names),
  show(view) {
    const { page, next } = pageOf(view.models, view, names);
    return { models: page.map(asListed), ...(next !== undefined && { nextPageToken: next }) };
  },
};

export const oneModel: FixedEndpoint = {
  method: 'GET',
  paths: ['/v1beta/models/{model}', '/gemini/v1/models/{model}', '/v1beta/{model=tunedModels/*}'],
  summary: 'One model as clients of the Gemini API look at it.',
  show: ({ find, modelInPath = '' }) => asListed(find(modelInPath)),
};
