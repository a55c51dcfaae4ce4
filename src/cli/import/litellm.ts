/** Imports LiteLLM's config.yaml: its list of models, and those router settings that Postern has too. */

import { operations as allOperations, type Operation, operationRows } from '../../core/operations/index.ts';
import type { Draft, NewTarget } from './draft.ts';
import { type Part, toId } from './part.ts';
import { type Provider, providerNamed, providerOfModel } from './providers.ts';

const operationsOf: Readonly<Record<string, readonly Operation[]>> = {
  chat: ['chat', 'messages'],
  completion: ['completions'],
  embedding: ['embeddings'],
  rerank: ['rerank'],
  moderation: ['moderations'],
  image_generation: ['images'],
  audio_transcription: ['transcriptions'],
  audio_speech: ['speech'],
};

const balances: Readonly<Record<string, string>> = {
  'simple-shuffle': 'weighted',
  'least-busy': 'least_busy',
  'latency-based-routing': 'fastest',
};

/** Parameters that may be the defaults of a target. */
const parameters = ['temperature', 'top_p', 'max_tokens', 'dimensions', 'encoding_format', 'input_type', 'seed'];

/** Hugging Face's servers of embeddings and rerankers, which LiteLLM calls by the name of the Hugging Face service. */
const textEmbeddings: Provider = { name: 'tei', family: 'tei', variable: 'TEI_API_KEY' };
const forVectors = new Set(['embedding', 'rerank']);

/** Words that people write as key of a server that needs none. */
const noKey = /^(none|null|empty|dummy|fake|anything|not-needed|no-key)$/i;

export function fromLitellm(file: Part, draft: Draft): void {
  // `GET /model/info` has another name for the list.
  const litellm = file.part('litellm_settings');
  const router = file.part('router_settings');
  const timeout = router.number('timeout') ?? litellm.number('request_timeout');
  const streamTimeout = router.number('stream_timeout') ?? litellm.number('stream_timeout');
  draft.standardTimeouts = { timeoutMs: toMs(timeout), idleMs: toMs(streamTimeout) };
  const list = file.has('model_list') ? 'model_list' : 'data';
  keepVariables(file.parts(list), draft);
  for (const entry of file.parts(list)) addEntry(entry, draft);
  for (const settings of [litellm, router]) addFallbacks(settings, draft);
  addAliases(router, draft);
  const strategy = router.text('routing_strategy');
  const balance = strategy === undefined ? undefined : balances[strategy];
  if (balance !== undefined && balance !== 'weighted') draft.balanceAll(balance);
  else if (strategy !== undefined && balance === undefined)
    router.note('there is no such load balancing here; by weight', 'routing_strategy');
  const retries = router.number('num_retries') ?? litellm.number('num_retries');
  if (retries !== undefined) draft.attemptAll(retries + 1);
  if (litellm.take('drop_params') === true) {
    litellm.note('is the default for optional parameters; for all, set targets[].unsupported: drop', 'drop_params');
  }
  litellm.pass('telemetry', 'set_verbose', 'num_retries', 'request_timeout', 'stream_timeout');
  litellm.rest();
  if (router.has('redis_host')) {
    const password = router.text('redis_password');
    const login = password === undefined ? '' : `:${draft.credential(password, 'redis_password')}@`;
    const host = draft.value(router.text('redis_host'));
    draft.redis = `redis://${login}${host}:${draft.value(router.text('redis_port')) ?? 6379}`;
  }
  router.rest();
  const general = file.part('general_settings');
  if (general.has('master_key')) addMasterKey(general, draft);
  for (const endpoint of general.parts('pass_through_endpoints')) addPassThrough(endpoint, draft);
  if (general.has('database_url'))
    general.note(
      'its keys, teams and models are read from there: postern import litellm postgres://...',
      'database_url',
    );
  general.rest();
  const variables = file.part('environment_variables');
  for (const name of variables.keys()) variables.note('set it in the environment of the process', name);
  file.rest();
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);

/** The shortest key that Postern accepts. */
const shortestKey = 24;

function addMasterKey(general: Part, draft: Draft): void {
  const secret = general.text('master_key') ?? '';
  draft.key('master', secret);
  if (secret.length >= shortestKey || secret.startsWith('os.environ/')) return;
  general.note(
    `is shorter than ${shortestKey} characters, the minimum here: set its variable to a new key, and give that to its clients`,
    'master_key',
  );
}

/** Reserves the variables of entries without a key, which use the environment's, so that no literal secret gets those names. */
export function keepVariables(entries: readonly Part[], draft: Draft): void {
  for (const entry of entries) {
    const given = entry.part('litellm_params');
    const written = given.text('model');
    if (written === undefined) continue;
    const [provider] = providerOf(written, given.text('custom_llm_provider'), given.has('api_base'));
    if (provider !== undefined && usesOwnVariable(given, provider)) draft.keepName(provider.variable);
  }
}

function usesOwnVariable(given: Part, { family }: Provider): boolean {
  if (family === 'bedrock') return false;
  return (
    !given.has(family === 'vertex' ? 'vertex_credentials' : 'api_key') &&
    !given.has('api_base') &&
    !given.has('base_url')
  );
}

export function addEntry(entry: Part, draft: Draft): void {
  const name = entry.text('model_name');
  const given = entry.part('litellm_params');
  const written = given.text('model');
  if (name === undefined || written === undefined) {
    entry.note('has no model_name, or no model: left out');
    return;
  }
  if (/^[^/]+\/$/.test(written)) {
    entry.note(`${written} names no model behind its provider: left out`);
    return;
  }
  const [provider, model] = providerOf(written, given.text('custom_llm_provider'), given.has('api_base'));
  if (provider === undefined) {
    entry.note(`the provider of ${written} has no family here: left out`);
    return;
  }
  const info = entry.part('model_info');
  const mode = info.text('mode');
  const isOwnServer = provider.family === 'huggingface' && given.has('api_base') && forVectors.has(mode ?? '');
  const target: NewTarget = {
    upstream: addUpstream(given, isOwnServer ? textEmbeddings : provider, draft),
    model,
    weight: given.number('weight'),
    priority: given.number('order'),
    price: priceOf(given, info),
    defaults: defaultsOf(given),
    from: written,
  };
  draft.target(name, target);
  if (mode !== undefined) draft.operations(name, operationsOf[mode] ?? []);
  else if (written.startsWith('text-completion-')) draft.operations(name, ['completions']);
  given.rest();
  info.pass('id', 'description', 'db_model');
  info.rest();
  entry.rest();
}

/** The provider of a model's name such as `provider/model`; else OpenAI, or a compatible server where the entry has `api_base`. */
function providerOf(
  written: string,
  named: string | undefined,
  hasAddress: boolean,
): readonly [Provider | undefined, string] {
  const [, first = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(written) ?? [];
  const found = providerNamed(named ?? first);
  if (found !== undefined) return [found, named === undefined || named === first ? rest || written : written];
  // A key of one service must not be sent to another for lack of a name.
  return [hasAddress ? providerNamed('openai') : providerOfModel(written), written];
}

function addUpstream(given: Part, provider: Provider, draft: Draft): string {
  const base = draft.value(given.address('api_base') ?? given.address('base_url'));
  const seconds = given.number('timeout') ?? given.number('request_timeout');
  const organization = draft.value(given.text('organization'));
  const bedrock = provider.family === 'bedrock';
  const vertex = provider.family === 'vertex';
  const key = given.text(vertex ? 'vertex_credentials' : 'api_key');
  const apiKey = bedrock
    ? `${draft.credential(given.text('aws_access_key_id'), 'aws_access_key_id')}:${draft.credential(given.text('aws_secret_access_key'), 'aws_secret_access_key')}`
    : base !== undefined && (key === undefined || noKey.test(key))
      ? undefined
      : key === undefined
        ? draft.variable(provider.variable)
        : draft.credential(key, provider.variable);
  const version = provider.family === 'azure' ? draft.value(given.text('api_version')) : undefined;
  return draft.upstream({
    provider,
    baseUrl: base,
    credentials: apiKey === undefined ? [] : [{ apiKey }],
    headers: organization === undefined ? undefined : { 'openai-organization': organization },
    timeoutMs: toMs(seconds),
    idleMs: toMs(given.number('stream_timeout')),
    concurrency: given.number('max_parallel_requests'),
    limits: { requests_per_minute: given.number('rpm'), tokens_per_minute: given.number('tpm') },
    options: {
      ...(version !== undefined && { api_version: version }),
      ...(bedrock && { region: draft.value(given.text('aws_region_name') ?? '$AWS_REGION') ?? '' }),
      ...(vertex && {
        project: draft.value(given.text('vertex_project') ?? '$VERTEX_PROJECT') ?? '',
        location: draft.value(given.text('vertex_location')) ?? 'us-central1',
      }),
    },
  });
}

/** A price: LiteLLM's per token, here per million. */
function priceOf(given: Part, info: Part): Record<string, number> | undefined {
  const price: Record<string, number> = {};
  for (const [here, there] of [
    ['input', 'input_cost_per_token'],
    ['output', 'output_cost_per_token'],
    ['cached_input', 'cache_read_input_token_cost'],
    ['cache_write', 'cache_creation_input_token_cost'],
  ] as const) {
    const cost = given.number(there) ?? info.number(there);
    if (cost !== undefined) price[here] = Number((cost * 1_000_000).toFixed(9));
  }
  return Object.keys(price).length > 0 ? price : undefined;
}

function defaultsOf(given: Part): Record<string, unknown> | undefined {
  const set = parameters.filter((name) => given.has(name)).map((name) => [name, given.take(name)]);
  return set.length > 0 ? Object.fromEntries(set) : undefined;
}

/** Adds the targets of fallback models to a model: `[{a: [b, c]}]` uses the targets of b and c where those of a fail. */
function addFallbacks(settings: Part, draft: Draft): void {
  for (const entry of settings.parts('fallbacks')) {
    for (const name of entry.keys()) {
      const others = entry.texts(name);
      if (!draft.hasModel(name)) entry.note('there is no such model: left out', name);
      else addAfter(entry, name, others, draft);
    }
  }
}

function addAfter(entry: Part, name: string, others: readonly string[], draft: Draft): void {
  for (const other of others) {
    if (!draft.hasModel(other)) {
      entry.note(`there is no model ${other}: left out`, name);
      continue;
    }
    const last = Math.max(0, ...draft.targetsOf(name).map(({ priority = 0 }) => priority));
    for (const target of [...draft.targetsOf(other)]) {
      draft.target(name, { ...target, model: target.model ?? other, priority: last + 1 + (target.priority ?? 0) });
    }
  }
}

/** Adds a pass-through endpoint: the end of its path becomes a custom route, the rest up to the version the upstream's address. */
function addPassThrough(endpoint: Part, draft: Draft): void {
  const path = endpoint.text('path') ?? '';
  const target = URL.parse(endpoint.address('target') ?? '');
  const known = allOperations.find((one) => one !== 'own' && operationRows[one].path === path);
  if (target === null || target.pathname === '/' || !pathRule.test(path) || !pathRule.test(target.pathname)) {
    endpoint.note('is no path that a route can have here: left out');
    return;
  }
  if (known !== undefined) {
    endpoint.note(
      `${path} is a path of Postern's own: give a model with operations: [${known}] a target at an upstream of ${target.host}; left out`,
    );
    return;
  }
  const [, base = '', to = ''] = /^(.*\/v\d+[a-z0-9]*)?(\/.+)$/i.exec(target.pathname) ?? [];
  const headers = endpoint.part('headers');
  const bearer = /^bearer (.+)$/i.exec(authorizationOf(headers) ?? '')?.[1];
  const own = toName(path);
  const upstream = draft.upstream({
    provider: { name: own, family: 'openai', variable: `${own}_key` },
    baseUrl: base === '' ? target.origin : `${target.origin}${base}`,
    credentials: bearer === undefined ? [] : [{ apiKey: draft.credential(bearer, `${own}_key`) }],
    headers: headersOf(headers, own, draft),
  });
  const cost = endpoint.number('cost_per_request');
  draft.target(own, { upstream, price: cost === undefined ? undefined : { request: cost } });
  draft.operations(own, ['own']);
  draft.route({ path, to, model: own });
  if (endpoint.flag('include_subpath'))
    endpoint.note('a route is one path here: paths below it are left out', 'include_subpath');
  endpoint.pass('forward_headers', 'auth', 'id');
  endpoint.rest();
}

const pathRule = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~:-]+)+$/;

const toName = (path: string): string => toId(path.replace(/^\/(?:v\d+\/)?/, '').replaceAll('/', '-')).toLowerCase();

const authorizationOf = (headers: Part): string | undefined => {
  const name = headers.keys().find((one) => one.toLowerCase() === 'authorization');
  return name === undefined ? undefined : headers.text(name);
};

/** The headers of an upstream; any of them may contain a credential. Headers about bodies are left to the client. */
function headersOf(headers: Part, own: string, draft: Draft): Record<string, string> | undefined {
  const kept = headers.keys().flatMap((name) => {
    const low = name.toLowerCase();
    const value = headers.text(name);
    if (value === undefined || low === 'content-type' || low === 'accept') return [];
    if (low === 'authorization' && /^bearer /i.test(value)) return [];
    return [[low, draft.credential(value, `${own}_${low}`)] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function addAliases(router: Part, draft: Draft): void {
  const aliases = router.part('model_group_alias');
  for (const alias of aliases.keys()) {
    const model = aliases.text(alias) ?? aliases.part(alias).text('model');
    if (model !== undefined && draft.hasModel(model)) draft.alias(model, alias);
    else aliases.note('there is no such model: left out', alias);
  }
}
