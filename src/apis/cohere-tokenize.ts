/** Cohere's `tokenize` and `detokenize`, for models with one of OpenAI's vocabularies; no others are available. */

import { type EndpointView, type FixedEndpoint, missingField, notServed } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonList, type Json, JsonNumbers } from '../lib/json/json-text.ts';
import { tokensOf } from '../lib/token-count.ts';
import { textOfTokens, type Vocabulary, vocabularyKnownFor } from '../lib/token-ids.ts';

const mostCharacters = 65_536;
const mostTokens = 65_536;

const meta = { api_version: { version: '1' } };

/** The vocabulary of all services behind the model, by their names for it. */
function vocabularyOf({ body, find }: EndpointView, doing: string): Vocabulary {
  if (typeof body.model !== 'string') throw missingField('model', 'a string');
  const { id, upstreamNames } = find(body.model);
  const known = new Set(upstreamNames.map(vocabularyKnownFor));
  const [vocabulary] = known;
  if (known.size === 1 && vocabulary !== undefined) return vocabulary;
  throw notServed(`${doing} is not available for the model "${id}": its vocabulary is not known here.`);
}

function unfit(param: string, wanted: string): GatewayError {
  return new GatewayError('invalid_type', { param, message: `The field "${param}" must be ${wanted}.` });
}

export const tokenize: FixedEndpoint = {
  method: 'POST',
  paths: ['/v1/tokenize'],
  summary: 'The tokens of a text, for models whose vocabulary is known here.',
  async show(view) {
    const vocabulary = vocabularyOf(view, 'tokenize');
    const { text } = view.body;
    if (text === undefined || text === null) throw missingField('text', 'a string');
    if (typeof text !== 'string' || text === '' || text.length > mostCharacters) {
      throw unfit('text', `a string of 1 to ${mostCharacters} characters`);
    }
    const tokens = await tokensOf(vocabulary, text);
    if (tokens === undefined) throw unfit('text', 'a string without words of thousands of characters');
    return { tokens: tokens.map(({ id }) => id), token_strings: tokens.map((token) => token.text), meta };
  },
};

function idsIn(tokens: Json | undefined): readonly number[] {
  if (tokens === undefined || tokens === null) throw missingField('tokens', 'an array of token IDs');
  const ids = tokens instanceof JsonNumbers ? tokens.values() : [];
  const isEmpty = isJsonList(tokens) && tokens.length === 0;
  if ((ids.length === 0 && !isEmpty) || ids.length > mostTokens) {
    throw unfit('tokens', `an array of at most ${mostTokens} token IDs`);
  }
  return ids;
}

export const detokenize: FixedEndpoint = {
  method: 'POST',
  paths: ['/v1/detokenize'],
  summary: 'The text of tokens, for models whose vocabulary is known here.',
  async show(view) {
    const vocabulary = vocabularyOf(view, 'detokenize');
    const text = await textOfTokens(vocabulary, idsIn(view.body.tokens));
    if (text === undefined) throw unfit('tokens', "IDs of the model's own vocabulary, each of them");
    return { text, meta };
  },
};
