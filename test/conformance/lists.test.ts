/** Lists longer than an upstream takes: sent in parts, and merged from its own bytes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { refusingWith, startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeddingsOf, embeds, inputsOf, json, ranked, ranks } from '../support/upstreams/list-service.ts';

const embedding = { operations: ['embeddings'] };
const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg'];

test("a list over the target's maximum is split, and the response is that of one call", async (t) => {
  const setup = await startSeveral(t, [embeds], { model: embedding, target: [{ max_items: 3 }] });
  const answer = await setup.rig.post(
    '/v1/embeddings',
    `{"model":"m", "input": ["a","bb", "ccc","dddd","eeeee","ffffff","ggggggg"], "user":"u"}`,
  );
  assert.equal(answer.status, 200);
  assert.equal(answer.body.toString(), embeddingsOf(texts));
  assert.equal(answer.header('x-postern-calls'), '3');
  assert.deepEqual(setup.upstreams[0]?.requests.map(({ body }) => body.toString()).toSorted(), [
    '{"model":"m", "input": ["a","bb","ccc"], "user":"u"}',
    '{"model":"m", "input": ["dddd","eeeee","ffffff"], "user":"u"}',
    '{"model":"m", "input": ["ggggggg"], "user":"u"}',
  ]);
  const { usage, bill, attempts } = await setup.rig.exchange();
  assert.deepEqual([usage?.promptTokens, bill?.inputTokens, bill?.items, attempts], [28, 28, 7, 3]);
});

test('a list that fits passes unchanged, whatever else is set', async (t) => {
  const setup = await startSeveral(t, [embeds], { model: embedding, target: [{ max_items: 7, max_bytes: '1MiB' }] });
  const body = `{ "input": ${JSON.stringify(texts)} , "model":"m" }`;
  const answer = await setup.rig.post('/v1/embeddings', body);
  assert.equal(answer.body.toString(), embeddingsOf(texts));
  assert.equal(answer.header('x-postern-calls'), undefined);
  assert.equal(setup.upstreams[0]?.requests[0]?.body.toString(), body);
});

test('duplicate items of a split list are sent once', async (t) => {
  const setup = await startSeveral(t, [embeds], { model: embedding, target: [{ max_items: 2 }] });
  const input = ['a', 'bb', 'a', 'a', 'bb'];
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input });
  assert.equal(answer.body.toString(), embeddingsOf(input));
  assert.equal(answer.header('x-postern-usage'), 'about');
  assert.deepEqual(setup.upstreams[0]?.requests.map(inputsOf), [['a', 'bb']]);
  assert.equal((await setup.rig.exchange()).bill?.inputTokens, 3);
});

test('lists are also split by tokens and bytes', async (t) => {
  for (const limit of [{ max_tokens: 6 }, { max_bytes: '24B' }]) {
    const setup = await startSeveral(t, [embeds], { model: embedding, target: [limit] });
    const input = ['abcdefgh', 'bcdefghi', 'cdefghij'];
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input });
    assert.equal(answer.body.toString(), embeddingsOf(input));
    assert.ok((setup.upstreams[0]?.requests.length ?? 0) > 1);
  }
});

test('an item too long for every target gets 400 that names its index, without an upstream call', async (t) => {
  const setup = await startSeveral(t, [embeds, embeds], {
    model: embedding,
    target: [{ max_bytes: '16B' }, { max_bytes: '20B', max_tokens: 4 }],
  });
  const long = 'x'.repeat(30);
  for (const [input, param] of [
    [['a', 'b', long, 'c'], 'input[2]'],
    [long, 'input'],
    [[long], 'input[0]'],
  ] as const) {
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input });
    assertError(answer, 'body_too_large', { param, message: /32 bytes/ });
  }
  assert.deepEqual(setup.seen(), [0, 0]);
  const fits = await setup.rig.post('/v1/embeddings', { model: 'm', input: ['a', 'x'.repeat(17)] });
  assert.equal(fits.status, 200, fits.body.toString());
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('documents are ranked across all parts, with top_n results', async (t) => {
  const setup = await startSeveral(t, [ranks], { model: { operations: ['rerank'] }, target: [{ max_items: 3 }] });
  const documents = ['dd', 'a', 'ggggg', 'dd', 'ccc', 'hhhhhh', 'ffff'];
  const all = await setup.rig.post('/v1/rerank', { model: 'm', query: 'q', documents });
  assert.equal(all.body.toString(), ranked(documents).replace('"search_units":1', '"search_units":2'));
  const best = await setup.rig.post('/v1/rerank', { model: 'm', query: 'q', top_n: 2, documents });
  assert.equal(best.body.toString(), ranked(documents, 2).replace('"search_units":1', '"search_units":2'));
  assert.equal((await setup.rig.exchange(2)).bill?.searchUnits, 2);
});

test('a rerank list that repeats a document is answered with the search units of its calls', async (t) => {
  const setup = await startSeveral(t, [ranks], { model: { operations: ['rerank'] }, target: [{ max_items: 3 }] });
  const documents = ['dddd', 'a', 'dddd', 'dddd'];
  const answer = await setup.rig.post('/v1/rerank', { model: 'm', query: 'q', documents });
  assert.equal(answer.body.toString(), ranked(documents));
  assert.equal((await setup.rig.exchange(1)).bill?.searchUnits, 1);
});

test("documents with an invalid top_n, such as 0 or -1, are sent in one call, and the upstream's error is returned", async (t) => {
  const refuse: Handler = (_request, reply) => reply.json(400, { error: { message: 'top_n is too small' } });
  for (const top of [0, -1, 1.5, '2', {}]) {
    for (const model of [{}, { cache: {} }]) {
      const setup = await startSeveral(t, [refuse], {
        model: { operations: ['rerank'], ...model },
        target: [{ max_items: 2 }],
      });
      const body = { model: 'm', query: 'q', top_n: top, documents: ['a', 'bb', 'ccc'] };
      const answer = await setup.rig.post('/v1/rerank', body);
      assert.equal(answer.status, 400);
      assert.deepEqual(
        setup.upstreams[0]?.requests.map((one) => JSON.parse(one.body.toString()).documents.length),
        [3],
      );
    }
  }
});

test('each part requests only top_n results, unless all are to be cached', async (t) => {
  const documents = ['dd', 'a', 'ggggg', 'dd', 'ccc', 'hhhhhh', 'ffff'];
  const topsOf = async (model: object): Promise<unknown[]> => {
    const setup = await startSeveral(t, [ranks], {
      model: { operations: ['rerank'], ...model },
      target: [{ max_items: 3 }],
    });
    const answer = await setup.rig.post('/v1/rerank', { model: 'm', query: 'q', top_n: 2, documents });
    assert.equal(answer.body.toString(), ranked(documents, 2).replace('"search_units":1', '"search_units":2'));
    return setup.upstreams[0]?.requests.map(({ body }) => JSON.parse(body.toString()).top_n) ?? [];
  };
  assert.deepEqual(await topsOf({}), [2, 2]);
  assert.deepEqual(await topsOf({ cache: {} }), [3, 3]);
});

test("the operator's default top_n applies across all parts", async (t) => {
  for (const model of [{}, { cache: {} }]) {
    const setup = await startSeveral(t, [ranks], {
      model: { operations: ['rerank'], ...model },
      target: [{ max_items: 2, defaults: { top_n: 3 } }],
    });
    const documents = ['dd', 'a', 'ggggg', 'ccc', 'hhhhhh', 'ffff'];
    const answer = await setup.rig.post('/v1/rerank', { model: 'm', query: 'q', documents });
    assert.equal(answer.status, 200, answer.body.toString());
    const { results }: { results: { index: number }[] } = JSON.parse(answer.body.toString());
    assert.deepEqual(
      results.map(({ index }) => index),
      [4, 2, 5],
    );
  }
});

for (const [what, missing, counts, billed] of [
  ['usage', /, "usage".*\}(?=\}$)/, null, [19, true]],
  ['a count', /"prompt_tokens": \d+, /, [null, 28], [28, false]],
] as const) {
  test(`if ${what} is missing from one part, the merged answer has none, and the bill counts or estimates the rest`, async (t) => {
    const silent: Handler = (request, reply) =>
      inputsOf(request).includes('dddd')
        ? reply.bytes(200, json, embeddingsOf(inputsOf(request)).replace(missing, ''))
        : embeds(request, reply);
    const setup = await startSeveral(t, [silent], { model: embedding, target: [{ max_items: 3 }] });
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: texts });
    assert.equal(answer.body.toString(), embeddingsOf(texts).replace(missing, ''));
    const { usage, bill } = await setup.rig.exchange();
    assert.deepEqual(usage && [usage.promptTokens, usage.totalTokens], counts);
    assert.deepEqual([bill?.inputTokens, bill?.isEstimated], billed);
  });
}

test('if one part of a list fails, only that part is sent to the next target', async (t) => {
  const half: Handler = (request, reply) =>
    inputsOf(request).includes('dddd') ? refusingWith(503)(request, reply) : embeds(request, reply);
  const setup = await startSeveral(t, [half, embeds], {
    model: embedding,
    target: [{ max_items: 3 }, { max_items: 3 }],
  });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: texts });
  assert.equal(answer.body.toString(), embeddingsOf(texts));
  assert.deepEqual(setup.upstreams[1]?.requests.map(inputsOf), [['dddd', 'eeeee', 'ffffff']]);
});

test('a target with a smaller maximum gets smaller parts after the others failed', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503), embeds], {
    model: embedding,
    target: [{ max_items: 5 }, { max_items: 2 }],
  });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: texts });
  assert.equal(answer.body.toString(), embeddingsOf(texts));
  assert.deepEqual(setup.upstreams[1]?.requests.map((request) => inputsOf(request).length).toSorted(), [1, 2, 2, 2]);
});

test('a client error (4xx) for one part becomes the response to the whole list', async (t) => {
  const script: Handler = (request, reply) =>
    inputsOf(request).includes('dddd')
      ? reply.json(400, { error: { message: 'too long', type: 'invalid_request_error', param: 'input', code: null } })
      : embeds(request, reply);
  const setup = await startSeveral(t, [script], { model: embedding, target: [{ max_items: 3 }] });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: texts });
  assert.equal(answer.status, 400);
  assert.match(answer.body.toString(), /too long/);
});

/** How an upstream names the item that it refuses, by its number in the call. */
const refusals: readonly ((item: number, name: string) => unknown)[] = [
  (item, name) => ({
    error: { message: `'${name}[${item}]' is empty`, type: 't', param: `${name}[${item}]`, code: null },
  }),
  (item, name) => ({
    error: { message: `${name.replace(/s$/, '')} ${item} is empty`, type: 't', param: name, code: null },
  }),
  (item, name) => ({ detail: [{ loc: ['body', name, item], msg: 'empty', type: 'value_error' }] }),
  (item) => ({ message: `the text at index ${item} is empty` }),
];

for (const [name, path] of [
  ['input', '/v1/embeddings'],
  ['documents', '/v1/rerank'],
] as const) {
  test(`an upstream error names the item by its index in the whole list of ${name}`, async (t) => {
    const bad = 'the bad one';
    let refusal = refusals[0];
    const script: Handler = (request, reply) => {
      const items: readonly string[] = JSON.parse(request.body.toString())[name];
      const item = items.indexOf(bad);
      if (item === -1) return (name === 'input' ? embeds : ranks)(request, reply);
      return reply.json(400, refusal?.(item, name));
    };
    for (const model of [{}, { cache: {} }]) {
      const setup = await startSeveral(t, [script], {
        model: { operations: ['embeddings', 'rerank'], ...model },
        target: [{ max_items: 4 }],
      });
      for (let asked = 0; asked < 40; asked += 1) {
        const length = 5 + (asked % 7);
        const items = Array.from({ length }, (_, index) => `text ${(index * asked) % 5} ${asked % 3}`);
        const index = (asked * 3) % length;
        items[index] = bad;
        refusal = refusals[asked % refusals.length];
        const answer = await setup.rig.post(path, { model: 'm', query: 'q', [name]: items });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.toString(), JSON.stringify(refusal?.(index, name)));
      }
    }
  });
}

const mistakes: Readonly<Record<string, (texts: readonly string[]) => string>> = {
  'omits an item': (some) => embeddingsOf(some.slice(1)),
  'repeats an index': (some) => embeddingsOf(some).replace('"index": 1', '"index": 0'),
  'has an index beyond the list': (some) => embeddingsOf(some).replace('"index": 1', '"index": 9'),
  'has a vector of a different width': (some) => embeddingsOf(some).replace(', 0.12345678901234567890', ''),
  'contains NaN': (some) => embeddingsOf(some).replace('0.12345678901234567890', 'NaN'),
  'contains a number beyond the float range': (some) => embeddingsOf(some).replace('0.12345678901234567890', '1e999'),
  'has null in a vector': (some) => embeddingsOf(some).replace('0.12345678901234567890', 'null'),
  'is truncated': (some) => embeddingsOf(some).slice(0, -9),
};

for (const [what, answerOf] of Object.entries(mistakes)) {
  test(`a response that ${what} is discarded, and another target called`, async (t) => {
    const wrong: Handler = (request, reply) => reply.bytes(200, json, answerOf(inputsOf(request)));
    const both = await startSeveral(t, [wrong, embeds], {
      model: embedding,
      target: [{ max_items: 4 }, { max_items: 4 }],
    });
    const answer = await both.rig.post('/v1/embeddings', { model: 'm', input: texts });
    assert.equal(answer.body.toString(), embeddingsOf(texts));
    const alone = await startSeveral(t, [wrong], { model: embedding, target: [{ max_items: 4 }] });
    assertError(await alone.rig.post('/v1/embeddings', { model: 'm', input: texts }), 'upstream_protocol_error');
  });
}

test("vectors narrower or wider than the model's declared width are discarded", async (t) => {
  const setup = await startSeveral(t, [embeds], { model: { ...embedding, dimensions: 4 }, target: [{ max_items: 3 }] });
  assertError(await setup.rig.post('/v1/embeddings', { model: 'm', input: texts }), 'upstream_protocol_error', {
    message: /vectors of 3 numbers, where there are to be 4/,
  });
});

test('a list with late_chunking: true is not split', async (t) => {
  const setup = await startSeveral(t, [embeds], { model: embedding, target: [{ max_items: 3 }] });
  await setup.rig.post('/v1/embeddings', { model: 'm', input: texts, late_chunking: true });
  assert.equal(setup.upstreams[0]?.requests.length, 1);
});

test('a list may need 2,048 calls, and one that needs more is refused before the first', async (t) => {
  const setup = await startSeveral(t, [embeds], { model: embedding, target: [{ max_items: 1 }] });
  const input = Array.from({ length: 2_049 }, (_, index) => String(index));
  assertError(await setup.rig.post('/v1/embeddings', { model: 'm', input }), 'body_too_large', {
    message: /2049 calls.*2048/,
  });
  assert.equal(setup.upstreams[0]?.requests.length, 0);
  const most = input.slice(1);
  assert.equal(
    (await setup.rig.post('/v1/embeddings', { model: 'm', input: most })).body.toString(),
    embeddingsOf(most),
  );
  assert.equal(setup.upstreams[0]?.requests.length, 2_048);
});

test('a list uses free slots, and leaves them to waiting requests', async (t) => {
  let now = 0;
  let most = 0;
  let awaited = 0;
  const counting: Handler = async (request, reply) => {
    now += 1;
    most = Math.max(most, now);
    // A busy machine sends them late.
    for (let looks = 0; most < awaited && looks < 500; looks += 1) await reply.sleep(10);
    await reply.sleep(10);
    now -= 1;
    await embeds(request, reply);
  };
  for (const concurrency of [1, 3, 64]) {
    most = 0;
    awaited = Math.min(8, concurrency);
    const setup = await startSeveral(t, [counting], {
      model: embedding,
      target: [{ max_items: 1 }],
      upstream: { limits: { concurrency, queue: 0 } },
    });
    const input = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input });
    assert.equal(answer.body.toString(), embeddingsOf(input));
    assert.equal(most, awaited);
  }
});
