/** Defines the schema of an element of `models`. */

import * as z from 'zod';
import { scoreScales } from '../../../core/scores.ts';
import { balances, cacheScopes, type Retry, retryScopes } from '../../../core/snapshot.ts';
import { tokenIdKinds } from '../../../core/translation.ts';
import { capsFields } from '../caps.ts';
import {
  duration,
  flag,
  fraction,
  laneField,
  list,
  mapping,
  modelName,
  notes,
  oneOf,
  operationList,
  ownId,
  shapeField,
  size,
  text,
  wholeNumber,
} from '../fields.ts';
import { priceField } from './prices.ts';

const standardRetry: Retry = Object.freeze({ scope: 'safe', attempts: 5, sameTarget: undefined });
export const standardBalance = 'weighted';

const targetSchema = mapping({
  upstream: ownId().describe('ID of the upstream.'),
  model: modelName()
    .optional()
    .describe("The upstream's model name; `*` is what the pattern matched.")
    .meta({ defaultText: "the model's ID" }),
  priority: wholeNumber(0, 1_000_000).default(0).describe('Lower is first; higher ones are fallbacks.'),
  weight: wholeNumber(0, 1_000_000)
    .default(1)
    .describe('Share of the calls among targets of the same priority. 0: never called.'),
  unsupported: oneOf(['refuse', 'drop'])
    .optional()
    .describe('What to do with parameters that the upstream does not have, in translated requests.')
    .meta({ defaultText: '`refuse`, except hints such as `dimensions` and `user`' }),
  defaults: z
    .record(z.string(), z.unknown(), { error: 'a mapping of parameters to values' })
    .default({})
    .describe('Parameters added if the client did not send them. The request is then translated if possible.')
    .meta({ kind: 'parameters to values' }),
  token_ids: oneOf(tokenIdKinds)
    .default('decode')
    .describe(
      "How token IDs are read for upstreams with their own vocabulary: in the vocabulary of the model's name (`decode`), in a named one, or unchanged (`pass`).",
    ),
  scores: oneOf(scoreScales)
    .optional()
    .describe('Scale of its rerank scores: logits (`raw`), or 0 to 1 (`sigmoid`).')
    .meta({ defaultText: 'what the family says, else unknown' }),
  max_items: wholeNumber(1, 1_000_000)
    .optional()
    .describe('Maximum of inputs or documents in a call; longer lists are split.')
    .meta({ defaultText: 'of the family' }),
  max_tokens: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe('Maximum of their tokens, estimated as bytes / 3; a query counts with each document.')
    .meta({ defaultText: 'of the family' }),
  max_bytes: size(1, 2 ** 30)
    .optional()
    .describe('Maximum of their bytes, as JSON.')
    .meta({ defaultText: 'of the family' }),
  bridge: text('the name of a bridge')
    .optional()
    .describe('Emulation over chat: `chat` for completions and edits, `guard` for moderations.')
    .meta({ kind: '`chat` or `guard`' }),
  price: priceField('Price of this target.', "the model's `price`"),
});

const prefix = () => text('a text of 1 to 1,000 characters', /^[\s\S]{1,1000}$/).optional();

const scope = () => oneOf(retryScopes);

const retry = z
  .union(
    [
      scope().transform((written): Retry => ({ ...standardRetry, scope: written })),
      mapping({
        scope: scope()
          .default(standardRetry.scope)
          .describe(
            'What may be repeated although it may have run: embeddings, rerank and moderations (`safe`), or also completions and edits (`always`).',
          ),
        attempts: wholeNumber(1, 10)
          .default(standardRetry.attempts)
          .describe('Maximum of calls per request. Calls of which nothing was sent do not count.'),
        same_target: wholeNumber(0, 9)
          .optional()
          .describe(
            'Retries of the same target before another: after unsent calls, 429, 500, 502, 503, 529; with `always` also 504, timeouts and broken connections.',
          )
          .meta({ defaultText: '1 for the only target of a model, else 0' }),
      }).transform(({ same_target: sameTarget, ...written }): Retry => ({ ...written, sameTarget })),
    ],
    { error: 'safe, always, or a mapping of scope, attempts and same_target' },
  )
  .prefault(standardRetry.scope)
  .describe('Retry policy. `safe` or `always` alone set `scope`.')
  .meta({ kind: '`safe`, `always` or mapping' });

const hedge = mapping({
  after: z
    .union([duration(), z.literal('p95')], { error: 'a time with its unit, such as 200ms, or p95' })
    .describe('Delay before the second call; `p95`: the 95th percentile of the target.')
    .meta({ kind: 'time or `p95`' }),
})
  .optional()
  .describe('Hedging: a slow call is also sent to a second target. Off by default.');

export const modelSchema = mapping({
  id: modelName().describe('Public name. One `*` makes it a pattern: `gpt-*`.'),
  aliases: list(modelName(), 'a list of names').default([]).describe('Further exact names.'),
  operations: operationList()
    .optional()
    .describe('Operations of the model.')
    .meta({ defaultText: 'what the families offer' }),
  visible: flag()
    .default(true)
    .describe('Whether lists show the model. On rerank and embeddings, hidden models behave like unknown ones.'),
  space: modelName()
    .optional()
    .describe('Vector space of its embeddings, the same for every target.')
    .meta({ defaultText: "the target's model" }),
  scores: oneOf(scoreScales)
    .optional()
    .describe('Scale that rerank scores are converted to: logits (`raw`), or 0 to 1 (`sigmoid`).')
    .meta({ defaultText: 'unchanged; known scales must agree' }),
  accepts_messages: flag().default(false).describe('Whether `messages` may replace `input` on embeddings (vLLM).'),
  context: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe(
      'Context length in tokens. It is reserved as the worst case of requests with images, audio or files, so a budget requires it.',
    ),
  max_output: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe('Maximum of output tokens. The worst case of requests that set none.')
    .meta({ defaultText: '131072 where the request sets none' }),
  max_tool_calls: wholeNumber(0, 10_000)
    .optional()
    .describe(
      'Maximum of tool calls that the service runs for one request, if the request sets none; a budget requires it.',
    ),
  dimensions: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Width of its vectors. Without `matryoshka` the only one: other requested `dimensions` are dropped and named in `x-postern-ignored`.',
    ),
  matryoshka: flag()
    .default(false)
    .describe(
      'Matryoshka model: vectors are cut here to the requested `dimensions` and normalised. Needs `dimensions`.',
    ),
  roles: mapping({
    query: prefix().describe('Prefix of queries, such as `query: `.'),
    document: prefix().describe('Prefix of documents, such as `passage: `.'),
  })
    .optional()
    .describe(
      'Prefixes by role, for embeddings of upstreams without roles. The role is `input_type`, `task`, `task_type` or `prompt_name`, else the end of the alias (`-query`, `-document`).',
    )
    .meta({ kind: 'mapping' }),
  max_audio: duration(1_000, 86_400_000)
    .optional()
    .describe('Longest recording, reserved as the worst case if billed by the minute. A budget requires it.'),
  usage: oneOf(['pass', 'ask'])
    .default('pass')
    .describe(
      '`ask`: streams are sent with `stream_options.include_usage`; the extra event is kept from clients that did not ask.',
    ),
  slo: mapping({
    interactive: mapping({
      p95: duration(1, 600_000)
        .optional()
        .describe('Time to the first byte, wait included. Bulk makes room so that 95% of calls are faster.'),
    })
      .prefault({})
      .describe('Of interactive requests.'),
  })
    .optional()
    .describe('Promised latency.'),
  pace: duration(10, 3_600_000)
    .optional()
    .describe('How long its calls may wait for rate limits, in place of `upstreams[].pace`.')
    .meta({ defaultText: 'as the upstream says' }),
  lane: laneField('Lane of its calls at a busy upstream: `interactive` goes before `bulk`.'),
  shape: shapeField('Shape of rerank responses and errors, if neither request nor key says it.'),
  targets: list(targetSchema).min(1, { error: 'at least one' }).describe('Targets that serve it.'),
  balance: oneOf(balances)
    .default(standardBalance)
    .describe('Load balancing among targets of the same priority: by weight, fewest calls in flight, or fastest.'),
  retry,
  hedge,
  price: priceField(
    'Price of each target without its own `price`.',
    '[built-in price](prices.md#built-in-prices), else `unknown`',
  ),
  shadow: mapping({
    model: modelName().describe('ID of the other model.'),
    share: fraction().describe('Share of requests, 0 to 1.'),
  })
    .optional()
    .describe('Shadow traffic: copies a share of its embeddings, rerank and moderations to another model and compares.')
    .meta({ kind: 'mapping' }),
  canary: mapping({
    texts: list(text('a text', /^[\s\S]{1,8192}$/), 'a list of texts')
      .min(1, { error: 'at least one text' })
      .max(32, { error: '32 texts at most' })
      .describe('The texts.'),
    every: duration(1_000, 604_800_000).prefault('1h').describe('Interval.'),
  })
    .optional()
    .describe('Canary texts: embedded regularly at each target, to detect a changed model.')
    .meta({ kind: 'mapping' }),
  metadata: notes,
  ...capsFields,
  cache: mapping({
    ttl: duration(1_000, 31_536_000_000).prefault('24h').describe('Lifetime of an item.'),
    scope: oneOf(cacheScopes)
      .default('project')
      .describe('Which keys share items: those of a project (a key without one: none), or all (`shared`).'),
    max: size(1024, 2 ** 40)
      .prefault('64MiB')
      .describe('Memory per process; least recently used items go first.'),
    limits: oneOf(['asked', 'all'])
      .default('asked')
      .describe('What token and item limits count: what was sent upstream, or all.'),
  })
    .optional()
    .describe('Cache of items of embeddings, rerank and moderations. Off by default.')
    .meta({ kind: 'mapping' }),
  dedupe: flag()
    .default(false)
    .describe(
      'Whether equal items are sent once, also across simultaneous lists. Always on for split lists and with `cache`.',
    ),
  coalesce: mapping({
    window: duration(1, 1_000).prefault('5ms').describe('How long a small list waits for others.'),
    max_items: wholeNumber(2, 100_000).default(64).describe('Maximum of items that are joined.'),
  })
    .optional()
    .describe('Joins small simultaneous lists of embeddings, rerank and moderations into one call. Off by default.')
    .meta({ kind: 'mapping' }),
});

export type TargetEntry = z.output<typeof modelSchema>['targets'][number];
export type ModelEntry = z.output<typeof modelSchema>;
