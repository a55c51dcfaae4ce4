/** Further parameters of a request: which are sent, refused, or dropped. */

import type { Asked } from '../../core/translation.ts';
import type { Json } from '../../lib/json/json-text.ts';

/** Optional parameters that do not change the meaning of a response, and can be dropped. Some clients always send them. */
export const hints: ReadonlySet<string> = new Set([
  // User, priority and logging.
  ...['user', 'safety_identifier', 'metadata', 'store', 'service_tier', 'priority'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'drop_params'],
  // The purpose of a text.
  ...['input_type', 'task', 'taskType', 'task_type', 'title', 'prompt_name', 'embeddingPurpose'],
  // Truncation of long texts.
  ...['truncate', 'truncation', 'truncation_direction', 'truncationMode', 'autoTruncate'],
  ...['max_tokens_per_doc', 'max_chunks_per_doc', 'max_tokens_per_query', 'overlap_tokens'],
]);

export interface ParameterRules {
  /** Further parameters that it supports under the client's name. */
  readonly own: readonly string[];
  /** Parameters that clients must not send, and why: another field has the same meaning here. */
  readonly cannot?: Readonly<Record<string, string | undefined>>;
  /** It refuses unknown parameters; without, they pass, except hints. */
  readonly isStrict?: boolean;
}

/** What is sent beside what the shared code handles. */
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
