/** Imports a Portkey config: all of its targets become those of a single model, because the config names no models. */

import { UserFault } from '../../core/user-fault.ts';
import type { Draft } from './draft.ts';
import type { Part } from './part.ts';
import { providerNamed } from './providers.ts';

/** The upstream's model name of a target that has none: the name that the client sends. */
const anyModel = '*';

interface Rank {
  readonly priority: number;
  readonly weight: number | undefined;
}

export function fromPortkey(file: Part, draft: Draft): void {
  draft.standardTimeouts = { timeoutMs: file.number('request_timeout') };
  if (!addConfig(file, draft, { priority: 0, weight: undefined })) {
    throw new UserFault('no provider is in it; a config of Portkey has `provider`, or `targets`');
  }
}

/** Adds a target, or the targets under a strategy; returns whether there was one. */
function addConfig(config: Part, draft: Draft, rank: Rank): boolean {
  if (!config.has('targets')) return addTarget(config, draft, rank);
  const strategy = config.part('strategy');
  const mode = strategy.text('mode') ?? 'single';
  const targets = config.parts('targets');
  if (!['single', 'fallback', 'loadbalance'].includes(mode)) {
    strategy.note('there is no such strategy here; failover is used', 'mode');
  }
  targets.forEach((target, index) => {
    const weight = target.number('weight');
    addConfig(
      target,
      draft,
      mode === 'loadbalance'
        ? { ...rank, weight: weight === undefined ? undefined : Math.round(weight * 100) }
        : { ...rank, priority: rank.priority + index },
    );
  });
  addRetry(config, draft);
  strategy.rest('is judged for each code by itself here (docs/guides/load-balancing.md)');
  config.pass('weight');
  config.rest();
  return targets.length > 0;
}

function addTarget(target: Part, draft: Draft, { priority, weight }: Rank): boolean {
  const named = target.text('provider') ?? target.text('virtual_key');
  if (named === undefined) return false;
  const provider = providerNamed(named.replace(/^@/, '').split('/')[0] ?? '');
  if (provider === undefined) {
    target.note(
      target.has('provider')
        ? `the provider ${named} has no family here: left out`
        : 'the provider of this virtual key is unknown: left out',
    );
    return true;
  }
  const timeoutMs = target.number('request_timeout');
  const isAzure = provider.family === 'azure';
  const resource = isAzure ? (target.text('azure_resource_name') ?? target.text('resource_name')) : undefined;
  const version = isAzure ? (target.text('azure_api_version') ?? target.text('api_version')) : undefined;
  const deployment = isAzure ? (target.text('azure_deployment_id') ?? target.text('deployment_id')) : undefined;
  const custom = target.address('custom_host');
  const overrides = target.part('override_params');
  const model = overrides.text('model');
  const aws = [target.text('aws_access_key_id'), target.text('aws_secret_access_key')] as const;
  const apiKey =
    provider.family === 'bedrock'
      ? `${draft.credential(aws[0], 'aws_access_key_id')}:${draft.credential(aws[1], 'aws_secret_access_key')}`
      : draft.credential(target.text('api_key'), provider.variable);
  const upstream = draft.upstream({
    provider,
    baseUrl: custom ?? (isAzure ? `https://${resource ?? 'RESOURCE'}.openai.azure.com` : undefined),
    credentials: [{ apiKey }],
    timeoutMs,
    options: {
      ...(version !== undefined && { api_version: version }),
      ...(provider.family === 'bedrock' && { region: target.text('aws_region') ?? 'us-east-1' }),
      ...(provider.family === 'vertex' && {
        project: target.text('vertex_project_id') ?? draft.value('$VERTEX_PROJECT') ?? '',
        location: target.text('vertex_region') ?? 'us-central1',
      }),
    },
  });
  const rest = overrides.keys().filter((name) => name !== 'model');
  draft.target(anyModel, {
    upstream,
    model: deployment ?? model ?? anyModel,
    priority: priority || undefined,
    weight,
    defaults: rest.length > 0 ? Object.fromEntries(rest.map((name) => [name, overrides.take(name)])) : undefined,
  });
  if (rest.length > 0)
    target.note('apply if the client sends none; there they replaced the values of the client', 'override_params');
  addRetry(target, draft);
  target.pass('weight');
  target.rest();
  return true;
}

function addRetry(config: Part, draft: Draft): void {
  const retry = config.part('retry');
  const attempts = retry.number('attempts');
  if (attempts !== undefined) draft.attemptAll(attempts + 1);
  retry.rest('is judged for each code by itself here (docs/guides/load-balancing.md)');
}
