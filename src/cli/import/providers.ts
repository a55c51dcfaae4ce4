/** Maps service names of other gateways to families, with default addresses. */

export interface Provider {
  /** The upstream's name. */
  readonly name: string;
  readonly family: string;
  /** For OpenAI-compatible services without a family of their own. */
  readonly baseUrl?: string;
  /** The variable that usually holds its key. */
  readonly variable: string;
}

const provider = (family: string, variable: string, name = family): Provider => ({ name, family, variable });
const alike = (name: string, baseUrl: string, variable: string): Provider => ({
  name,
  family: 'openai',
  baseUrl,
  variable,
});

const gemini = provider('gemini', 'GEMINI_API_KEY');
const vertex = provider('vertex', 'VERTEX_CREDENTIALS');
const azure = provider('azure', 'AZURE_API_KEY');
const bedrock = provider('bedrock', 'AWS_CREDENTIALS');
const mistral = provider('mistral', 'MISTRAL_API_KEY');
const together = provider('together', 'TOGETHER_API_KEY');
const fireworks = provider('fireworks', 'FIREWORKS_API_KEY');
const jina = provider('jina', 'JINA_API_KEY');
const nvidia = provider('nvidia', 'NVIDIA_API_KEY');
const ollama = provider('ollama', 'OLLAMA_API_KEY');
const perplexity = alike('perplexity', 'https://api.perplexity.ai', 'PERPLEXITY_API_KEY');
const cohere = provider('cohere', 'COHERE_API_KEY');
const vllm = provider('vllm', 'VLLM_API_KEY');

/** Their own names, and those of the table below. */
const providers: Readonly<Record<string, Provider>> = {
  openai: provider('openai', 'OPENAI_API_KEY'),
  'text-completion-openai': provider('openai', 'OPENAI_API_KEY'),
  azure,
  azure_text: azure,
  'azure-openai': azure,
  anthropic: provider('anthropic', 'ANTHROPIC_API_KEY'),
  cohere,
  cohere_chat: cohere,
  voyage: provider('voyage', 'VOYAGE_API_KEY'),
  mistral,
  'mistral-ai': mistral,
  codestral: mistral,
  together_ai: together,
  'together-ai': together,
  fireworks_ai: fireworks,
  'fireworks-ai': fireworks,
  fireworks,
  deepseek: provider('deepseek', 'DEEPSEEK_API_KEY'),
  gemini,
  google: gemini,
  vertex,
  vertex_ai: vertex,
  'vertex-ai': vertex,
  bedrock,
  huggingface: provider('huggingface', 'HUGGINGFACE_API_KEY'),
  jina,
  jina_ai: jina,
  nvidia,
  nvidia_nim: nvidia,
  ollama,
  ollama_chat: ollama,
  vllm,
  hosted_vllm: vllm,
  dashscope: provider('dashscope', 'DASHSCOPE_API_KEY'),
  siliconflow: provider('siliconflow', 'SILICONFLOW_API_KEY'),
  infinity: provider('infinity', 'INFINITY_API_KEY'),
  groq: alike('groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  openrouter: alike('openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  perplexity,
  'perplexity-ai': perplexity,
  xai: alike('xai', 'https://api.x.ai/v1', 'XAI_API_KEY'),
  'x-ai': alike('xai', 'https://api.x.ai/v1', 'XAI_API_KEY'),
  deepinfra: alike('deepinfra', 'https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  cerebras: alike('cerebras', 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  moonshot: alike('moonshot', 'https://api.moonshot.cn/v1', 'MOONSHOT_API_KEY'),
  nebius: alike('nebius', 'https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'),
  novita: alike('novita', 'https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  parasail: alike('parasail', 'https://api.parasail.io/v1', 'PARASAIL_API_KEY'),
};

export function providerNamed(name: string): Provider | undefined {
  const low = name.toLowerCase();
  return Object.hasOwn(providers, low) ? providers[low] : undefined;
}

/** Providers recognised by model names; with `api_base` other names belong to an OpenAI-compatible server. */
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
