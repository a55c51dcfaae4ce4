/** Lists that end without an answer: what the upstream served of them is billed, to the token, and unread answers are estimated. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Exchange } from '../../src/core/exchange.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { type Rig, testKey } from '../support/gateways/rig.ts';
import { refusingWith, type Several, startSeveral } from '../support/gateways/several.ts';
import { patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler, UpstreamRequest } from '../support/upstreams/fake-upstream.ts';
import { embeds, inputsOf, ranks } from '../support/upstreams/list-service.ts';

const nanosPerToken = 1e8;
const price = { input: 100_000 };
const bad = 'x'.repeat(40);

/** An upstream that keeps books: tokens and search units of what it served, and what it refuses. */
function bookkeeper(refuse: Handler, serve: Handler = embeds) {
  const books = { calls: 0, tokens: 0 };
  const script: Handler = async (request, reply) => {
    if (textsOf(request).includes(bad)) return refuse(request, reply);
    await serve(request, reply);
    books.calls += 1;
    books.tokens += textsOf(request).join('').length;
  };
  return { books, script };
}

const textsOf = (request: UpstreamRequest): readonly string[] =>
  JSON.parse(request.body.toString()).documents ?? inputsOf(request);

const refused = refusingWith(400);
/** After a client's end was seen, and before the second is over for which the gateway waits then. */
const soon: Handler = async (request, reply) => {
  await reply.sleep(300);
  await embeds(request, reply);
};
const listOf = (length: number): string[] =>
  Array.from({ length }, (_, index) => `text ${String(index).padStart(3, '0')}`);

const start = (t: TestContext, script: Handler, key: object = {}, model: object = {}): Promise<Several> =>
  startSeveral(t, [script], {
    model: { operations: ['embeddings', 'rerank'], price, ...model },
    target: [{ max_items: 3 }],
    more: { keys: [{ id: 'test', secret: testKey, ...key }] },
  });

const keys = [
  { id: 'test', secret: testKey },
  ...['one', 'two', 'three'].map((id) => ({ id, secret: `secret-of-the-key-named-${id}` })),
];

const spentOf = async (rig: Rig, id: string): Promise<number | undefined> => {
  const [exchange] = rig.settled.filter(({ key }) => key?.id === id).slice(-1);
  return exchange?.bill?.costNanos ?? undefined;
};

const booked = ({ bill, outcome, usage }: Exchange) => ({
  outcome,
  tokens: bill?.inputTokens,
  cost: bill?.costNanos,
  items: bill?.items,
  calls: bill?.units?.calls,
  isEstimated: bill?.isEstimated,
  reported: usage?.promptTokens,
});

test('returns the error and bills the parts that were served when the last part is refused', async (t) => {
  const { books, script } = bookkeeper(refused);
  const { rig } = await start(t, script);
  const answer = await rig.post('/v1/embeddings', { model: 'm', input: [...listOf(30), bad] });
  assert.equal(answer.status, 400);
  assert.equal(books.calls, 10);
  assert.deepEqual(booked(await rig.exchange()), {
    outcome: 'error',
    tokens: books.tokens,
    cost: books.tokens * nanosPerToken,
    items: 30,
    calls: 10,
    isEstimated: false,
    reported: books.tokens,
  });
});

test('bills the search units of a rerank whose last part is refused', async (t) => {
  const { books, script } = bookkeeper(refused, ranks);
  const { rig } = await start(t, script, {}, { price: { search_unit: 1 } });
  const answer = await rig.post('/v1/rerank', { model: 'm', query: 'q', documents: [...listOf(30), bad] });
  assert.equal(answer.status, 400);
  assert.equal(books.calls, 10);
  const { bill } = await rig.exchange();
  assert.deepEqual([bill?.searchUnits, bill?.costNanos, bill?.isEstimated], [10, 10e9, false]);
});

test('refuses a list once failed lists before it have spent the budget', async (t) => {
  const { books, script } = bookkeeper(refused);
  const { rig } = await start(t, script, { budgets: [{ every: 'day', amount: '110' }] });
  const statuses: number[] = [];
  const input = [...listOf(60), bad];
  for (let asked = 0; asked < 5; asked += 1)
    statuses.push((await rig.post('/v1/embeddings', { model: 'm', input })).status);
  // Each costs $48 of the $110, and at most about $75 is reserved for it.
  assert.deepEqual(statuses, [400, 429, 429, 429, 429]);
  assert.equal(books.tokens, 480);
});

for (const [what, refuse, status] of [
  ['is refused', refused, 400],
  ['fails', refusingWith(500), 500],
  ['is reset', (_request, reply) => reply.reset(), 502],
  ['answers no JSON', (_request, reply) => reply.bytes(200, [['content-type', 'application/json']], 'oops'), 502],
] satisfies [string, Handler, number][]) {
  test(`waits for running parts when one ${what}, and bills their reported usage`, async (t) => {
    const { books, script } = bookkeeper(refuse, soon);
    const { rig, upstreams } = await start(t, script);
    const answer = await rig.post('/v1/embeddings', { model: 'm', input: [bad, ...listOf(600)] });
    assert.equal(answer.status, status, answer.body.toString());
    const { bill, outcome } = await rig.exchange();
    assert.equal(outcome, 'error');
    assert.ok(books.calls > 0);
    assert.deepEqual([bill?.inputTokens, bill?.isEstimated], [books.tokens, false]);
    // Of 201 parts, nothing was begun after the end.
    assert.ok((upstreams[0]?.requests.length ?? 0) < 100);
  });
}

test('bills a marked estimate for parts that do not answer soon after the list has failed', async (t) => {
  const { script } = bookkeeper(refused, (request, reply) =>
    inputsOf(request).includes('text 000') ? embeds(request, reply) : reply.stall(),
  );
  const { rig } = await start(t, script);
  const answer = await rig.post('/v1/embeddings', { model: 'm', input: [...listOf(9), 'a', 'b', bad] });
  assert.equal(answer.status, 400);
  const { bill } = await rig.exchange();
  assert.equal(bill?.isEstimated, true);
  assert.equal(bill?.items, 9);
  // 24 were counted; of the six items of 8 characters in JSON the estimate is a quarter of their bytes.
  assert.ok((bill?.inputTokens ?? 0) > 24 + 6, String(bill?.inputTokens));
});

test('bills served and running parts of a list when the client disconnects', async (t) => {
  const { books, script } = bookkeeper(refused, soon);
  const { rig, upstreams } = await start(t, script);
  const client = await connect(rig.port);
  await client.write(questionBytes(JSON.stringify({ model: 'm', input: listOf(60) })));
  await until(() => (upstreams[0]?.requests.length ?? 0) >= 12);
  client.destroy();
  const { bill, outcome } = await rig.exchange();
  // Of 61 parts; how many are sent before the end is seen is up to the machine.
  assert.ok(books.calls >= 8 && books.calls < 60, String(books.calls));
  assert.deepEqual(
    [outcome, bill?.inputTokens, bill?.isEstimated, bill?.units?.calls],
    ['aborted', books.tokens, false, books.calls],
  );
});

/** A second is the longest there is. */
const joining = { coalesce: { window: `${Math.min(1_000, patientMs(100))}ms`, max_items: 16 } };

async function startJoining(t: TestContext, script: Handler) {
  const setup = await startSeveral(t, [script], {
    model: { operations: ['embeddings'], price, ...joining },
    more: { keys },
  });
  const ask = (key: string, input: readonly string[]) =>
    setup.rig.post(
      '/v1/embeddings',
      { model: 'm', input },
      { headers: [['x-api-key', `secret-of-the-key-named-${key}`]] },
    );
  await ask('one', ['first']);
  return { ...setup, ask };
}

test('bills a client that leaves a combined call for its share', async (t) => {
  const { books, script } = bookkeeper(refused, soon);
  const { rig, upstreams, ask } = await startJoining(t, script);
  const before = books.tokens;
  const leaving = await connect(rig.port);
  await leaving.write(questionBytes(JSON.stringify({ model: 'm', input: listOf(4) })));
  const staying = ask('two', ['stays']);
  await until(() => upstreams[0]?.requests.length !== 1);
  leaving.destroy();
  assert.equal((await staying).status, 200);
  await rig.exchange(3);
  assert.equal(books.tokens - before, 32 + 5);
  const bills = rig.settled
    .slice(1)
    .map(({ key, outcome, bill }) => [key?.id, outcome, bill?.inputTokens, bill?.isEstimated]);
  assert.deepEqual(bills.toSorted(), [
    ['test', 'aborted', 32, false],
    ['two', 'ok', 5, false],
  ]);
  assert.equal(await spentOf(rig, 'test'), 32 * nanosPerToken);
});

test('bills each of several clients for its share when all leave, exactly or by a marked estimate', async (t) => {
  for (const [serve, isEstimated] of [
    [soon, false],
    [(_request, reply) => reply.stall(), true],
  ] satisfies [Handler, boolean][]) {
    let isFirst = true;
    const { script } = bookkeeper(refused, (request, reply) => {
      if (!isFirst) return serve(request, reply);
      isFirst = false;
      return embeds(request, reply);
    });
    const { rig, upstreams } = await startJoining(t, script);
    const both = await Promise.all([connect(rig.port), connect(rig.port)]);
    for (const [index, one] of both.entries()) {
      await one.write(
        questionBytes(JSON.stringify({ model: 'm', input: listOf(index + 1).map((text) => text + index) })),
      );
    }
    await until(() => upstreams[0]?.requests.length !== 1);
    assert.equal(inputsOf(upstreams[0]?.requests[1] as UpstreamRequest).length, 3);
    for (const one of both) one.destroy();
    await rig.exchange(3);
    const bills = rig.settled.slice(1).map(({ outcome, bill }) => ({ outcome, ...bill }));
    assert.deepEqual(bills.map(({ outcome, items, isEstimated: isMarked }) => [outcome, items, isMarked]).toSorted(), [
      ['aborted', 1, isEstimated],
      ['aborted', 2, isEstimated],
    ]);
    const tokens = bills.map(({ inputTokens = 0 }) => inputTokens).toSorted();
    if (isEstimated) assert.ok(tokens.every((count) => count > 0));
    else assert.deepEqual(tokens, [18, 9]);
  }
});

/** Prompts sent over chat, one per call. */
async function startPrompts(t: TestContext, refuse: Handler, delayMs: number) {
  const books = { calls: 0, input: 0, output: 0 };
  const script: Handler = async (request, reply) => {
    const { messages } = JSON.parse(request.body.toString());
    const prompt: string = messages.at(-1).content;
    if (prompt === bad) return refuse(request, reply);
    await reply.sleep(delayMs);
    books.calls += 1;
    books.input += prompt.length;
    books.output += 5;
    return reply.json(200, {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'said' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: prompt.length, completion_tokens: 5, total_tokens: prompt.length + 5 },
    });
  };
  const { rig } = await startSeveral(t, [script], {
    model: { operations: ['completions'], price: { input: 100, output: 1_000 } },
    target: [{ bridge: 'chat' }],
  });
  const ask = (prompt: readonly string[]) => rig.post('/v1/completions', { model: 'm', prompt, max_tokens: 9 });
  return { rig, books, ask };
}

const ofBadPrompt: Handler = (_request, reply) =>
  reply.json(400, { error: { message: 'prompt[0] is bad', type: 't', param: null, code: null } });

test('bills the served prompts over chat when one is refused, and names that one', async (t) => {
  for (const [prompts, delayMs] of [
    [[...listOf(20), bad], 0],
    [[bad, ...listOf(20)], 60],
  ] satisfies [string[], number][]) {
    const { rig, books, ask } = await startPrompts(t, ofBadPrompt, delayMs);
    const answer = await ask(prompts);
    assert.equal(answer.status, 400);
    assert.match(answer.body.toString(), new RegExp(`"message":"prompt\\[${prompts.indexOf(bad)}\\] is bad"`));
    const { bill } = await rig.exchange();
    assert.ok(books.calls > 0);
    assert.deepEqual(
      [bill?.inputTokens, bill?.outputTokens, bill?.costNanos, bill?.isEstimated],
      [books.input, books.output, books.input * 1e5 + books.output * 1e6, false],
    );
  }
});

test('bills an estimate for prompts whose calls do not answer soon after the end', async (t) => {
  const { rig, ask } = await startPrompts(t, ofBadPrompt, 60_000);
  assert.equal((await ask(['one prompt', 'another prompt', bad])).status, 400);
  const { bill } = await rig.exchange();
  assert.deepEqual([bill?.isEstimated, bill?.items, (bill?.inputTokens ?? 0) > 4], [true, 2, true]);
});

test('an error object with status 200 passes unchanged for a whole or a split list, and is not billed', async (t) => {
  const text = '{"error":{"message":"no room","code":503}}';
  const refuse: Handler = (_request, reply) => reply.bytes(200, [['content-type', 'application/json']], text);
  const settings = [{}, { cache: { ttl: '1h' } }, { coalesce: { window: '1ms', max_items: 8 } }];
  for (const model of settings) {
    for (const target of [[], [{ max_items: 1 }]]) {
      const { books, script } = bookkeeper(refuse);
      const { rig } = await startSeveral(t, [script], {
        model: { operations: ['embeddings'], price, ...model },
        target,
      });
      const answer = await rig.post('/v1/embeddings', { model: 'm', input: [bad, 'a'] });
      assert.equal(answer.status, 200);
      assert.equal(answer.body.toString(), text);
      const { bill, outcome } = await rig.exchange();
      assert.equal(outcome, 'error');
      assert.equal(bill?.costNanos ?? 0, books.tokens * nanosPerToken);
    }
  }
});
