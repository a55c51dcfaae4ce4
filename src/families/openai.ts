/** Declares OpenAI, and every service with its wire format, as an upstream family: bytes pass unchanged. */

import { bearer, defineFamily } from '../core/family.ts';
import { openaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { openaiModelList } from './wire-formats/model-lists.ts';
import { failureIn } from './wire-formats/openai-compatible.ts';
import { rerankOfAnyone } from './wire-formats/rerank/standard-rerank.ts';

export default defineFamily({
  id: 'openai',
  title: 'OpenAI and compatible services',
  baseUrl: 'https://api.openai.com/v1',
  auth: bearer(),
  failureIn,
  // 400 `billing_hard_limit_reached` as reported for images (github.com/dfinke/PowerShellAI/issues/127); `insufficient_quota` comes with
  // 429 there, and with other statuses from services with its wire format (unverified).
  exhaustion: {
    codes: ['insufficient_quota', 'billing_hard_limit_reached', 'credit_balance_exhausted'],
    messages: ['Billing hard limit has been reached'],
  },
  starter: {
    apiKeyEnv: 'OPENAI_API_KEY',
    models: [
      { id: 'text-embedding-3-small', operations: ['embeddings'] },
      { id: 'text-embedding-3-large', operations: ['embeddings'] },
      { id: 'omni-moderation-latest', operations: ['moderations'] },
      { id: 'gpt-4.1-mini', operations: ['chat', 'responses'] },
      { id: 'gpt-4o-mini', operations: ['chat', 'responses'] },
    ],
  },
  chat: '/chat/completions',
  files: '/files',
  batches: '/batches',
  modelList: openaiModelList('/models'),
  offers: ({ base64 }) => ({
    openai: {
      completions: { path: '/completions' },
      edits: { path: '/edits' },
      rerank: { path: '/rerank', translation: rerankOfAnyone },
      moderations: { path: '/moderations' },
      responses: { path: '/responses', facts: 'bytes pass; stored objects belong to the project that created them' },
      images: { path: '/images/generations', facts: 'bytes pass' },
      speech: { path: '/audio/speech', facts: 'bytes pass' },
      image_edits: { path: '/images/edits', facts: 'bytes pass' },
      image_variations: { path: '/images/variations', facts: 'bytes pass' },
      transcriptions: { path: '/audio/transcriptions', facts: 'bytes pass' },
      translations: { path: '/audio/translations', facts: 'bytes pass' },
      embeddings: {
        path: '/embeddings',
        limitsAtHome: { items: 2_048 },
        ...(base64 === 'convert' && { translation: openaiEmbeddings({ lacksBase64: true, takesObjects: true }) }),
      },
    },
    input_tokens: { responses: { path: '/responses/input_tokens', facts: 'bytes pass' } },
    compact: { responses: { path: '/responses/compact', facts: 'bytes pass' } },
    engines: {
      embeddings: { path: '/engines/{model}/embeddings', onlyWhen: 'legacy_engines' },
    },
  }),
});
