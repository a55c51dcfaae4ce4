/** Declares AWS Bedrock as an upstream family: one API method for all models, each in its vendor's format. */

import { defineFamily, type Options, type Signer } from '../core/family.ts';
import type { Asked, Conversation, Translation } from '../core/translation.ts';
import { awsSigner } from './signing/aws.ts';
import { bedrockEmbeddings, tokensIn } from './wire-formats/embeddings/bedrock-embeddings.ts';
import { translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { type RerankWireFormat, translateRerank } from './wire-formats/rerank/rerank.ts';
import { readStandardRerank } from './wire-formats/rerank/standard-rerank.ts';

const embeddings: Translation = {
  hasRoles: true,
  limits: (model) => bedrockEmbeddings(model)?.limits ?? {},
  ask(asked) {
    const wireFormat = bedrockEmbeddings(asked.model);
    if (wireFormat === undefined) throw unknownModel(asked, 'embeds with Titan, Nova and Cohere');
    return translateEmbeddings(wireFormat).ask(asked);
  },
};

const amazonRerank: RerankWireFormat = {
  limits: { items: 1000 },
  own: [],
  isStrict: true,
  write: ({ query, documents, topN }) => ({ body: { query, documents, top_n: topN } }),
  read: (answer, call) => ({ ...readStandardRerank(answer, call), promptTokens: tokensIn(answer.headers) }),
};

const cohereRerank: RerankWireFormat = {
  ...amazonRerank,
  write: ({ query, documents, topN }) => ({ body: { api_version: 2, query, documents, top_n: topN } }),
};

const rerank: Translation = {
  limits: { items: 1000 },
  ask(asked): Conversation | Promise<Conversation> {
    if (asked.model.includes('cohere.rerank')) return translateRerank(cohereRerank).ask(asked);
    if (asked.model.includes('amazon.rerank')) return translateRerank(amazonRerank).ask(asked);
    throw unknownModel(asked, 'reranks with cohere.rerank and amazon.rerank');
  },
};

function unknownModel(asked: Asked, what: string) {
  return asked.refusal('model', `${what} models only, and tells whose a model is by its name`);
}

/** Makes a signer from the key: an API key of Bedrock is sent as it is; two or three parts with colons between them sign calls. */
function signer(secret: string, { region = '' }: Options): Signer | string {
  if (secret.includes(':')) return awsSigner(secret, { region, service: 'bedrock' });
  if (/^A(?:KIA|SIA)[A-Z0-9]{16}$/.test(secret)) return 'holds an access key ID alone; wanted: ID:SECRET_ACCESS_KEY';
  const headers = ['authorization', `Bearer ${secret}`];
  return () => headers;
}

export default defineFamily({
  id: 'bedrock',
  title: 'AWS Bedrock',
  environment: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID'],
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  versions: ['/openai/v1'],
  signer,
  options: {
    region: {
      description: 'The AWS region, such as `us-east-1`.',
      pattern: /^[a-z]{2,}(?:-[a-z0-9]+)+$/,
      required: true,
    },
  },
  errors: {
    // 408: the model took too long; 424: it failed.
    statuses: { 408: 504, 424: 502 },
    // The text of a 403 names the operator's account and user.
    withheld: [403],
  },
  chat: '/openai/v1/chat/completions',
  chatLacks: /(?:^|[./])(?:amazon|anthropic|meta)\./,
  chatFacts: 'open models such as `openai.gpt-oss-120b-1:0` (unverified); not Claude, Nova or Llama (unverified)',
  offers: {
    openai: {
      rerank: {
        path: '/model/{model}/invoke',
        translation: rerank,
        // Cohere documents the scale of its models; Amazon's is unknown.
        scores: { scale: (model) => (model.includes('cohere.rerank') ? 'sigmoid' : undefined) },
        facts: '`cohere.rerank` and `amazon.rerank` models, by InvokeModel; 1,000 documents a call (unverified)',
      },
      embeddings: {
        path: '/model/{model}/invoke',
        translation: embeddings,
        facts:
          'Titan, Nova and Cohere models, by InvokeModel and by their names; one input a call, Cohere 96; `dimensions` except for Titan v1 and Cohere v3; Nova truncates longer texts unless `truncationMode` is set; `api_key` is a Bedrock API key, or `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`',
      },
    },
  },
});
