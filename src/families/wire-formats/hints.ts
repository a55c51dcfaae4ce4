/** Hints: optional parameters that do not change the meaning of a response, and can be dropped. Some clients always send them. */

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
