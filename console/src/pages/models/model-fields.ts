/** Describes form fields of a model and its targets: names, list handling, and limits. */

import { asItIs, type FieldRow, type FormField } from '../../parts/forms/documents.ts';
import { laneField, shapeField } from '../../parts/words/operations.ts';

const scales = [
  { value: 'sigmoid', label: 'Between 0 and 1 (sigmoid)' },
  { value: 'raw', label: 'Logits, without bounds (raw)' },
];

/** Form fields for calls: balance, retries, hedging, vector space, scale of scores, and usage. */
export const callingFields: readonly FieldRow[] = [
  {
    path: 'balance',
    label: 'Balance',
    placeholder: 'By weight',
    choices: [
      { value: 'weighted', label: 'By weight' },
      { value: 'least_busy', label: 'To the one with the fewest calls in flight' },
      { value: 'fastest', label: 'To the one that answers fastest' },
    ],
  },
  {
    grid: [
      {
        path: 'retry.scope',
        label: 'Send again what may have arrived',
        placeholder: 'Embeddings, rerank and moderations',
        choices: [
          { value: 'safe', label: 'Embeddings, rerank and moderations' },
          { value: 'always', label: 'Everything, completions and edits too' },
        ],
        faultAt: 'retry',
      },
      { path: 'retry.attempts', kind: 'number', label: 'Calls for one request, at most', placeholder: '5', max: 10 },
      {
        path: 'retry.same_target',
        kind: 'number',
        label: 'Retries at the same target',
        description:
          'Before another target is asked. Empty: once, where no other is left, for parts of lists and models with one target.',
        min: 0,
        max: 9,
      },
    ],
  },
  {
    path: 'hedge.after',
    label: 'A second call after',
    description: 'Where the first is slow: a time such as 200ms, or p95. Empty: never.',
    faultAt: 'hedge',
  },
  {
    path: 'space',
    label: 'Vector space',
    description: "Of its embeddings, the same for every target. Empty: the target's model.",
  },
  {
    path: 'scores',
    label: 'Rerank scores',
    description: 'What the scores of every target are brought to.',
    placeholder: 'As they come',
    choices: scales,
  },
  {
    ...shapeField,
    path: 'shape',
    description: 'Whose rerank answers and errors they read, where neither the request nor the key says.',
  },
  { ...laneField, path: 'lane' },
  {
    path: 'pace',
    label: 'Pace',
    description: 'How long a call may wait for a rate limit of an upstream, such as 30s. Empty: as the upstream says.',
  },
  {
    path: 'slo.interactive.p95',
    label: 'Promised p95 of interactive requests',
    description: 'To the first byte, such as 150ms. Bulk requests get only what keeps interactive ones under it.',
    faultAt: 'slo',
  },
  {
    path: 'accepts_messages',
    kind: 'check',
    label: 'Takes messages in place of input on the embeddings route, as vLLM does',
  },
  {
    path: 'usage',
    kind: 'check',
    ticked: 'ask',
    label: 'Has streams of completions counted whose clients do not ask for a count',
    description: 'By stream_options.include_usage; the client does not see the event with the count.',
  },
];

/** Form fields for lists: cache of items, coalesced calls, comparison and canaries. */
export const listFields: readonly FieldRow[] = [
  {
    path: 'cache.on',
    kind: 'check',
    label: 'Remembers what was said of each item',
    description: 'Of embeddings, rerank and moderations: what is known is asked of nobody, and costs nothing.',
    faultAt: 'cache',
  },
  {
    shownBy: 'cache.on',
    grid: [
      { path: 'cache.ttl', label: 'For how long', placeholder: '24h' },
      { path: 'cache.max', label: 'Held by a process, at most', placeholder: '64MiB' },
      {
        path: 'cache.scope',
        label: 'Shared by',
        placeholder: 'The keys of a project',
        choices: [
          { value: 'project', label: 'The keys of a project' },
          { value: 'shared', label: 'All keys' },
        ],
      },
      {
        path: 'cache.limits',
        label: 'Limits count',
        placeholder: 'What upstreams were asked for',
        choices: [
          { value: 'asked', label: 'What upstreams were asked for' },
          { value: 'all', label: 'All that was answered' },
        ],
      },
    ],
  },
  {
    path: 'dedupe',
    kind: 'check',
    label: 'Asks for equal items once',
    description: 'Always so where a list is taken apart, or items are remembered.',
  },
  {
    path: 'coalesce.on',
    kind: 'check',
    label: 'Joins small requests into one call',
    description: 'Those that come at the same time wait for each other a little.',
    faultAt: 'coalesce',
  },
  {
    shownBy: 'coalesce.on',
    grid: [
      { path: 'coalesce.window', label: 'They wait', placeholder: '5ms' },
      { path: 'coalesce.max_items', kind: 'number', label: 'Items in a call, at most' },
    ],
  },
  {
    grid: [
      {
        path: 'shadow.model',
        label: 'Ask another model as well',
        description: 'Behind the answer, to see how much both agree. Empty: none.',
        faultAt: 'shadow',
      },
      {
        path: 'shadow.share',
        kind: 'number',
        label: 'For this share of requests',
        description: 'From 0 to 1.',
        min: 0,
        max: 1,
        step: 0.01,
      },
      {
        path: 'canary.texts',
        kind: 'tags',
        label: 'Texts to watch it by',
        description: 'Embedded regularly: an alert opens when the vectors change. Press Enter after each.',
        splitChars: [],
        faultAt: 'canary',
      },
      { path: 'canary.every', label: 'How often', description: 'A time such as 1h.', placeholder: '1h' },
    ],
  },
];

/** Form fields for known sizes of a model, from which worst cases and refusals are computed. */
export const sizeFields: readonly FieldRow[] = [
  {
    grid: [
      { path: 'context', kind: 'number', label: 'Tokens it can hold' },
      { path: 'max_output', kind: 'number', label: 'Tokens it writes, at most' },
      { path: 'max_tool_calls', kind: 'number', label: 'Calls of tools it makes, at most' },
      { path: 'dimensions', kind: 'number', label: 'Numbers in a vector' },
      { path: 'max_audio', label: 'Sound it takes, at most', description: 'A time such as 10m.' },
    ],
  },
  {
    grid: [
      // A prefix may end in white space.
      { path: 'roles.query', label: 'Prefix of queries', write: asItIs },
      { path: 'roles.document', label: 'Prefix of documents', write: asItIs },
    ],
  },
  {
    path: 'matryoshka',
    kind: 'check',
    label: 'Vectors may be cut short',
    description: 'Where a request wants fewer dimensions: they are cut and brought to length 1 here.',
  },
];

/** Form fields of a target, shown under "More". */
export const targetFields: readonly FormField[] = [
  {
    path: 'bridge',
    label: 'Bridge',
    placeholder: 'None',
    choices: [
      { value: 'chat', label: 'Completions and edits by way of chat' },
      { value: 'guard', label: 'Moderations by way of a guard model' },
    ],
  },
  {
    path: 'unsupported',
    label: 'Parameters it has no name for',
    placeholder: 'As they can be done without',
    choices: [
      { value: 'refuse', label: 'Refuse the request' },
      { value: 'drop', label: 'Leave it out' },
    ],
  },
  { path: 'scores', label: 'Its rerank scores are', placeholder: 'What its family says', choices: scales },
  { path: 'max_items', kind: 'number', label: 'Items in a call, at most', placeholder: 'As its family takes' },
  { path: 'max_tokens', kind: 'number', label: 'Tokens in a call, at most', placeholder: 'As its family takes' },
  { path: 'max_bytes', label: 'Size of a call, at most', placeholder: 'Such as 1MiB' },
];
