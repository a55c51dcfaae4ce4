/** OpenAI, and every service that speaks its wire format: bytes out, bytes back. */

import { bearer, defineFamily } from '../core/family.ts';

const errorObject = /^\s*\{\s*"error"\s*:\s*\{/;
const statusInError = /"(?:code|status)"\s*:\s*"?([45]\d\d)\b/;

/** Services between us and the model wrap its errors: `{"error":{"code":502,...}}` under a status of 200. */
function failureIn(beginning: Buffer): number | undefined {
  if (!errorObject.test(beginning.toString('latin1', 0, 64))) return undefined;
  return Number(statusInError.exec(beginning.toString('latin1', 0, 2048))?.[1] ?? 500);
}

export default defineFamily({
  id: 'openai',
  title: 'OpenAI and compatible services',
  baseUrl: 'https://api.openai.com/v1',
  auth: bearer(),
  failureIn,
  starter: {
    apiKeyEnv: 'OPENAI_API_KEY',
    models: [
      { id: 'text-embedding-3-small', operations: ['embeddings'] },
      { id: 'text-embedding-3-large', operations: ['embeddings'] },
      { id: 'omni-moderation-latest', operations: ['moderations'] },
      { id: 'gpt-3.5-turbo-instruct', operations: ['completions'] },
    ],
  },
  offers: {
    openai: {
      completions: { path: '/completions' },
      edits: { path: '/edits' },
      rerank: { path: '/rerank' },
      moderations: { path: '/moderations' },
      embeddings: { path: '/embeddings' },
    },
    engines: {
      embeddings: { path: '/engines/{model}/embeddings', onlyWhen: 'legacy_engines' },
    },
  },
});
