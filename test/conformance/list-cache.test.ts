/** Results for an item are cached, for clients that may share them, and billed once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testKey } from '../support/gateways/rig.ts';
import { startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeddingsOf, embeds, inputsOf, json, ranks } from '../support/upstreams/list-service.ts';

const remembering = { operations: ['embeddings'], cache: { ttl: '1h' }, price: { input: 100_000 } };

test('cached items are answered without a call, in the same bytes, and free', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model: remembering });
  const ask = (input: readonly string[] | string) => rig.post('/v1/embeddings', { model: 'm', input });
  const first = await ask(['a', 'bb']);
  assert.deepEqual([first.header('x-postern-cache'), first.header('x-postern-calls')], ['miss', '1']);
  const again = await ask(['bb', 'a', 'bb']);
  assert.deepEqual([again.header('x-postern-cache'), again.header('x-postern-calls')], ['hit', '0']);
  assert.equal(again.header('x-postern-space'), 'm');
  assert.equal(again.header('content-type'), first.header('content-type'));
  assert.equal(again.body.toString(), embeddingsOf(['bb', 'a', 'bb']));
  const some = await ask(['ccc', 'a']);
  assert.deepEqual([some.header('x-postern-cache'), some.header('x-postern-calls')], ['partial', '1']);
  assert.equal(some.body.toString(), embeddingsOf(['ccc', 'a']));
  assert.deepEqual(upstreams[0]?.requests.map(inputsOf), [['a', 'bb'], ['ccc']]);
  const one = await ask('a');
  assert.equal(one.body.toString(), embeddingsOf(['a']));
  await rig.exchange(4);
  const bills = rig.settled.map(({ bill }) => [
    bill?.inputTokens,
    bill?.costNanos,
    bill?.units?.savedItems,
    bill?.units?.savedTokens,
  ]);
  assert.deepEqual(bills, [
    [3, 3e8, undefined, undefined],
    [0, 0, 3, 5],
    [3, 3e8, 1, 1],
    [0, 0, 1, 1],
  ]);
  assert.equal(rig.settled[1]?.bill?.units?.savedNanos, 5e8);
});

test('cached rerank documents are reported as savings only when they save a search unit', async (t) => {
  const model = { operations: ['rerank'], cache: { ttl: '1h' }, price: { search_unit: 1 } };
  const { rig } = await startSeveral(t, [ranks], { model });
  for (const documents of [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'a', 'b'],
  ]) {
    assert.equal((await rig.post('/v1/rerank', { model: 'm', query: 'q', documents })).status, 200);
  }
  await rig.exchange(3);
  const bills = rig.settled.map(({ bill }) => [bill?.costNanos, bill?.units?.savedItems, bill?.units?.savedNanos]);
  assert.deepEqual(bills, [
    [1e9, undefined, undefined],
    [1e9, 2, undefined],
    [0, 3, 1e9],
  ]);
});

test('cached items are answered although the budget or token rate is used up', async (t) => {
  for (const caps of [{ budgets: [{ every: 'day', amount: '1' }] }, { limits: { tokens_per_minute: 40 } }]) {
    const { rig, upstreams } = await startSeveral(t, [embeds], {
      model: { ...remembering, price: { input: 10_000 } },
      more: { keys: [{ id: 'test', secret: testKey, ...caps }] },
    });
    const ask = (input: readonly string[]) => rig.post('/v1/embeddings', { model: 'm', input });
    const longest = 'x'.repeat(28);
    assert.equal((await ask([longest])).status, 200);
    // New items exceed the rest of the budget, and cached ones do not.
    assert.equal((await ask(['y'.repeat(60)])).status, 429);
    const known = await ask([longest, longest]);
    assert.deepEqual([known.status, known.header('x-postern-cache')], [200, 'hit'], known.body.toString());
    assert.equal((await ask([longest, 'y'.repeat(60)])).status, 429);
    assert.equal(upstreams[0]?.requests.length, 1);
    await rig.exchange(4);
    const costs = rig.settled.map(({ bill }) => bill?.costNanos);
    assert.deepEqual(costs, [28e7, undefined, 0, undefined]);
  }
});

test('the budget reserves the cost of uncached items only', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], {
    model: { ...remembering, price: { input: 10_000 } },
    more: { keys: [{ id: 'test', secret: testKey, budgets: [{ every: 'day', amount: '4' }] }] },
  });
  const ask = (input: readonly string[]) => rig.post('/v1/embeddings', { model: 'm', input });
  const long = 'x'.repeat(200);
  assert.equal((await ask([long])).status, 200);
  assert.equal((await ask([long, 'short'])).status, 200);
  assert.deepEqual(upstreams[0]?.requests.map(inputsOf), [[long], ['short']]);
  assert.equal((await ask([long.replace('x', 'y')])).status, 429);
});

test('x-postern-usage is "about" if a cached item\'s tokens are its share of a joint count', async (t) => {
  const { rig } = await startSeveral(t, [embeds], { model: remembering });
  const usageOf = async (input: readonly string[]) =>
    (await rig.post('/v1/embeddings', { model: 'm', input })).header('x-postern-usage');
  assert.equal(await usageOf(['alone']), undefined);
  assert.equal(await usageOf(['alone']), undefined);
  assert.equal(await usageOf(['one', 'other']), undefined);
  assert.equal(await usageOf(['other']), 'about');
  assert.equal(await usageOf(['alone', 'new']), undefined);
});

test('documents are cached under their query', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [ranks], {
    model: { operations: ['rerank'], cache: { ttl: '1h' } },
  });
  const ask = (query: string, documents: readonly string[], top?: number) =>
    rig.post('/v1/rerank', { model: 'm', query, documents, top_n: top });
  await ask('q', ['a', 'ccc', 'bb']);
  const best = await ask('q', ['bb', 'a'], 1);
  assert.equal(best.header('x-postern-cache'), 'hit');
  assert.match(best.body.toString(), /"results":\[\{"index":0,"relevance_score":0\.0200\}\]/);
  assert.equal((await ask('other', ['a', 'ccc'])).header('x-postern-cache'), 'miss');
  assert.equal(upstreams[0]?.requests.length, 2);
});

test('a change of parameter, model or upstream path misses the cache', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model: remembering });
  const bodies = [
    { model: 'm', input: ['a'] },
    { model: 'm', input: ['a'], dimensions: 3 },
    { model: 'm', input: ['a'], encoding_format: 'float' },
    { model: 'm', input: ['a'], input_type: 'query' },
    { model: 'm', input: ['a'], input_type: 'document' },
    { model: 'm', input: ['A'] },
    { model: 'm', input: [[97]] },
  ];
  for (const body of bodies) assert.equal((await rig.post('/v1/embeddings', body)).header('x-postern-cache'), 'miss');
  for (const body of bodies) {
    assert.equal((await rig.post('/v1/embeddings', { ...body, user: 'u' })).header('x-postern-cache'), 'hit');
  }
  assert.equal(upstreams[0]?.requests.length, bodies.length);
});

const authorized: readonly [string, string][] = [['Authorization', `Bearer ${testKey}`]];

const keys = [
  { id: 'a1', secret: 'secret-of-a1-long-enough', project: 'a' },
  { id: 'a2', secret: 'secret-of-a2-long-enough', project: 'a' },
  { id: 'b', secret: 'secret-of-b-that-is-long-enough', project: 'b' },
  { id: 'alone', secret: 'secret-of-alone-long-enough' },
  { id: 'other', secret: 'secret-of-other-long-enough' },
];

for (const scope of ['project', 'shared'] as const) {
  test(`a cache of scope ${scope} is shared by ${scope === 'shared' ? 'all keys' : 'the keys of a project only'}`, async (t) => {
    const { rig } = await startSeveral(t, [embeds], {
      model: { ...remembering, cache: { scope } },
      more: { keys, projects: [{ id: 'a' }, { id: 'b' }] },
    });
    const seen: (string | undefined)[] = [];
    for (const { secret } of keys) {
      const answer = await rig.post('/v1/embeddings', { model: 'm', input: 'x' }, { headers: [['x-api-key', secret]] });
      seen.push(answer.header('x-postern-cache'));
    }
    assert.deepEqual(
      seen,
      scope === 'shared' ? ['miss', 'hit', 'hit', 'hit', 'hit'] : ['miss', 'hit', 'miss', 'miss', 'miss'],
    );
  });
}

test('clients can bypass the cache, or keep items out of it', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embeds], { model: remembering });
  const ask = async (control?: string) => {
    const headers: readonly [string, string][] = control === undefined ? [] : [['cache-control', control]];
    return (
      await rig.post('/v1/embeddings', { model: 'm', input: 'x' }, { headers: [...authorized, ...headers] })
    ).header('x-postern-cache');
  };
  assert.equal(await ask('no-store'), 'miss');
  assert.equal(await ask(), 'miss');
  assert.equal(await ask(), 'hit');
  assert.equal(await ask('no-cache'), 'miss');
  assert.equal(await ask(), 'hit');
  assert.equal(upstreams[0]?.requests.length, 3);
});

test('errors and mismatched responses are not cached', async (t) => {
  let count = 0;
  const script: Handler = (request, reply) => {
    count += 1;
    if (count === 1) return reply.json(400, { error: { message: 'no', type: 't', param: null, code: null } });
    if (count === 2) return reply.bytes(200, [['content-type', 'application/json']], embeddingsOf(['a', 'b']));
    return embeds(request, reply);
  };
  const { rig } = await startSeveral(t, [script], { model: { ...remembering, retry: { attempts: 1 } } });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    statuses.push((await rig.post('/v1/embeddings', { model: 'm', input: 'x' })).status);
  }
  assert.deepEqual([statuses, count], [[400, 502, 200, 200], 3]);
});

test('the least recently used item is evicted first, and expired ones are', async (t) => {
  const { rig } = await startSeveral(t, [embeds], { model: { ...remembering, cache: { max: '1500B', ttl: '1h' } } });
  const ask = async (input: string) =>
    (await rig.post('/v1/embeddings', { model: 'm', input })).header('x-postern-cache');
  assert.deepEqual([await ask('a'), await ask('b'), await ask('a'), await ask('c')], ['miss', 'miss', 'hit', 'miss']);
  assert.deepEqual([await ask('a'), await ask('b')], ['hit', 'miss']);
});

test('a cleared cache misses', async (t) => {
  const { rig } = await startSeveral(t, [embeds], { model: remembering });
  const ask = async () => (await rig.post('/v1/embeddings', { model: 'm', input: 'x' })).header('x-postern-cache');
  assert.deepEqual([await ask(), await ask()], ['miss', 'hit']);
  rig.app.lists.cleared(new Map([['m', 1]]));
  assert.deepEqual([await ask(), await ask()], ['miss', 'hit']);
  rig.app.lists.cleared(new Map([['m', 1]]));
  assert.equal(await ask(), 'hit');
});

test('concurrent lists share calls for their common items', async (t) => {
  const slow: Handler = async (request, reply) => {
    await reply.sleep(100);
    await embeds(request, reply);
  };
  const { rig, upstreams } = await startSeveral(t, [slow], { model: { operations: ['embeddings'], dedupe: true } });
  const lists = [
    ['a', 'bb'],
    ['bb', 'ccc'],
    ['ccc', 'a', 'a'],
  ];
  const answers = await Promise.all(lists.map((input) => rig.post('/v1/embeddings', { model: 'm', input })));
  assert.deepEqual(
    answers.map(({ body }) => body.toString()),
    lists.map(embeddingsOf),
  );
  const asked = upstreams[0]?.requests.flatMap(inputsOf) ?? [];
  assert.deepEqual(asked.toSorted(), ['a', 'bb', 'ccc']);
  assert.equal(answers[0]?.header('x-postern-cache'), undefined);
});

test('an interactive request does not wait for an item requested by bulk, bulk waits for either', async (t) => {
  const answers: (() => void)[] = [];
  const held: Handler = async (request, reply) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    await embeds(request, reply);
  };
  const { rig, upstreams } = await startSeveral(t, [held], { model: { operations: ['embeddings'], dedupe: true } });
  const [upstream] = upstreams;
  assert.ok(upstream !== undefined);
  const ask = (input: readonly string[], lane: string) =>
    rig.post(
      '/v1/embeddings',
      { model: 'm', input },
      {
        headers: [
          ['Authorization', `Bearer ${testKey}`],
          ['Content-Type', 'application/json'],
          ['x-postern-lane', lane],
        ],
      },
    );
  const bulk = ask(['a', 'bb'], 'bulk');
  await upstream.nextRequest();
  const interactive = ask(['a'], 'interactive');
  await upstream.nextRequest();
  const late = ask(['a', 'ccc'], 'bulk');
  await upstream.nextRequest();
  for (const answer of answers.toReversed()) answer();
  const all = await Promise.all([bulk, interactive, late]);
  assert.deepEqual(
    all.map(({ body }) => body.toString()),
    [['a', 'bb'], ['a'], ['a', 'ccc']].map(embeddingsOf),
  );
  assert.deepEqual(upstream.requests.map(inputsOf), [['a', 'bb'], ['a'], ['ccc']]);
});

test("a request that waits for another's call for the same item sends its own call if that one fails", async (t) => {
  let count = 0;
  const script: Handler = async (request, reply) => {
    count += 1;
    const isFirst = count === 1;
    await reply.sleep(100);
    if (isFirst) return reply.json(400, { error: { message: 'the other is too long' } });
    return embeds(request, reply);
  };
  const { rig } = await startSeveral(t, [script], { model: { operations: ['embeddings'], dedupe: true } });
  const lists = [
    ['a', 'far too long'],
    ['a', 'b'],
  ];
  const [bad, good] = await Promise.all(lists.map((input) => rig.post('/v1/embeddings', { model: 'm', input })));
  assert.deepEqual([bad?.status, good?.status], [400, 200]);
  assert.equal(good?.body.toString(), embeddingsOf(['a', 'b']));
});

test('cached items count for limits if so configured', async (t) => {
  for (const { limits, wanted } of [
    { limits: 'asked', wanted: [200, 200, 200] },
    { limits: 'all', wanted: [200, 200, 429] },
  ]) {
    const { rig } = await startSeveral(t, [embeds], {
      model: { ...remembering, cache: { limits } },
      more: { keys: [{ id: 'test', secret: 'test-key-with-enough-characters', limits: { items_per_minute: 5 } }] },
    });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      statuses.push((await rig.post('/v1/embeddings', { model: 'm', input: ['a', 'bb'] })).status);
    }
    assert.deepEqual(statuses, wanted);
  }
});

test('vectors of a changed model are not combined with cached ones', async (t) => {
  let isWider = false;
  const wide = (texts: readonly string[]): string =>
    embeddingsOf(texts).replaceAll('0.12345678901234567890]', '0.1, 2]');
  const embedder: Handler = (request, reply) =>
    isWider ? reply.bytes(200, json, wide(inputsOf(request))) : embeds(request, reply);
  const { rig } = await startSeveral(t, [embedder], { model: remembering });
  const ask = (input: readonly string[]) => rig.post('/v1/embeddings', { model: 'm', input });
  await ask(['a', 'bb']);
  isWider = true;
  const some = await ask(['a', 'ccc', 'bb']);
  assert.equal(some.body.toString(), wide(['a', 'ccc', 'bb']));
  assert.deepEqual([some.header('x-postern-cache'), some.header('x-postern-calls')], ['miss', '2']);
  const { bill } = await rig.exchange(2);
  assert.equal(bill?.inputTokens, 6);
  assert.equal((await ask(['bb', 'a'])).body.toString(), wide(['bb', 'a']));
});
