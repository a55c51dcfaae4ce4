/** OpenAI, and every service that speaks its wire format: bytes out, bytes back. */

import { bearer, defineFamily } from '../core/family.ts';
import { openaiEmbeddings } from './dialects/openai-embeddings.ts';
import { rerankOfAnyone } from './dialects/standard-rerank.ts';

const errorObject = '{"error":{';
const statusInError = /"(?:code|status)"\s*:\s*"?([45]\d\d)\b/;
const [openBrace, quote, letterE] = Buffer.from(errorObject);
/** What is no error shows it in its first characters. */
const lookedAtBytes = 64;

/** Services between us and the model wrap its errors: `{"error":{"code":502,...}}` under a status of 200. */
function failureIn(beginning: Buffer, isWhole: boolean): number | 'unclear' | undefined {
  // Most answers show it in three bytes: `{"o` of "object", `{"i` of "id".
  const [first, second, third = letterE] = beginning;
  if (first === openBrace && second === quote && third !== letterE) return undefined;
  const start = beginning.toString('latin1', 0, lookedAtBytes).replaceAll(/\s/g, '');
  if (!start.startsWith(errorObject.slice(0, start.length))) return undefined;
  if (!isWhole) return 'unclear';
  if (start.length < errorObject.length) return undefined;
  return Number(statusInError.exec(beginning.toString('latin1'))?.[1] ?? 500);
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
  chat: '/chat/completions',
  offers: ({ base64 }) => ({
    openai: {
      completions: { path: '/completions' },
      edits: { path: '/edits' },
      rerank: { path: '/rerank', translation: rerankOfAnyone },
      moderations: { path: '/moderations' },
      embeddings: {
        path: '/embeddings',
        ...(base64 === 'convert' && { translation: openaiEmbeddings({ lacksBase64: true, takesObjects: true }) }),
      },
    },
    engines: {
      embeddings: { path: '/engines/{model}/embeddings', onlyWhen: 'legacy_engines' },
    },
  }),
});
