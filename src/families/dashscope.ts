/** Declares Alibaba's DashScope as an upstream family: OpenAI's format in its compatible mode, rerank in its own format. */

import type { Json } from '../lib/json/json-text.ts';
import { byModel } from './wire-formats/conversation.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { itemsInACall } from './wire-formats/options.ts';
import { at, countIn, objectIn, textIn } from './wire-formats/reading.ts';
import { type RerankWireFormat, rankedIn, translateRerank } from './wire-formats/rerank/rerank.ts';

const compatible = '/compatible-mode/v1';

/** Whether the model is a vision model: these take objects, such as `{image}` (unverified), and fewer of them. */
const sees = (model: string): boolean => model.includes('-vl-');

const ofTexts: RerankWireFormat = {
  limits: (model) => ({ items: sees(model) ? 100 : 500, tokens: model.startsWith('gte-') ? 30_000 : 120_000 }),
  own: ['instruct'],
  // Results have no documents: those for the client are taken from its request.
  write: ({ query, documents, model, topN, more }) => ({
    body: { model, input: { query, documents }, parameters: { ...more, top_n: topN, return_documents: false } },
  }),
  read({ body }) {
    const { output, usage, request_id: id } = objectIn(body, 'the answer');
    const total = countIn(at(usage, 'total_tokens'));
    return {
      results: rankedIn(at(output, 'results'), 'results', 'relevance_score'),
      id,
      promptTokens: total,
      totalTokens: total,
    };
  },
};

const rerankOfTexts = translateRerank(ofTexts);
const rerankOfObjects = translateRerank({ ...ofTexts, takesObjects: true });
const rerank = byModel((model) => (sees(model) ? rerankOfObjects : rerankOfTexts));

/** Real statuses by the first word of an error code. The list is DashScope's; that each code may come with status 200 is unverified. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['InvalidParameter', 400],
  ['BadRequest', 400],
  ['InvalidURL', 400],
  ['UnsupportedOperation', 400],
  ['DataInspectionFailed', 400],
  ['Arrearage', 400],
  ['InvalidApiKey', 401],
  ['AccessDenied', 403],
  ['ModelNotFound', 404],
  ['RequestTimeOut', 408],
  ['Throttling', 429],
]);

/** The real status of an answer with status 200: one that has an error code is an error. */
function hiddenIn(body: Json): number | undefined {
  const code = textIn(at(body, 'code')) ?? '';
  if (code === '') return undefined;
  return statuses.get(code.split('.', 1)[0] ?? '') ?? 500;
}

export default openaiCompatible({
  id: 'dashscope',
  title: 'Alibaba Cloud DashScope',
  baseUrl: 'https://dashscope.aliyuncs.com',
  versions: [compatible, '/api/v1'],
  at: compatible,
  options: {
    max_items: itemsInACall('Inputs in a call, at most: 25 for text-embedding-v1 and v2.', 10),
  },
  starter: {
    apiKeyEnv: 'DASHSCOPE_API_KEY',
    models: [
      { id: 'text-embedding-v4', operations: ['embeddings'] },
      { id: 'qwen3-rerank', operations: ['rerank'] },
    ],
  },
  errors: { hiddenIn },
  completions: {
    onePromptACall: true,
    misreadsTokens: true,
    facts: 'one prompt a call, as it is unverified whether lists are supported',
  },
  embeddings: {
    maxItems: 10,
    maxItemsOption: 'max_items',
    misreadsTokens: true,
    lacksBase64: true,
    facts: '10 inputs a call (`max_items`); base64 is encoded by the gateway, as only floats are documented',
  },
  own: () => ({
    rerank: {
      path: '/api/v1/services/rerank/text-rerank/text-rerank',
      translation: rerank,
      facts: '500 documents a call, 100 with multimodal models; other models take texts only; `instruct` is supported',
    },
  }),
});
