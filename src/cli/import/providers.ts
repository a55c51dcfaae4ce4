/** Maps other gateways' names of services to families, with their default addresses. */

export interface Provider {
  readonly name: string;
  readonly family: string;
  /** The address of an OpenAI-compatible service without a family of its own. */
  readonly baseUrl?: string;
  /** The environment variable that usually holds the service's key. */
  readonly variable: string;
}

/** The services, one in each row. A service's family has the same name, or is OpenAI's where the row has an address. */
const rows: readonly (readonly [name: string, calledThere: string, variable: string, baseUrl?: string])[] = [
  ['openai', 'openai text-completion-openai', 'OPENAI_API_KEY'],
  ['azure', 'azure azure_text azure-openai', 'AZURE_API_KEY'],
  ['anthropic', 'anthropic', 'ANTHROPIC_API_KEY'],
  ['cohere', 'cohere cohere_chat', 'COHERE_API_KEY'],
  ['voyage', 'voyage', 'VOYAGE_API_KEY'],
  ['mistral', 'mistral mistral-ai codestral', 'MISTRAL_API_KEY'],
  ['together', 'together_ai together-ai', 'TOGETHER_API_KEY'],
  ['fireworks', 'fireworks fireworks_ai fireworks-ai', 'FIREWORKS_API_KEY'],
  ['deepseek', 'deepseek', 'DEEPSEEK_API_KEY'],
  ['gemini', 'gemini google', 'GEMINI_API_KEY'],
  ['vertex', 'vertex vertex_ai vertex-ai', 'VERTEX_CREDENTIALS'],
  ['bedrock', 'bedrock', 'AWS_CREDENTIALS'],
  ['huggingface', 'huggingface', 'HUGGINGFACE_API_KEY'],
  ['jina', 'jina jina_ai', 'JINA_API_KEY'],
  ['nvidia', 'nvidia nvidia_nim', 'NVIDIA_API_KEY'],
  ['ollama', 'ollama ollama_chat', 'OLLAMA_API_KEY'],
  ['vllm', 'vllm hosted_vllm', 'VLLM_API_KEY'],
  ['dashscope', 'dashscope', 'DASHSCOPE_API_KEY'],
  ['siliconflow', 'siliconflow', 'SILICONFLOW_API_KEY'],
  ['infinity', 'infinity', 'INFINITY_API_KEY'],
  ['groq', 'groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1'],
  ['openrouter', 'openrouter', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1'],
  ['perplexity', 'perplexity perplexity-ai', 'PERPLEXITY_API_KEY', 'https://api.perplexity.ai'],
  ['xai', 'xai x-ai', 'XAI_API_KEY', 'https://api.x.ai/v1'],
  ['deepinfra', 'deepinfra', 'DEEPINFRA_API_KEY', 'https://api.deepinfra.com/v1/openai'],
  ['cerebras', 'cerebras', 'CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1'],
  ['moonshot', 'moonshot', 'MOONSHOT_API_KEY', 'https://api.moonshot.cn/v1'],
  ['nebius', 'nebius', 'NEBIUS_API_KEY', 'https://api.studio.nebius.ai/v1'],
  ['novita', 'novita', 'NOVITA_API_KEY', 'https://api.novita.ai/v3/openai'],
  ['parasail', 'parasail', 'PARASAIL_API_KEY', 'https://api.parasail.io/v1'],
];

const providers = new Map(
  rows.flatMap(([name, calledThere, variable, baseUrl]) => {
    const provider: Provider =
      baseUrl === undefined ? { name, family: name, variable } : { name, family: 'openai', baseUrl, variable };
    return calledThere.split(' ').map((one) => [one, provider]);
  }),
);

export const providerNamed = (name: string): Provider | undefined => providers.get(name.toLowerCase());

/** The address with `/v1`, for a gateway that appends `/v1/...` itself: in Postern an address of family openai has the version. */
export function withVersion({ family, name }: Provider, base: string | undefined): string | undefined {
  const isWhole = base === undefined || family !== 'openai' || name === 'perplexity' || /\/v\d+(\/|$)|^\$/.test(base);
  return isWhole ? base : `${base.replace(/\/+$/, '')}/v1`;
}

/** Providers by the names of their models; a model with `api_base` and another name is on an OpenAI-compatible server. */
const byModel: readonly (readonly [names: RegExp, provider: string])[] = [
  [
    /^(gpt-|chatgpt-|o[1-9](-|$)|text-embedding-(3|ada)|davinci|babbage|whisper|tts-|dall-e|omni-|text-moderation|ft:)/,
    'openai',
  ],
  [/^claude-/, 'anthropic'],
  [/^(command|embed-|rerank-)/, 'cohere'],
  [/^(gemini-|text-embedding-00|text-multilingual-embedding|textembedding-gecko)/, 'vertex'],
  [/^(mistral-|codestral-|ministral-|open-mi)/, 'mistral'],
  [/^deepseek-/, 'deepseek'],
];

export function providerOfModel(model: string): Provider | undefined {
  return providerNamed(byModel.find(([names]) => names.test(model))?.[1] ?? '');
}
