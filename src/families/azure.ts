/** Declares Azure OpenAI as an upstream family: OpenAI's format, where the model is a deployment and the path depends on the API version. */

import { bearer, type Options } from '../core/family.ts';
import type { Json } from '../lib/json/json-text.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { at } from './wire-formats/reading.ts';

/** The time until a retry, in seconds: some error messages name it where no header does (unverified). */
function retryAfterS(body: Json): number | undefined {
  const message = at(body, 'error', 'message') ?? at(body, 'message');
  const seconds = typeof message === 'string' ? /\bretry after (\d{1,5}) seconds?\b/i.exec(message)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds);
}

function pathAt(path: string, { api_version: version }: Options): string {
  return version === 'v1' ? `/openai/v1${path}` : `/openai/deployments/{model}${path}?api-version={api_version}`;
}

/** The body names the model in every API version, so the path of responses has no deployment. */
const responsesAt = (tail: string, options: Options): string =>
  options.api_version === 'v1'
    ? pathAt(`/responses${tail}`, options)
    : `/openai/responses${tail}?api-version={api_version}`;

export default openaiCompatible({
  id: 'azure',
  title: 'Azure OpenAI',
  environment: ['AZURE_OPENAI_API_KEY'],
  // A base URL may end with a deployment, but `targets[].model` names the one that is called.
  versions: ['/openai/v1', '/openai/deployments/{model}', '/openai/deployments', '/openai'],
  auth: ({ auth }) => (auth === 'entra' ? bearer() : { header: 'api-key', prefix: '' }),
  options: {
    api_version: {
      description:
        'API version: `v1` (the model is the name of a deployment), or a date such as `2024-10-21` (the path contains the deployment).',
      pattern: /^(?:v1|\d{4}-\d{2}-\d{2}(?:-preview)?)$/,
      form: 'v1, or a date such as 2024-10-21',
      default: 'v1',
    },
    auth: {
      description:
        'Kind of credential: `key`, or `entra` for a token of Microsoft Entra. Such a token expires soon, so use `api_key_file`, which is read again when it changes.',
      values: ['key', 'entra'],
      default: 'key',
    },
  },
  errors: { retryAfterS },
  at: pathAt,
  files: (options) =>
    options.api_version === 'v1' ? pathAt('/files', options) : '/openai/files?api-version={api_version}',
  batches: (options) =>
    options.api_version === 'v1' ? pathAt('/batches', options) : '/openai/batches?api-version={api_version}',
  own: (options) => ({
    responses: {
      path: responsesAt('', options),
      facts: 'bytes pass; stored objects belong to the project that created them',
    },
    images: { path: pathAt('/images/generations', options), facts: 'bytes pass' },
    speech: { path: pathAt('/audio/speech', options), facts: 'bytes pass' },
    image_edits: { path: pathAt('/images/edits', options), facts: 'bytes pass' },
    transcriptions: { path: pathAt('/audio/transcriptions', options), facts: 'bytes pass' },
    translations: { path: pathAt('/audio/translations', options), facts: 'bytes pass' },
  }),
  others: (options) => ({
    input_tokens: { responses: { path: responsesAt('/input_tokens', options), facts: 'bytes pass (unverified)' } },
    compact: { responses: { path: responsesAt('/compact', options), facts: 'bytes pass (unverified)' } },
  }),
  completions: { facts: 'as OpenAI; the content filter may add its own fields (unverified)' },
  embeddings: { maxItems: 2_048, facts: '2,048 inputs a call; token IDs and base64 as for OpenAI (unverified)' },
});
