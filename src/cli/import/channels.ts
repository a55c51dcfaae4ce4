/** Imports channels of one-api and new-api from their admin API or an export. The two number their types of channels differently. */

import { hash } from 'node:crypto';
import { UserFault } from '../../core/user-fault.ts';
import { nanosPerDollar } from '../../lib/money.ts';
import type { Wanted } from './database.ts';
import type { Draft } from './draft.ts';
import { type Part, toId } from './part.ts';
import { type Provider, providerNamed, withVersion } from './providers.ts';

export const channelTables: Wanted = { needed: ['channels', 'tokens'], more: [] };

const isEnabled = 1;
const never = -1;
/** What clients of these gateways send in front of the stored key. */
const prefix = 'sk-';
/** How many units of quota one dollar is by default, in both gateways (QuotaPerUnit). */
const quotaOfDollar = 500_000;

const tokenRecords = [
  'id',
  'user_id',
  'created_time',
  'accessed_time',
  'used_quota',
  'group',
  'cross_group_retry',
  'billing_type',
];

export function fromChannelTables(tables: Part, draft: Draft, types: Readonly<Record<number, string>>): void {
  for (const token of tables.parts('tokens')) addToken(token, draft);
  fromChannels(tables, draft, types);
}

function addToken(token: Part, draft: Draft): void {
  const name = token.text('name') ?? `token ${token.text('id') ?? ''}`;
  const secret = token.text('key');
  const expiredS = token.number('expired_time') ?? never;
  const isLimited = !token.flag('unlimited_quota');
  const quota = token.number('remain_quota') ?? 0;
  const listed = token.flag('model_limits_enabled');
  const models = [...(listed ? token.texts('model_limits') : []), ...token.texts('models')];
  const addresses = (token.text('allow_ips') ?? token.text('subnet') ?? '').split(/[\s,]+/).filter(Boolean);
  token.pass(...tokenRecords, 'model_limits', 'subnet');
  const why = whyNot(token, expiredS, isLimited && quota <= 0);
  if (secret === undefined || why !== undefined) {
    token.note(`"${name}" ${why ?? 'has no key'}: left out`);
    return;
  }
  draft.keyByDigest(toId(name), hash('sha256', secret.startsWith(prefix) ? secret : prefix + secret), {
    models: models.length > 0 ? models : undefined,
    addresses: addresses.length > 0 ? addresses : undefined,
    expires: expiredS === never ? undefined : new Date(expiredS * 1000).toISOString(),
    budgets: isLimited
      ? [{ every: 'total', amount: Math.round((quota / quotaOfDollar) * nanosPerDollar) / nanosPerDollar }]
      : undefined,
  });
  token.rest();
}

function whyNot(token: Part, expiredS: number, isSpent: boolean): string | undefined {
  if (token.has('deleted_at')) return 'is deleted';
  if ((token.number('status') ?? isEnabled) !== isEnabled) return 'is switched off';
  if (expiredS !== never && expiredS * 1000 <= Date.now()) return 'has expired';
  return isSpent ? 'has nothing left to spend' : undefined;
}

/** Types of channels with the same number in both gateways. */
const shared: Readonly<Record<number, string>> = {
  1: 'openai',
  3: 'azure',
  8: 'openai',
  14: 'anthropic',
  17: 'dashscope',
  20: 'openrouter',
  24: 'gemini',
  25: 'moonshot',
};

export const channelTypes = {
  'one-api': {
    ...shared,
    28: 'mistral',
    29: 'groq',
    30: 'ollama',
    33: 'bedrock',
    35: 'cohere',
    36: 'deepseek',
    39: 'together_ai',
    41: 'novita',
  },
  'new-api': {
    ...shared,
    4: 'ollama',
    27: 'perplexity',
    33: 'bedrock',
    34: 'cohere',
    38: 'jina',
    40: 'siliconflow',
    41: 'vertex',
    42: 'mistral',
    43: 'deepseek',
    48: 'xai',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>;
/** The route at the end of an address, which these gateways accept and Postern does not. */
const routeAtEnd = /(?:\/(?:chat\/completions|completions|embeddings|responses|messages|rerank|moderations))?\/*$/;
/** Fields that only record facts of a channel, and need not be imported. */
const records = [
  'id',
  'created_time',
  'test_time',
  'response_time',
  'balance',
  'balance_updated_time',
  'used_quota',
  'status_reason',
  'test_model',
  'other_info',
  'channel_info',
  'remark',
  'group',
  'tag',
];

export function fromChannels(file: Part, draft: Draft, types: Readonly<Record<number, string>>): void {
  const channels = findChannels(file);
  if (channels.length === 0) throw new UserFault('it has no list of channels: export them with GET /api/channel/');
  const highest = Math.max(...channels.map((channel) => channel.number('priority') ?? 0));
  for (const channel of channels) addChannel(channel, draft, types, highest);
  file.pass('success', 'message', 'total', 'page', 'page_size');
  file.rest();
}

function findChannels(file: Part): Part[] {
  for (const key of ['channels', 'data', 'items']) {
    const list = file.has(key) ? file.parts(key) : [];
    if (list.length > 0) return list;
  }
  return file.has('data') ? findChannels(file.part('data')) : [];
}

function addChannel(channel: Part, draft: Draft, types: Readonly<Record<number, string>>, highest: number): void {
  const type = channel.number('type');
  const provider = providerNamed((type === undefined ? undefined : types[type]) ?? '');
  const name = channel.text('name') ?? `channel ${channel.text('id') ?? ''}`;
  if (provider === undefined) {
    channel.note(`the type ${type} of "${name}" has no family here: left out`);
    return;
  }
  if ((channel.number('status') ?? isEnabled) !== isEnabled) {
    channel.note(`"${name}" is switched off: left out`);
    return;
  }
  const upstream = addUpstream(channel, provider, draft, name);
  const mapping = channel.part('model_mapping');
  for (const model of channel.texts('models')) {
    draft.target(model, {
      upstream,
      model: mapping.text(model) ?? model,
      weight: channel.number('weight') || undefined,
      // Higher goes first there, lower here.
      priority: highest - (channel.number('priority') ?? 0) || undefined,
    });
  }
  const groups = channel.texts('group').filter((group) => group !== 'default');
  if (groups.length > 0) channel.note('channels have no groups here; set models on the keys of a group', 'group');
  channel.pass(...records);
  channel.rest();
}

function addUpstream(channel: Part, provider: Provider, draft: Draft, name: string): string {
  const keys = channel.text('key')?.split(/\s*\n\s*/) ?? [];
  const base = channel.address('base_url')?.replace(routeAtEnd, '');
  const own = `${name}_key`;
  const credentials = (keys.length === 0 ? [undefined] : keys).map((key) => ({
    apiKey: provider.family === 'bedrock' ? awsKey(key, own, draft) : draft.credential(key, own),
  }));
  const region = provider.family === 'bedrock' ? (keys[0]?.split('|')[2] ?? 'us-east-1') : undefined;
  if (keys.length === 0) channel.note('exported lists omit the key: set its environment variable');
  const version = provider.family === 'azure' ? channel.text('other') : undefined;
  return draft.upstream({
    provider,
    baseUrl: withVersion(provider, base),
    credentials,
    options: {
      ...(version !== undefined && { api_version: version }),
      ...(region !== undefined && { region }),
      ...(provider.family === 'vertex' && { project: draft.value('$VERTEX_PROJECT') ?? '', location: 'us-central1' }),
    },
  });
}

/** An AWS key, which these gateways write as `ID|secret|region`. */
function awsKey(key: string | undefined, own: string, draft: Draft): string {
  const [id, secret] = key?.split('|') ?? [];
  return `${draft.credential(id, `${own}_id`)}:${draft.credential(secret, `${own}_secret`)}`;
}
