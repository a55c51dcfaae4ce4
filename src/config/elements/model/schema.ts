/** An element of `models`, key by key. */

import * as z from 'zod';
import { scoreScales } from '../../../core/scores.ts';
import { balances, cacheScopes, type Retry, retryScopes } from '../../../core/snapshot.ts';
import { tokenIdKinds } from '../../../core/translation.ts';
import { capsFields } from '../caps.ts';
import {
  duration,
  flag,
  fraction,
  is,
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

export const standardRetry: Retry = Object.freeze({ scope: 'safe', attempts: 5 });

const targetSchema = mapping({
  upstream: ownId().meta(is('The ID of the upstream.')),
  model: modelName()
    .optional()
    .meta(
      is("The upstream's name for the model; `*` in it stands for what the pattern matched.", {
        defaultText: "the model's ID",
      }),
    ),
  priority: wholeNumber(0, 1_000_000)
    .default(0)
    .meta(is('Lower is tried first; the others are there for when those fail.')),
  weight: wholeNumber(0, 1_000_000)
    .default(1)
    .meta(is('Its share of the calls among targets of the same priority. One with 0 is never called.')),
  unsupported: oneOf(['refuse', 'drop'])
    .optional()
    .meta(
      is('What becomes of a parameter that the upstream has no name for, where requests are translated for it.', {
        defaultText: '`refuse`, save for what can be done without, such as `dimensions` and `user`',
      }),
    ),
  defaults: z
    .record(z.string(), z.unknown(), { error: 'a mapping of parameters to values' })
    .default({})
    .meta(
      is(
        'Parameters that a request gains where the client sent none. With any, each request is translated that can be.',
        { kind: 'parameters to values' },
      ),
    ),
  token_ids: oneOf(tokenIdKinds)
    .default('decode')
    .meta(
      is(
        "What lists of token IDs are taken for, by upstreams that have a vocabulary of their own: text in the vocabulary that goes with the model's name (`decode`), in the one named, or the upstream's own IDs (`pass`).",
      ),
    ),
  scores: oneOf(scoreScales)
    .optional()
    .meta(
      is('What its scores are when it reranks: logits without bounds (`raw`), or between 0 and 1 (`sigmoid`).', {
        defaultText: 'what the family says, else unknown',
      }),
    ),
  max_items: wholeNumber(1, 1_000_000)
    .optional()
    .meta(
      is('Inputs or documents in one call, at most: a longer list is asked for in several.', {
        defaultText: 'what is known of the family',
      }),
    ),
  max_tokens: wholeNumber(1, 1_000_000_000)
    .optional()
    .meta(
      is('Their tokens in one call, at most: estimated, one for three bytes; a query counts with each document.', {
        defaultText: 'what is known of the family',
      }),
    ),
  max_bytes: size(1, 2 ** 30)
    .optional()
    .meta(
      is('Their bytes in one call, at most, as JSON.', {
        defaultText: 'what is known of the family',
      }),
    ),
  bridge: text('the name of a bridge')
    .optional()
    .meta(
      is('Serves other operations by way of chat: `chat` completions and edits, `guard` moderations.', {
        kind: '`chat` or `guard`',
      }),
    ),
  price: priceField('What this target costs.', "the model's `price`"),
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
          .meta(
            is(
              'What may be sent again though it may have arrived: embeddings, rerank and moderations (`safe`), or completions and edits too (`always`).',
            ),
          ),
        attempts: wholeNumber(1, 10)
          .default(standardRetry.attempts)
          .meta(is('Calls for one request, at most. A call of which no byte left does not count.')),
        same_target: wholeNumber(0, 9)
          .optional()
          .meta(
            is(
              'How often a target is asked again after an error that a pause may heal, before another target is asked: no byte was sent, 429, 500, 502, 503 or 529; with `always` also 504, silence and a broken connection.',
              { defaultText: '1 where no other target is left, for parts of lists and models with one target; else 0' },
            ),
          ),
      }).transform(
        ({ same_target, ...written }): Retry => ({
          ...written,
          ...(same_target !== undefined && { sameTarget: same_target }),
        }),
      ),
    ],
    { error: 'safe, always, or a mapping of scope, attempts and same_target' },
  )
  .prefault(standardRetry.scope)
  .meta(
    is('What happens after a failed call: whether another target is tried. `safe` and `always` alone set `scope`.', {
      kind: '`safe`, `always` or mapping',
    }),
  );

const hedge = mapping({
  after: z.union([duration(), z.literal('p95')], { error: 'a time with its unit, such as 200ms, or p95' }).meta(
    is('How long the first call may be without an answer; `p95`: as long as the slowest twentieth of calls takes.', {
      kind: 'time or `p95`',
    }),
  ),
})
  .optional()
  .meta(is('Sends a call that is slow to a second target; the first answer counts. Off by default.'));

export const modelSchema = mapping({
  id: modelName().meta(is('The name that clients use. One `*` makes it a pattern: `gpt-*`.')),
  aliases: list(modelName(), 'a list of names')
    .default([])
    .meta(is('Further names for the same model.', { kind: 'list of names' })),
  operations: operationList()
    .optional()
    .meta(is('What the model serves.', { kind: 'list of operations', defaultText: 'what the families offer' })),
  visible: flag()
    .default(true)
    .meta(is('Whether lists show it. A hidden model does not answer on the rerank and embeddings routes.')),
  space: modelName()
    .optional()
    .meta(is('The vector space of its embeddings, the same for every target.', { defaultText: "the target's model" })),
  scores: oneOf(scoreScales)
    .optional()
    .meta(
      is(
        'What the scores of every target are brought to when it reranks: logits (`raw`), or between 0 and 1 (`sigmoid`).',
        {
          defaultText: 'as they come, which must be one scale for all targets of which it is known',
        },
      ),
    ),
  accepts_messages: flag()
    .default(false)
    .meta(is("Whether vLLM's `messages` may stand in for `input` on the embeddings route.")),
  context: wholeNumber(1, 1_000_000_000)
    .optional()
    .meta(
      is(
        'How many tokens it can hold. A conversation with images, audio or files counts as much beforehand, and under a budget is refused without.',
      ),
    ),
  max_output: wholeNumber(1, 1_000_000_000)
    .optional()
    .meta(
      is(
        'How many tokens it writes at most, which bounds what a conversation can cost that sets no bound of its own.',
        {
          defaultText: '131072 where the request sets none',
        },
      ),
    ),
  max_tool_calls: wholeNumber(0, 10_000)
    .optional()
    .meta(
      is(
        'How many calls of tools its service makes by itself for one request at most, where the request sets no bound: under a budget a request that asks for such tools is refused without.',
      ),
    ),
  dimensions: wholeNumber(1, 1_000_000)
    .optional()
    .meta(
      is(
        'How many numbers its vectors have: told in the list of models. Without `matryoshka` it is their only width: another one that a client asks for by `dimensions` is left out of what is sent, and named in `x-postern-ignored`.',
      ),
    ),
  matryoshka: flag()
    .default(false)
    .meta(
      is(
        'It was trained so that the first numbers of its vectors are vectors by themselves (Matryoshka): what clients ask for by `dimensions` is cut here and brought to unit length, and no upstream is asked for it. Needs `dimensions`.',
      ),
    ),
  roles: mapping({
    query: prefix().meta(is('What is put before each text that is a query, such as `query: `.')),
    document: prefix().meta(is('What is put before each text that is a document, such as `passage: `.')),
  })
    .optional()
    .meta(
      is(
        'Prefixes by role, for embeddings of upstreams that know no roles. The role is what `input_type`, `task`, `task_type` or `prompt_name` says, else what an alias of the model ends in (`-query`, `-document`).',
        { kind: 'mapping' },
      ),
    ),
  max_audio: duration(1_000, 86_400_000)
    .optional()
    .meta(
      is(
        'The longest recording that it takes: what one counts beforehand that is billed by the minute, which under a budget is refused without.',
        {
          kind: 'time',
        },
      ),
    ),
  usage: oneOf(['pass', 'ask'])
    .default('pass')
    .meta(
      is(
        '`ask`: a stream of completions or chat whose client does not have it counted goes out with `stream_options.include_usage`, and the event with the count is kept from the client.',
      ),
    ),
  shape: shapeField(
    'The service that its clients were written for, whose rerank answers and errors they read, where neither the request nor the key says.',
  ),
  targets: list(targetSchema).min(1, { error: 'at least one' }).meta(is('Who serves it.')),
  balance: oneOf(balances)
    .default('weighted')
    .meta(
      is(
        'How calls are shared among targets of the same priority: by weight, to the one with the fewest calls under way, or to the one that answers fastest.',
      ),
    ),
  retry,
  hedge,
  price: priceField(
    'What each target costs that says nothing itself.',
    'what the [table of prices](prices.md#built-in-prices) says of it, else `unknown`',
  ),
  shadow: mapping({
    model: modelName().meta(is('The ID of the model that is asked as well.')),
    share: fraction().meta(is('The share of requests, from 0 to 1.')),
  })
    .optional()
    .meta(
      is(
        'Sends a copy of a share of its embeddings, rerank and moderations to another model, behind the answer, and keeps how much both agree.',
        { kind: 'mapping' },
      ),
    ),
  canary: mapping({
    texts: list(text('a text', /^[\s\S]{1,8192}$/), 'a list of texts')
      .min(1, { error: 'at least one text' })
      .max(32, { error: '32 texts at most' })
      .meta(is('What is embedded.', { kind: 'list of texts' })),
    every: duration(1_000, 604_800_000)
      .default(3_600_000)
      .meta(is('How often.', { kind: 'time' })),
  })
    .optional()
    .meta(
      is('Embeds fixed texts at each target from time to time, and tells when an upstream has changed its model.', {
        kind: 'mapping',
      }),
    ),
  metadata: notes,
  ...capsFields,
  cache: mapping({
    ttl: duration(1_000, 31_536_000_000)
      .default(86_400_000)
      .meta(is('How long an item is remembered.', { kind: 'time' })),
    scope: oneOf(cacheScopes)
      .default('project')
      .meta(
        is(
          'Who shares what is remembered: the keys of a project (a key without one is alone), or all keys (`shared`).',
        ),
      ),
    max: size(1024, 2 ** 40)
      .default(64 * 1024 ** 2)
      .meta(is('What a process holds of it, in memory; the item that was used longest ago goes first.')),
    limits: oneOf(['asked', 'all'])
      .default('asked')
      .meta(is('What counts for limits of tokens and items: what upstreams were asked for, or all that was answered.')),
  })
    .optional()
    .meta(
      is(
        'Remembers what was said of each item of embeddings, rerank and moderations, so that it is asked for once. Off by default.',
        { kind: 'mapping' },
      ),
    ),
  dedupe: flag()
    .default(false)
    .meta(
      is(
        'Whether equal items are asked for once, in one list and in lists that are asked for at the same time. Always so where a list is taken apart, or `cache` is set.',
      ),
    ),
  coalesce: mapping({
    window: duration(1, 1_000)
      .default(5)
      .meta(
        is('How long a small list waits for others; where nobody else is about to come, not at all.', { kind: 'time' }),
      ),
    max_items: wholeNumber(2, 100_000)
      .default(64)
      .meta(is('Items that go together at most. A list of more goes by itself.')),
  })
    .optional()
    .meta(
      is(
        'Joins small lists of embeddings, rerank and moderations that come at the same time, of whichever keys, into one call. Off by default.',
        { kind: 'mapping' },
      ),
    ),
});

export type TargetEntry = z.output<typeof modelSchema>['targets'][number];
export type ModelEntry = z.output<typeof modelSchema>;
