/** Lists built-in prices of well-known models at their vendors' own services, with the date of the vendors' public pages. Data only. */

/** Prices in US dollars, as text: for a million tokens, or for one search unit. */
export interface WrittenPrice {
  readonly input?: string;
  readonly cachedInput?: string;
  readonly output?: string;
  readonly searchUnit?: string;
}

export interface PriceList {
  readonly family: string;
  /** The maker's own hosts: other services with the same wire format have other prices. */
  readonly hosts: RegExp;
  readonly source: string;
  readonly asOf: string;
  /** Set where the prices were compared with the vendor's page on the day `asOf`; the other rows are written from memory. */
  readonly verified?: true;
  /** What the vendor's page says about the prices besides the numbers. */
  readonly note?: string;
  /** Prices by the upstream's name for the model. */
  readonly models: Readonly<Record<string, WrittenPrice>>;
}

const nothing: WrittenPrice = { input: '0' };
const search = (price: string): WrittenPrice => ({ searchUnit: price });
const input = (price: string): WrittenPrice => ({ input: price });

const openaiText = {
  'gpt-4o': { input: '2.50', cachedInput: '1.25', output: '10' },
  'gpt-4o-mini': { input: '0.15', cachedInput: '0.075', output: '0.60' },
  'gpt-4.1': { input: '2', cachedInput: '0.50', output: '8' },
  'gpt-4.1-mini': { input: '0.40', cachedInput: '0.10', output: '1.60' },
  'gpt-4.1-nano': { input: '0.10', cachedInput: '0.025', output: '0.40' },
} satisfies Record<string, WrittenPrice>;

const openaiEmbeddings = {
  'text-embedding-3-small': input('0.02'),
  'text-embedding-3-large': input('0.13'),
  'text-embedding-ada-002': input('0.10'),
};

export const priceTable: readonly PriceList[] = [
  {
    family: 'openai',
    hosts: /^(?:\w+\.)?api\.openai\.com$/,
    source: 'https://platform.openai.com/docs/pricing',
    asOf: '2025-11-01',
    models: {
      ...openaiEmbeddings,
      'gpt-3.5-turbo-instruct': { input: '1.50', output: '2' },
      'gpt-3.5-turbo-instruct-0914': { input: '1.50', output: '2' },
      'davinci-002': { input: '2', output: '2' },
      'babbage-002': { input: '0.40', output: '0.40' },
      'omni-moderation-latest': nothing,
      'omni-moderation-2024-09-26': nothing,
      'text-moderation-latest': nothing,
      'text-moderation-stable': nothing,
      ...openaiText,
    },
  },
  {
    family: 'azure',
    hosts: /\.(?:openai|cognitiveservices|services\.ai)\.azure\.com$/,
    source: 'https://azure.microsoft.com/pricing/details/cognitive-services/openai-service/',
    asOf: '2025-11-01',
    note: 'for global standard deployments that are named like their model',
    models: {
      ...openaiEmbeddings,
      'gpt-35-turbo-instruct': { input: '1.50', output: '2' },
      'gpt-3.5-turbo-instruct': { input: '1.50', output: '2' },
      ...openaiText,
    },
  },
  {
    family: 'cohere',
    hosts: /^api\.cohere\.(?:com|ai)$/,
    source: 'https://cohere.com/pricing',
    asOf: '2025-11-01',
    note: 'a search unit is one query with up to 100 documents',
    models: {
      'rerank-v3.5': search('0.002'),
      'rerank-english-v3.0': search('0.002'),
      'rerank-multilingual-v3.0': search('0.002'),
      'embed-v4.0': input('0.12'),
      'embed-english-v3.0': input('0.10'),
      'embed-english-light-v3.0': input('0.10'),
      'embed-multilingual-v3.0': input('0.10'),
      'embed-multilingual-light-v3.0': input('0.10'),
    },
  },
  {
    family: 'voyage',
    hosts: /^(?:api\.voyageai|ai\.mongodb)\.com$/,
    source: 'https://docs.voyageai.com/docs/pricing',
    asOf: '2026-05-01',
    note: 'free tokens of new accounts are not considered',
    models: {
      'voyage-4-large': input('0.12'),
      'voyage-4': input('0.06'),
      'voyage-4-lite': input('0.02'),
      'voyage-3-large': input('0.18'),
      'voyage-3.5': input('0.06'),
      'voyage-3.5-lite': input('0.02'),
      'voyage-3': input('0.06'),
      'voyage-3-lite': input('0.02'),
      'voyage-code-3': input('0.18'),
      'voyage-code-2': input('0.12'),
      'voyage-finance-2': input('0.12'),
      'voyage-law-2': input('0.12'),
      'voyage-multilingual-2': input('0.12'),
      'rerank-2.5': input('0.05'),
      'rerank-2.5-lite': input('0.02'),
      'rerank-2': input('0.05'),
      'rerank-2-lite': input('0.02'),
    },
  },
  {
    family: 'jina',
    hosts: /^api\.jina\.ai$/,
    source: 'https://jina.ai/api-dashboard/pricing',
    asOf: '2025-11-01',
    note: 'prices of the smaller prepaid package',
    models: {
      'jina-embeddings-v4': input('0.05'),
      'jina-embeddings-v3': input('0.05'),
      'jina-embeddings-v2-base-en': input('0.05'),
      'jina-embeddings-v2-base-code': input('0.05'),
      'jina-clip-v2': input('0.05'),
      'jina-reranker-m0': input('0.05'),
      'jina-reranker-v2-base-multilingual': input('0.05'),
    },
  },
  {
    family: 'mistral',
    hosts: /^api\.mistral\.ai$/,
    source: 'https://mistral.ai/pricing',
    asOf: '2025-11-01',
    models: {
      'mistral-embed': input('0.10'),
      'codestral-embed': input('0.15'),
      'codestral-embed-2505': input('0.15'),
      'mistral-moderation-latest': input('0.10'),
      'mistral-moderation-2411': input('0.10'),
      'codestral-latest': { input: '0.30', output: '0.90' },
      'mistral-small-latest': { input: '0.10', output: '0.30' },
    },
  },
  {
    family: 'gemini',
    hosts: /^generativelanguage\.googleapis\.com$/,
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    asOf: '2025-11-01',
    note: 'prices of the paid tier',
    models: { 'gemini-embedding-001': input('0.15') },
  },
  {
    family: 'vertex',
    hosts: /(?:^|-)aiplatform\.googleapis\.com$/,
    source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
    asOf: '2025-11-01',
    note: 'older models, which are priced by the character, are not listed',
    models: { 'gemini-embedding-001': input('0.15') },
  },
  {
    family: 'bedrock',
    hosts: /^bedrock-(?:agent-)?runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com$/,
    source: 'https://aws.amazon.com/bedrock/pricing/',
    asOf: '2025-11-01',
    note: 'on-demand prices in us-east-1; other regions differ',
    models: {
      'amazon.titan-embed-text-v1': input('0.10'),
      'amazon.titan-embed-text-v2:0': input('0.02'),
      'cohere.embed-english-v3': input('0.10'),
      'cohere.embed-multilingual-v3': input('0.10'),
      'cohere.embed-v4:0': input('0.12'),
      'cohere.rerank-v3-5:0': search('0.002'),
      'amazon.rerank-v1:0': search('0.001'),
      'amazon.nova-micro-v1:0': { input: '0.035', output: '0.14' },
      'amazon.nova-lite-v1:0': { input: '0.06', output: '0.24' },
      'amazon.nova-pro-v1:0': { input: '0.80', output: '3.20' },
    },
  },
  {
    family: 'pinecone',
    hosts: /^api\.pinecone\.io$/,
    source: 'https://www.pinecone.io/pricing/',
    asOf: '2025-11-01',
    models: {
      'multilingual-e5-large': input('0.08'),
      'llama-text-embed-v2': input('0.16'),
      'pinecone-rerank-v0': search('0.002'),
      'bge-reranker-v2-m3': search('0.002'),
      'cohere-rerank-3.5': search('0.002'),
    },
  },
  {
    family: 'together',
    hosts: /^api\.together\.(?:xyz|ai)$/,
    source: 'https://www.together.ai/pricing',
    asOf: '2025-11-01',
    models: {
      'BAAI/bge-base-en-v1.5': input('0.01'),
      'BAAI/bge-large-en-v1.5': input('0.02'),
      'intfloat/multilingual-e5-large-instruct': input('0.02'),
      'Salesforce/Llama-Rank-V1': input('0.10'),
    },
  },
  {
    family: 'deepseek',
    hosts: /^api\.deepseek\.com$/,
    source: 'https://api-docs.deepseek.com/quick_start/pricing',
    asOf: '2025-11-01',
    models: { 'deepseek-chat': { input: '0.28', cachedInput: '0.028', output: '0.42' } },
  },
];
