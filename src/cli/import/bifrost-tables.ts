/** Bifrost's database (config.db, or PostgreSQL): put into the shape of its config.json. */

import { hash } from 'node:crypto';
import type { ForeignRow } from '../../store/foreign-tables.ts';
import type { Tables, Wanted } from './database.ts';

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

/** What is not there is as it is by default. */
const isTrue = (value: unknown): boolean => value === undefined || value === 1 || value === true;

function digestOf({ value, value_hash, encryption_status }: ForeignRow): unknown {
  return typeof value === 'string' && encryption_status !== 'encrypted' ? hash('sha256', value) : value_hash;
}

function read(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
