/** Imports Bifrost's config.json: providers with keys, and virtual keys. */

import { hash } from 'node:crypto';
import type { ForeignRow } from '../../store/foreign-tables.ts';
import type { Tables, Wanted } from './database.ts';
import type { Draft } from './draft.ts';
import { budgetOf, filled, type Part, type Terms } from './part.ts';
import { type Provider, providerNamed, withVersion } from './providers.ts';

export function fromBifrost(file: Part, draft: Draft): void {
  const providers = file.part('providers');
  for (const name of providers.keys()) {
    const part = providers.part(name);
    const provider = providerNamed(part.part('custom_provider_config').text('base_provider_type') ?? name);
    if (provider === undefined) providers.note('has no family here: left out', name);
    else addProvider(name, part, provider, draft);
  }
  const governance = file.part('governance');
  const caps = { budgets: governance.parts('budgets'), rates: governance.parts('rate_limits') };
  for (const key of governance.parts('virtual_keys')) addKey(key, caps, draft);
  for (const cap of [...caps.budgets, ...caps.rates]) cap.rest();
  governance.rest();
  file.pass('$schema');
  file.rest();
}

function addProvider(name: string, part: Part, provider: Provider, draft: Draft): void {
  const network = part.part('network_config');
  const seconds = network.number('default_request_timeout_in_seconds');
  const concurrency = part.part('concurrency_and_buffer_size');
  const calls = concurrency.number('concurrency');
  const base = withVersion(provider, draft.value(network.address('base_url')));
  const named = new Set<string>();
  const keys = part.parts('keys');
  if (keys.length === 0) part.note('has no keys, and so no models: left out');
  for (const key of keys) {
    if (key.take('enabled') === false) {
      key.note(`"${key.text('name') ?? 'key'}" is switched off: left out`);
      continue;
    }
    const own = readOwn(key, provider, draft);
    const isOpen = key.take('value') === '' && (own.baseUrl ?? base) !== undefined;
    const apiKey = own.apiKey ?? (isOpen ? undefined : draft.credential(key.text('value'), provider.variable));
    const upstream = draft.upstream({
      provider,
      baseUrl: own.baseUrl ?? base,
      credentials: apiKey === undefined ? [] : [{ apiKey }],
      options: own.options,
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
      concurrency: calls,
    });
    const listed = key.texts('models');
    const models = listed.length === 0 ? ['*'] : listed;
    for (const model of models) {
      if (model !== '*') named.add(model);
      // There clients put the provider in front of the model.
      draft.target(`${name}/${model}`, { upstream, model: own.deployments[model] ?? model, weight: weightOf(key) });
    }
    key.pass('id', 'name', 'value');
    key.rest();
  }
  // A key for all models also serves those that another key names.
  const ofAll = [...draft.targetsOf(`${name}/*`)];
  for (const model of named) for (const target of ofAll) draft.target(`${name}/${model}`, { ...target, model });
  concurrency.rest();
  network.rest();
  part.rest();
}

interface OwnKey {
  readonly apiKey?: string;
  readonly baseUrl?: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly deployments: Readonly<Record<string, string>>;
}

/** Reads the settings of a key besides its secret. */
function readOwn(key: Part, { family }: Provider, draft: Draft): OwnKey {
  const deployments: Record<string, string> = {};
  if (family === 'azure') {
    const azure = key.part('azure_key_config');
    const named = azure.part('deployments');
    for (const model of named.keys()) deployments[model] = named.text(model) ?? model;
    const version = draft.value(azure.text('api_version'));
    const baseUrl = draft.value(azure.address('endpoint'));
    azure.rest();
    return { baseUrl, options: version === undefined ? {} : { api_version: version }, deployments };
  }
  if (family === 'bedrock') {
    const aws = key.part('bedrock_key_config');
    const [id, secret] = [aws.text('access_key'), aws.text('secret_key')];
    const apiKey = `${draft.credential(id, 'aws_access_key_id')}:${draft.credential(secret, 'aws_secret_access_key')}`;
    const region = draft.value(aws.text('region')) ?? 'us-east-1';
    aws.rest();
    return { apiKey, options: { region }, deployments };
  }
  if (family === 'vertex') {
    const google = key.part('vertex_key_config');
    const apiKey = draft.credential(google.text('auth_credentials'), 'vertex_credentials');
    const project = draft.value(google.text('project_id') ?? '$VERTEX_PROJECT') ?? '';
    const location = draft.value(google.text('region')) ?? 'us-central1';
    google.rest();
    return { apiKey, options: { project, location }, deployments };
  }
  const server = family === 'vllm' || family === 'ollama' ? key.part(`${family}_key_config`) : undefined;
  return { baseUrl: draft.value(server?.address('url')), options: {}, deployments };
}

/** A key's weight: Bifrost has fractions, Postern has whole numbers. */
function weightOf(key: Part): number | undefined {
  const weight = key.number('weight') ?? 1;
  return weight === 1 ? undefined : Math.round(weight * 100);
}

/** The budgets and rate limits of the whole file, to which keys refer. */
type Caps = Readonly<Record<'budgets' | 'rates', readonly Part[]>>;

function addKey(key: Part, caps: Caps, draft: Draft): void {
  const id = key.text('name') ?? key.text('id') ?? 'key';
  if (key.take('is_active') === false) {
    key.note(`"${id}" is switched off: left out`);
    return;
  }
  const models = key.parts('provider_configs').flatMap((config) => {
    const provider = config.text('provider') ?? '';
    config.pass('weight');
    if (config.has('key_ids')) config.note('clients cannot choose the credential here', 'key_ids');
    const allowed = config.texts('allowed_models');
    config.rest();
    return (allowed.length === 0 ? ['*'] : allowed).map((model) => `${provider}/${model}`);
  });
  const digest = key.text('value_hash');
  const terms = { models: models.length > 0 ? models : undefined, ...capsOf(key, caps) };
  if (digest === undefined) draft.key(id, key.text('value'), terms);
  else draft.keyByDigest(id, digest, terms);
  key.pass('id', 'description', 'team_id', 'customer_id');
  key.rest();
}

const [minute, day] = [/^(1m|60s)$/, /^(1d|24h)$/];

function capsOf(key: Part, caps: Caps): Pick<Terms, 'limits' | 'budgets'> {
  const [rateId, budgetId] = [key.text('rate_limit_id'), key.text('budget_id')];
  const rate = caps.rates.find((one) => one.text('id') === rateId) ?? key.part('rate_limit');
  const most = (what: 'request' | 'token', window: RegExp): number | undefined =>
    window.test(rate.text(`${what}_reset_duration`) ?? '') ? rate.number(`${what}_max_limit`) : undefined;
  const limits = filled({
    requests_per_minute: most('request', minute),
    requests_per_day: most('request', day),
    tokens_per_minute: most('token', minute),
    tokens_per_day: most('token', day),
  });
  for (const what of ['request', 'token']) {
    const duration = rate.text(`${what}_reset_duration`);
    if (duration !== undefined && !minute.test(duration) && !day.test(duration))
      rate.note(`there is no limit of ${duration} here; a minute or a day`, `${what}_reset_duration`);
  }
  const own = [...caps.budgets.filter((one) => one.text('id') === budgetId), ...key.parts('budgets')];
  const budgets = own.flatMap((budget) => budgetOf(budget, 'max_limit', 'reset_duration') ?? []);
  return { ...(limits && { limits }), ...(budgets.length > 0 && { budgets }) };
}

const providers = 'config_providers';
const keys = 'config_keys';
const virtualKeys = 'governance_virtual_keys';
const allowed = 'governance_virtual_key_provider_configs';
const budgets = 'governance_budgets';
const rates = 'governance_rate_limits';

export const bifrostTables: Wanted = { needed: [providers, keys], more: [virtualKeys, allowed, budgets, rates] };

export function toBifrostConfig(tables: Tables): Readonly<Record<string, unknown>> {
  const rowsOf = (name: string): readonly ForeignRow[] => tables[name] ?? [];
  return {
    providers: Object.fromEntries(
      rowsOf(providers).map((provider) => [
        String(provider.name),
        {
          network_config: read(provider.network_config_json),
          concurrency_and_buffer_size: read(provider.concurrency_buffer_json),
          custom_provider_config: read(provider.custom_provider_config_json),
          keys: rowsOf(keys)
            .filter((key) => key.provider_id === provider.id)
            .map(toKey),
        },
      ]),
    ),
    governance: {
      virtual_keys: rowsOf(virtualKeys).map((key) => ({
        name: key.name,
        is_active: isTrue(key.is_active),
        value_hash: digestOf(key),
        provider_configs: rowsOf(allowed)
          .filter((config) => config.virtual_key_id === key.id)
          .map((config) => ({ provider: config.provider, allowed_models: read(config.allowed_models) })),
        budgets: rowsOf(budgets).filter(({ id, virtual_key_id }) => virtual_key_id === key.id || id === key.budget_id),
        rate_limit: rowsOf(rates).find(({ id }) => id === key.rate_limit_id),
      })),
    },
  };
}

function toKey(key: ForeignRow) {
  const isOpen = key.encryption_status !== 'encrypted';
  const own = (name: string): unknown => (isOpen ? key[name] : undefined);
  return {
    name: key.name,
    enabled: isTrue(key.enabled),
    value: own('value'),
    models: read(key.models_json),
    weight: key.weight,
    azure_key_config: {
      endpoint: own('azure_endpoint'),
      api_version: own('azure_api_version'),
      deployments: read(key.aliases_json) ?? read(key.azure_deployments_json),
    },
    bedrock_key_config: {
      access_key: own('bedrock_access_key'),
      secret_key: own('bedrock_secret_key'),
      region: own('bedrock_region'),
    },
    vertex_key_config: {
      project_id: own('vertex_project_id'),
      region: own('vertex_region'),
      auth_credentials: own('vertex_auth_credentials'),
    },
    vllm_key_config: { url: own('vllm_url') },
    ollama_key_config: { url: own('ollama_url') },
  };
}

/** Reads a switch that is on where it is absent. */
const isTrue = (value: unknown): boolean => value === undefined || value === 1 || value === true;

function digestOf({ value, value_hash, encryption_status }: ForeignRow): unknown {
  return typeof value === 'string' && encryption_status !== 'encrypted' ? hash('sha256', value) : value_hash;
}

const read = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);
