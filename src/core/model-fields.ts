/** Lists request fields and headers, besides the model field, that can name a model to an upstream; they are checked for every family. */

interface ModelField {
  /** A top-level field; in one that is a `container`, any nested name that looks like a model field counts. */
  readonly name: string;
  readonly isContainer?: true;
  /** The field names a model for a part of the work, such as a tool, and not the requested model. */
  readonly isBeside?: true;
  /** The services that read the field, and for what. */
  readonly readBy: string;
}

export const modelFields: readonly ModelField[] = [
  { name: 'models', readBy: 'OpenRouter, Vercel and other gateways: models to fall back to' },
  { name: 'fallbacks', readBy: 'LiteLLM: models to fall back to' },
  { name: 'context_window_fallbacks', readBy: 'LiteLLM: models for what is too long' },
  { name: 'content_policy_fallbacks', readBy: 'LiteLLM: models for what is refused' },
  { name: 'default_fallbacks', readBy: 'LiteLLM: models to fall back to' },
  { name: 'fallback_models', readBy: 'gateways: models to fall back to (unverified)' },
  { name: 'model_list', readBy: 'LiteLLM: models and where they are' },
  { name: 'deployment_id', readBy: 'LiteLLM: an Azure deployment in place of the model' },
  { name: 'preset', readBy: 'OpenRouter: a stored choice of models' },
  { name: 'model_id', readBy: 'gateways: another name of `model` (unverified)' },
  { name: 'modelId', readBy: 'gateways: another name of `model` (unverified)' },
  { name: 'model_name', readBy: 'gateways: another name of `model` (unverified)' },
  { name: 'safety_model', isBeside: true, readBy: 'Together AI: a model that moderates (unverified)' },
  { name: 'draft_model', isBeside: true, readBy: 'LM Studio: a model that drafts' },
  { name: 'adapter_id', readBy: 'Hugging Face TGI: a LoRA adapter' },
  { name: 'lora_path', readBy: 'SGLang: a LoRA adapter' },
  {
    name: 'tools',
    isContainer: true,
    isBeside: true,
    readBy: 'Anthropic (`advisor`), OpenAI (`image_generation`): the model of a tool',
  },
  { name: 'plugins', isContainer: true, isBeside: true, readBy: 'OpenRouter: models of plugins' },
  { name: 'guardrails', isContainer: true, isBeside: true, readBy: 'Mistral: a model that moderates' },
  { name: 'extra_body', isContainer: true, readBy: 'LiteLLM: fields that are merged into the request' },
  { name: 'user_config', isContainer: true, readBy: 'LiteLLM: models and where they are' },
  { name: 'litellm_params', isContainer: true, readBy: 'LiteLLM: models and where they are' },
  { name: 'providerOptions', isContainer: true, readBy: 'Vercel: `gateway.models`' },
  { name: 'provider_options', isContainer: true, readBy: 'Vercel: `gateway.models`' },
  { name: 'generationConfig', isContainer: true, readBy: 'Vertex AI: `routingConfig`' },
  { name: 'generation_config', isContainer: true, readBy: 'Vertex AI: `routing_config`' },
  { name: 'generateContentRequest', isContainer: true, readBy: 'Gemini: the request whose tokens are counted' },
  { name: 'generate_content_request', isContainer: true, readBy: 'Gemini: the request whose tokens are counted' },
  { name: 'parameters', isContainer: true, readBy: 'Hugging Face TGI: `adapter_id`' },
  { name: 'options', isContainer: true, readBy: 'services whose settings are in an object of their own (unverified)' },
];

/** Headers that name a model or choose what serves it, besides those with `model` in their name. They are never forwarded from clients. */
export const modelHeaders: readonly { readonly name: string; readonly readBy: string }[] = [
  { name: 'x-portkey-config', readBy: 'Portkey: targets and their models' },
  { name: 'x-portkey-provider', readBy: 'Portkey: whose model it is' },
  { name: 'x-portkey-virtual-key', readBy: 'Portkey: whose model it is' },
  { name: 'helicone-model-override', readBy: 'Helicone: the model that costs are counted for' },
  { name: 'helicone-target-url', readBy: 'Helicone: the service that is asked' },
  { name: 'helicone-openai-api-base', readBy: 'Helicone: the service that is asked' },
  { name: 'x-litellm-tags', readBy: 'LiteLLM: tags of the deployments that may serve it' },
  { name: 'azureml-model-deployment', readBy: 'Azure Machine Learning: a deployment of the endpoint' },
  { name: 'x-ms-oai-image-generation-deployment', readBy: 'Azure OpenAI: the model of the tool `image_generation`' },
  { name: 'x-amzn-sagemaker-target-variant', readBy: 'SageMaker: a variant, which may be another model' },
  { name: 'x-amzn-sagemaker-inference-component', readBy: 'SageMaker: a component, which is a model' },
  { name: 'x-goog-request-params', readBy: 'Google: resources, a model among them, for routing (unverified)' },
  { name: 'x-gateway-model-name-rewrite', readBy: 'inference gateways for Kubernetes (unverified)' },
];

const beside = new Set(modelFields.flatMap(({ name, isBeside }) => (isBeside ? [name] : [])));

export const isForPart = (param: string): boolean => beside.has(param.split(/[.[]/, 1)[0] ?? '');

/** Reduces a name to one spelling of those that a lenient reader accepts, such as `modelName` and `Model_Name`. */
const plain = (name: string): string =>
  name
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

const calledLikeModels =
  /(?:models?|models?(?:id|name)s?|modellist|fallbacks?|deployment(?:id|name)?|adapterid|lorapath|routingconfig)$/;

/** Whether a name inside a container, or of a query parameter, looks like a model field. */
export const isCalledLikeModel = (name: string): boolean => calledLikeModels.test(plain(name));

const headersForModels = new Set(modelHeaders.map(({ name }) => name));

export const isHeaderForModel = (name: string): boolean => headersForModels.has(name) || isCalledLikeModel(name);

/** Names of a client's own data inside a container: schemas, examples and contents, in which no service looks for a model. */
const dataNames = new Set([
  ...['parameters', 'parametersjsonschema', 'inputschema', 'outputschema', 'schema', 'jsonschema', 'responseschema'],
  ...['responsejsonschema', 'response', 'args', 'arguments', 'inputexamples', 'filters', 'headers', 'metadata'],
  ...['contents', 'messages', 'input', 'systeminstruction', 'instructions'],
]);

export const isDataName = (name: string): boolean => dataNames.has(plain(name));

const atTop = new Set(modelFields.flatMap(({ name, isContainer }) => (isContainer ? [] : [plain(name)])));
const containers = new Set(modelFields.flatMap(({ name, isContainer }) => (isContainer ? [plain(name)] : [])));

/** Whether a part of a form may name a model; such names nest with brackets or dots: `extra_body[model]`. */
export function isPartForModel(name: string): boolean {
  const [first = '', ...rest] = name.split(/[[\].]+/).filter((step) => step !== '');
  if (atTop.has(plain(first))) return true;
  return containers.has(plain(first)) && !rest.some(isDataName) && rest.some(isCalledLikeModel);
}
