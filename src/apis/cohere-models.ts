/** Answers fixed endpoints of Cohere's client API: lists models, and runs `tokenize` and `detokenize` with OpenAI's vocabularies. */

import {
  type EndpointView,
  type FixedEndpoint,
  missingField,
  notServed,
  type SeenModel,
  unfitField,
} from '../core/client-api.ts';
import { type Operation, operationRows, operations } from '../core/operations/index.ts';
import { isJsonList, type Json, JsonNumbers } from '../lib/json/json-text.ts';
import { tokensOf } from '../lib/token-count.ts';
import { textOfTokens, type Vocabulary, vocabularyKnownFor } from '../lib/token-ids.ts';
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

/** The models that serve an endpoint, or only its default model. */
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

const models: FixedEndpoint = {
  method: 'GET',
  paths: ['/cohere/v1/models'],
  summary: "The visible models that the caller's key may use, in Cohere's format.",
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

const oneModel: FixedEndpoint = {
  method: 'GET',
  paths: ['/cohere/v1/models/{model}'],
  summary: "One model as Cohere's clients look at it.",
  show: ({ find, modelInPath = '' }) => asListed(find(modelInPath)),
};

const mostCharacters = 65_536;
const mostTokens = 65_536;

const meta = { api_version: { version: '1' } };

/** The vocabulary of a model; throws where the services behind it have different vocabularies, or an unknown one. */
function vocabularyOf({ body, find }: EndpointView, doing: string): Vocabulary {
  if (typeof body.model !== 'string') throw missingField('model', 'a string');
  const { id, upstreamNames } = find(body.model);
  const known = new Set(upstreamNames.map(vocabularyKnownFor));
  const [vocabulary] = known;
  if (known.size === 1 && vocabulary !== undefined) return vocabulary;
  throw notServed(`${doing} is not available for the model "${id}": its vocabulary is unknown.`);
}

const tokenize: FixedEndpoint = {
  method: 'POST',
  paths: ['/v1/tokenize', '/v1/v1/tokenize'],
  summary: 'The tokens of a text, for models with a known vocabulary.',
  async show(view) {
    const vocabulary = vocabularyOf(view, 'tokenize');
    const { text } = view.body;
    if (text === undefined || text === null) throw missingField('text', 'a string');
    if (typeof text !== 'string' || text === '' || text.length > mostCharacters) {
      throw unfitField('text', `a string of 1 to ${mostCharacters} characters`);
    }
    const tokens = await tokensOf(vocabulary, text);
    if (tokens === undefined) throw unfitField('text', 'a string without words of thousands of characters');
    return { tokens: tokens.map(({ id }) => id), token_strings: tokens.map((token) => token.text), meta };
  },
};

function idsIn(tokens: Json | undefined): readonly number[] {
  if (tokens === undefined || tokens === null) throw missingField('tokens', 'an array of token IDs');
  const ids = tokens instanceof JsonNumbers ? tokens.values() : [];
  const isEmpty = isJsonList(tokens) && tokens.length === 0;
  if ((ids.length === 0 && !isEmpty) || ids.length > mostTokens) {
    throw unfitField('tokens', `an array of at most ${mostTokens} token IDs`);
  }
  return ids;
}

const detokenize: FixedEndpoint = {
  method: 'POST',
  paths: ['/v1/detokenize', '/v1/v1/detokenize'],
  summary: 'The text of tokens, for models with a known vocabulary.',
  async show(view) {
    const vocabulary = vocabularyOf(view, 'detokenize');
    const text = await textOfTokens(vocabulary, idsIn(view.body.tokens));
    if (text === undefined) throw unfitField('tokens', "IDs of the model's own vocabulary, each of them");
    return { text, meta };
  },
};

const checkKey: FixedEndpoint = {
  method: 'POST',
  paths: ['/v1/check-api-key', '/v1/v1/check-api-key'],
  summary: 'Checks the key; an invalid one gets the usual error.',
  show: () => ({ valid: true }),
};

export const fixedEndpoints: readonly FixedEndpoint[] = [models, oneModel, tokenize, detokenize, checkKey];
