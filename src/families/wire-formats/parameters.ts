/** Decides which further parameters of a request are sent to the upstream, refused, or dropped. */

import type { Asked } from '../../core/translation.ts';
import type { Json } from '../../lib/json/json-text.ts';

/** Parameters that do not change the meaning of a response and can be dropped; some clients always send them. */
export const hints: ReadonlySet<string> = new Set([
  ...['user', 'safety_identifier', 'metadata', 'store', 'service_tier', 'priority'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'drop_params'],
  ...['input_type', 'task', 'taskType', 'task_type', 'title', 'prompt_name', 'embeddingPurpose'],
  ...['truncate', 'truncation', 'truncation_direction', 'truncationMode', 'autoTruncate'],
  ...['max_tokens_per_doc', 'max_chunks_per_doc', 'max_tokens_per_query', 'overlap_tokens'],
]);

export interface ParameterRules {
  /** Further parameters that the upstream supports under the client's name. */
  readonly own: readonly string[];
  /** Parameters that clients must not send, and why: the gateway sets another field with the same meaning. */
  readonly cannot?: Readonly<Record<string, string | undefined>>;
  /** The upstream refuses unknown parameters; without this they pass, except hints. */
  readonly isStrict?: boolean;
}

export function furtherOf(
  asked: Asked,
  { own, cannot = {}, isStrict = false }: ParameterRules,
  isHandled: (name: string, value: Json) => boolean,
): Record<string, Json> {
  const more: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(asked.body)) {
    if (value === undefined || isHandled(name, value)) continue;
    if (own.includes(name)) more[name] = value;
    else if (Object.hasOwn(cannot, name)) asked.cannot(name, cannot[name]);
    else if (hints.has(name)) asked.canDoWithout(name);
    else if (isStrict) asked.cannot(name);
    else more[name] = value;
  }
  return more;
}
