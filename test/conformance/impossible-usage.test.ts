/** What an upstream counts is billed, save where it cannot be right; both figures are kept. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { RowWriter } from '../../src/accounting/row.ts';
import type { Exchange } from '../../src/core/exchange.ts';
import { startPair } from '../support/gateways/pair.ts';
import { settlementIn } from '../support/ledger/journal-lines.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const sentence = 'The quick brown fox jumps over the lazy dog and goes home to its den. ';
/** About 50 tokens. */
const text = sentence.repeat(3);

interface Case {
  readonly family?: string;
  readonly options?: object;
  readonly path?: string;
  readonly ask?: object;
  readonly usage?: object | undefined;
  readonly texts?: readonly string[];
  readonly stream?: boolean;
}

const whole = (texts: readonly string[], usage: object | undefined): object => ({
  choices: texts.map((one, index) => ({ text: one, index, finish_reason: 'stop' })),
  ...(usage && { usage }),
});

/** A word an event, the choices in turns. */
function events(texts: readonly string[], usage: object | undefined): string {
  const words = texts.flatMap((one, index) => (one.match(/\S+\s*/g) ?? []).map((word) => ({ text: word, index })));
  const parts = words.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  if (usage !== undefined) parts.push(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  return `${parts.join('')}data: [DONE]\n\n`;
}

async function settled(t: TestContext, one: Case): Promise<Exchange> {
  const { family = 'openai', options, path = '/v1/completions', ask = {}, texts = [], usage, stream = false } = one;
  const handler: Handler = (_request, reply) =>
    stream
      ? reply.bytes(200, [['Content-Type', 'text/event-stream']], events(texts, usage))
      : reply.json(200, whole(texts, usage));
  const pair = await startPair(t, handler, { upstream: { family, ...(options && { options }) } });
  await pair.rig.post(path, { model: 'm', prompt: 'p', max_tokens: 5_000, ...(stream && { stream }), ...ask });
  return await pair.rig.exchange();
}

const outputOf = ({ bill }: Exchange): [number | undefined, boolean | undefined] => [
  bill?.outputTokens,
  bill?.isEstimated,
];
const inputOf = ({ bill }: Exchange): [number | undefined, boolean | undefined] => [
  bill?.inputTokens,
  bill?.isEstimated,
];

for (const stream of [false, true]) {
  const how = stream ? 'in a stream' : 'in one piece';

  test(`reported usage with fewer tokens than the choices need is billed by an estimate, ${how}, and both are recorded`, async (t) => {
    const prompts = Array.from({ length: 20 }, () => text);
    const one = {
      stream,
      ask: { prompt: prompts, n: 3 },
      texts: Array.from({ length: 60 }, () => text),
      usage: { prompt_tokens: 48, completion_tokens: 50, total_tokens: 98 },
    };
    for (const family of ['openai', 'llamacpp']) {
      const exchange = await settled(t, { ...one, family });
      const { bill } = exchange;
      assert.equal(bill?.isEstimated, true);
      assert.ok(
        (bill?.outputTokens ?? 0) > 2_000 && (bill?.outputTokens ?? 0) < 4_000,
        `${family}: ${bill?.outputTokens}`,
      );
      if (family === 'llamacpp') assert.ok((bill?.inputTokens ?? 0) > 700, `${bill?.inputTokens}`);
      const { row } = settlementIn(new RowWriter('node').settlement(exchange, undefined, 1, undefined));
      assert.deepEqual([row.promptTokens, row.completionTokens], [48, 50]);
      assert.deepEqual([row.billedOutputTokens, row.isEstimated], [bill?.outputTokens, true]);
    }
  });

  test(`reported usage with fewer tokens than non-empty choices is billed by an estimate, ${how}`, async (t) => {
    const ask = { n: 4 };
    const usage = { prompt_tokens: 1, completion_tokens: 3 };
    const four = await settled(t, { stream, ask, usage, texts: ['a ', 'b ', 'c ', 'd '] });
    assert.deepEqual(outputOf(four), [stream ? 4 : 5, true]);
    // One of them is empty: three may be right.
    const three = await settled(t, { stream, ask, usage, texts: ['a ', 'b ', 'c ', ''] });
    assert.deepEqual(outputOf(three), [3, false]);
    const none = await settled(t, { stream, usage: { prompt_tokens: 1, completion_tokens: 0 }, texts: ['a b '] });
    assert.equal(none.bill?.isEstimated, true);
    const nothing = await settled(t, { stream, usage: { prompt_tokens: 1, completion_tokens: 0 }, texts: [''] });
    assert.deepEqual(outputOf(nothing), [0, false]);
  });

  test(`reported usage that is lower than the estimate, but possible, is billed as reported, ${how}`, async (t) => {
    for (const [completion, ask, texts] of [
      [20, {}, [text]],
      [1, {}, [text]],
      [90, { n: 3 }, [text, text, text]],
      [51, { n: 2 }, [text, 'a']],
      [60, { n: 2 }, [text, text]],
    ] as const) {
      const usage = { prompt_tokens: 1, completion_tokens: completion };
      assert.deepEqual(outputOf(await settled(t, { stream, ask, texts, usage })), [completion, false]);
    }
    const ask = { prompt: Array.from({ length: 20 }, () => text) };
    const usage = { prompt_tokens: 20, completion_tokens: 500 };
    assert.deepEqual(inputOf(await settled(t, { stream, ask, usage, texts: ['a'] })), [20, false]);
  });
}

test('reported embeddings usage with fewer tokens than inputs is billed by an estimate', async (t) => {
  const ask = { input: ['some words', 'and more', 'of them'] };
  const few = await settled(t, { path: '/v1/embeddings', ask, usage: { prompt_tokens: 2, total_tokens: 2 } });
  assert.equal(few.bill?.isEstimated, true);
  assert.ok((few.bill?.inputTokens ?? 0) >= 3);
  const enough = await settled(t, { path: '/v1/embeddings', ask, usage: { prompt_tokens: 3, total_tokens: 3 } });
  assert.deepEqual(inputOf(enough), [3, false]);
  // Empty texts have none.
  const empty = { input: ['', '', '', '', ''] };
  const zero = await settled(t, { path: '/v1/embeddings', ask: empty, usage: { prompt_tokens: 0, total_tokens: 0 } });
  assert.deepEqual(inputOf(zero), [0, false]);
});

test('a stream without usage is billed by its events, or by its text if events are not tokens', async (t) => {
  const words = sentence.repeat(7).match(/\S+/g)?.length;
  const byEvents = await settled(t, { stream: true, texts: [sentence.repeat(7)] });
  assert.deepEqual(outputOf(byEvents), [words, true]);
  const byText = await settled(t, { stream: true, family: 'vllm', texts: ['internationalisation '.repeat(40)] });
  const [tokens = 0] = outputOf(byText);
  assert.ok(tokens > 60 && tokens < 120, `${tokens}`);
  // So much text in an event is more than a token, whatever the upstream reports.
  const large = await settled(t, { stream: true, texts: [`${'internationalisation'.repeat(40)} `] });
  assert.ok((large.bill?.outputTokens ?? 0) > 60, `${large.bill?.outputTokens}`);
});

test('usage reported in characters is replaced by a token estimate, unless usage_unit: tokens is configured', async (t) => {
  const handler: Handler = (_request, reply) =>
    reply.json(200, {
      object: 'list',
      model: 'x',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 70, total_tokens: 70 },
    });
  for (const [options, billed, isEstimated] of [
    [{}, Math.ceil(sentence.length / 4), true],
    [{ usage_unit: 'tokens' }, 70, false],
  ] as const) {
    const pair = await startPair(t, handler, { upstream: { family: 'infinity', options } });
    await pair.rig.post('/v1/embeddings', { model: 'm', input: sentence });
    const exchange = await pair.rig.exchange();
    assert.deepEqual(inputOf(exchange), [billed, isEstimated]);
    assert.equal(exchange.usage?.promptTokens, 70);
  }
});

test('usage in characters is not shown to the client as tokens; the ledger row keeps it', async (t) => {
  const usage = { prompt_tokens: 70, total_tokens: 70 };
  const handler: Handler = ({ path }, reply) => {
    if (path === '/rerank')
      return reply.json(200, { results: [{ index: 0, relevance_score: 0.5 }], model: 'x', usage });
    if (path === '/classify')
      return reply.json(200, { data: [[{ label: 'violence', score: 0.5 }]], model: 'x', usage });
    return reply.json(200, { object: 'list', model: 'x', data: [{ index: 0, embedding: [1] }], usage });
  };
  const likely = Math.ceil(sentence.length / 4);
  const asks = [
    // A null has both translated.
    ['/v1/embeddings', { input: sentence, dimensions: null }, likely],
    ['/v1/rerank', { query: 'abcd', documents: [sentence], return_documents: null }, likely + 1],
    ['/v1/moderations', { input: sentence }, undefined],
  ] as const;
  for (const unit of ['characters', 'tokens'] as const) {
    const upstream = { family: 'infinity', options: { usage_unit: unit, labels: 'violence=violence' } };
    const pair = await startPair(t, handler, { upstream });
    for (const [index, [path, ask, estimate]] of asks.entries()) {
      const answer = await pair.rig.post(path, { model: 'm', ...ask });
      const response = JSON.parse(answer.body.toString());
      assert.equal(answer.header('x-postern-translated'), 'infinity', path);
      const isEstimated = unit === 'characters';
      const shown = isEstimated ? estimate : 70;
      assert.deepEqual(response.usage, shown && { prompt_tokens: shown, total_tokens: shown }, `${path}, ${unit}`);
      const marked = isEstimated && estimate !== undefined ? 'estimated' : undefined;
      assert.equal(answer.header('x-postern-usage'), marked, `${path}, ${unit}`);
      const { usage: kept, bill } = await pair.rig.exchange(index + 1);
      assert.deepEqual([kept?.promptTokens, bill?.isEstimated], [70, isEstimated], `${path}, ${unit}`);
    }
  }
});
