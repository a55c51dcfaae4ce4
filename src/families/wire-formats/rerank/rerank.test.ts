import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../core/errors.ts';
import { Asked, type Conversation, type Reply, type RerankShape, type Unsupported } from '../../../core/translation.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { isJsonObject, type Json, parseJson, writeJson } from '../../../lib/json/json-text.ts';
import { type RerankWireFormat, translateRerank } from './rerank.ts';
import { readStandardRerank } from './standard-rerank.ts';

/** Returns the requested number of results, and texts only. */
const plain: RerankWireFormat = {
  own: [],
  write: ({ query, documents, topN, more }) => ({ body: { ...more, query, documents, top: topN } }),
  read: readStandardRerank,
};

interface Setting {
  readonly wireFormat?: Partial<RerankWireFormat>;
  readonly shape?: RerankShape;
  readonly unsupported?: Unsupported;
}

function askedFor(body: unknown, { shape, unsupported }: Setting = {}): Asked {
  const parsed = parseJson(Buffer.from(JSON.stringify(body)));
  assert.ok(isJsonObject(parsed));
  return new Asked({
    body: parsed,
    model: 'upstream-model',
    publicModel: 'm',
    shape,
    tokenIds: 'decode',
    options: {},
    id: 'id',
    nowS: 0,
    unsupported,
    upstreamId: 'up',
  });
}

async function converse(body: unknown, setting: Setting = {}): Promise<Conversation> {
  return translateRerank({ ...plain, ...setting.wireFormat }).ask(askedFor(body, setting));
}

const plainly = (value: Json): unknown => JSON.parse(writeJson(value).toString());

/** The body of each call. */
async function bodiesFor(body: unknown, setting: Setting = {}): Promise<unknown[]> {
  return (await converse(body, setting)).requests.map((request) => plainly(request.body));
}

async function read(conversation: Conversation, ...answers: readonly string[]): Promise<Reply> {
  return conversation.read(answers.map((answer) => ({ body: parseJson(Buffer.from(answer)), headers: [] })));
}

async function answerTo(body: unknown, answers: readonly string[], setting: Setting = {}): Promise<string> {
  return writeJson((await read(await converse(body, setting), ...answers)).body).toString();
}

async function assertRefused(body: unknown, param: string, why: RegExp, setting: Setting = {}): Promise<void> {
  await assert.rejects(
    () => converse(body, setting),
    (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.deepEqual([error.code, error.param], ['unsupported_parameter', param]);
      assert.match(error.message, why);
      return true;
    },
  );
}

const two = { query: 'q', documents: ['a', 'b'] };
const results = (...list: readonly string[]): string => `{"results":[${list.join()}]}`;
const result = (index: unknown, score: unknown): string => JSON.stringify({ index, relevance_score: score });
const indexesIn = (answer: string): unknown =>
  JSON.parse(answer).results.map(({ index }: { readonly index: number }) => index);

test('refuses an upstream response that does not score each document exactly once', async () => {
  const good = result(0, 0.5);
  const bad: readonly (readonly [answer: string, fact: RegExp])[] = [
    [results(good, result(2, 0.1)), /of document 2, and there are 2/],
    [results(good, result(-1, 0.1)), /no index/],
    [results(good, result(0.5, 0.1)), /no index/],
    [results(good, result('1', 0.1)), /no index/],
    [results(good, result(null, 0.1)), /no index/],
    [results(good, '{"relevance_score":0.1}'), /no index/],
    [results(good, good), /document 0 has two results/],
    [results(good), /1 results for 2 documents/],
    [results(), /0 results for 2 documents/],
    [results(good, result(1, '0.1')), /score of document 1 is no number/],
    [results(good, result(1, null)), /score of document 1 is no number/],
    [results(good, result(1, [0.1])), /score of document 1 is no number/],
    [results(good, '{"index":1,"relevance_score":1e999}'), /score of document 1 is no number/],
    [results(good, '{"index":1}'), /score of document 1 is no number/],
    [results(good, 'null'), /a result is no object/],
    ['{"results":{}}', /results is no list/],
    ['{"results":[1,2]}', /results is no list/],
    ['{}', /results is no list/],
    ['[]', /the answer is no object/],
  ];
  for (const [answer, fact] of bad) {
    const conversation = await converse(two);
    await assert.rejects(read(conversation, answer), fact, answer);
  }
});

test('a response needs at least as many results as requested, and returns no more than that', async () => {
  const body = { query: 'q', documents: ['a', 'b', 'c'], top_n: 2 };
  assert.deepEqual(indexesIn(await answerTo(body, [results(result(2, 0.1), result(0, 0.5))])), [0, 2]);
  const all = results(result(0, 0.1), result(1, 0.3), result(2, 0.2));
  assert.deepEqual(indexesIn(await answerTo(body, [all])), [1, 2]);
  const conversation = await converse(body);
  await assert.rejects(read(conversation, results(result(2, 0.1))), /1 results for 2/);
});

test("scores keep their digits, and equal scores keep the upstream's order", async () => {
  const body = { query: 'q', documents: ['a', 'b', 'c', 'd'] };
  const answer = results(
    '{"index":3,"relevance_score":0.50}',
    '{"index":1,"relevance_score":5e-1}',
    '{"index":0,"relevance_score":0.5000000000000000000001}',
    '{"index":2,"relevance_score":1}',
  );
  const text = await answerTo(body, [answer]);
  assert.deepEqual(indexesIn(text), [2, 3, 1, 0]);
  assert.deepEqual(text.match(/(?<="relevance_score":)[^},]+/g), ['1', '0.50', '5e-1', '0.5000000000000000000001']);
});

test('top_n must be a positive whole number, and is at most the number of documents', async () => {
  assert.deepEqual(await bodiesFor(two), [two]);
  assert.deepEqual(await bodiesFor({ ...two, top_n: 1 }), [{ ...two, top: 1 }]);
  assert.deepEqual(await bodiesFor({ ...two, top_n: 1e300 }), [{ ...two, top: 2 }]);
  for (const top_n of [0, -1, 1.5, '2', true, [1], {}]) await assertRefused({ ...two, top_n }, 'top_n', /whole number/);
});

test('top_n of zero is accepted and means all results, if it does so at the upstream', async () => {
  const wireFormat = { zeroIsAll: true };
  assert.deepEqual(await bodiesFor({ ...two, top_n: 0 }, { wireFormat }), [two]);
  assert.deepEqual(await bodiesFor({ ...two, top_k: 0 }, { wireFormat, shape: 'voyage' }), [two]);
  for (const top_n of [-1, 0.5, '0']) await assertRefused({ ...two, top_n }, 'top_n', /whole number/, { wireFormat });
});

test("top_k means top_n, as in Voyage's API, and is ignored beside top_n", async () => {
  for (const shape of [undefined, 'voyage', 'cohere', 'tei'] as const) {
    const setting = shape === undefined ? {} : { shape };
    assert.deepEqual(await bodiesFor({ ...two, top_k: 1 }, setting), [{ ...two, top: 1 }]);
    await assertRefused({ ...two, top_k: 0 }, 'top_k', /whole number/, setting);
    assert.deepEqual(await bodiesFor({ ...two, top_k: 1, top_n: 2 }, setting), [{ ...two, top: 2 }]);
  }
  const asked = askedFor({ ...two, top_k: 1, top_n: 2 });
  await translateRerank(plain).ask(asked);
  assert.deepEqual([...asked.ignored], ['top_k']);
});

test("the response to a request with top_k alone also has the data list of Voyage's API", async () => {
  const listsOf = async (more: object, setting: Setting = {}) =>
    Object.keys(JSON.parse(await answerTo({ ...two, ...more }, [results(...scores)], setting)));
  assert.deepEqual(await listsOf({ top_k: 2 }), ['id', 'object', 'model', 'data', 'results', 'meta', 'usage']);
  for (const [more, setting] of [
    [{}, {}],
    [{ top_n: 2, top_k: 2 }, {}],
    [{ top_k: 2 }, { shape: 'cohere' }],
  ] as const) {
    assert.deepEqual(await listsOf(more, setting), ['id', 'object', 'model', 'results', 'meta', 'usage']);
  }
});

test('return_documents may be the text "true" or "false"', async () => {
  const documentsIn = async (return_documents: unknown) =>
    JSON.parse(await answerTo({ ...two, return_documents }, [results(...scores)])).results.map(
      ({ document }: { readonly document?: unknown }) => document,
    );
  for (const yes of [true, 'true', 'True']) assert.deepEqual(await documentsIn(yes), [{ text: 'b' }, { text: 'a' }]);
  for (const no of [false, 'false', 'FALSE']) assert.deepEqual(await documentsIn(no), [undefined, undefined]);
});

test("texts and return_text are accepted only from clients of TEI's API", async () => {
  const body = { query: 'q', texts: ['a', 'b'], return_text: true, raw_scores: false, truncate: true };
  assert.deepEqual(await bodiesFor(body, { shape: 'tei' }), [two]);
  assert.deepEqual(
    await answerTo(body, [results(result(1, 0.5), result(0, 0.25))], { shape: 'tei' }),
    '[{"index":1,"score":0.5,"text":"b"},{"index":0,"score":0.25,"text":"a"}]',
  );
  await assertRefused({ ...two, return_text: true }, 'return_text', /x-postern-shape: tei/);
  await assertRefused({ ...two, texts: ['c'] }, 'texts', /x-postern-shape: tei/);
  await assertRefused({ ...body, return_text: 1 }, 'return_text', /true or false/, { shape: 'tei' });
  await assertRefused({ ...body, raw_scores: true }, 'raw_scores', /no such parameter/, { shape: 'tei' });
});

test('of a document that is an object, text or the fields in rank_fields are used, in order', async () => {
  const documents = [{ text: 'a', title: 'A' }, 'b', { title: 'C', year: 2020, draft: false, tags: ['x'] }];
  const sent = async (more: object) => (await bodiesFor({ query: { text: 'q' }, documents, ...more }))[0];
  assert.deepEqual(await sent({ rank_fields: ['title', 'year', 'text', 'draft', 'tags', 'none'] }), {
    query: 'q',
    documents: ['title: A\ntext: a', 'b', 'title: C\nyear: 2020\ndraft: false'],
  });
  assert.deepEqual(await sent({ rank_fields: ['title'] }), { query: 'q', documents: ['A', 'b', 'C'] });
  assert.deepEqual(await bodiesFor({ query: 'q', documents: [{ text: '' }], rank_fields: ['title'] }), [
    { query: 'q', documents: [''] },
  ]);
});

test('a document or query without text is refused, and the error names the parameter', async () => {
  const ask = (documents: unknown) => ({ query: 'q', documents });
  for (const document of [{}, { text: 1 }, { text: null }, { image: 'x' }, { constructor: 'x' }]) {
    await assertRefused(ask(['a', document]), 'documents', /needs a "text"/);
  }
  for (const document of [1, null, true, ['a'], [1]])
    await assertRefused(ask(['a', document]), 'documents', /text only/);
  await assertRefused({ ...ask([{ a: [] }]), rank_fields: ['a'] }, 'documents', /one of the rank_fields/);
  await assertRefused({ query: {}, documents: ['a'] }, 'query', /needs a "text"/);
  await assertRefused({ query: 1, documents: ['a'] }, 'query', /text only/);
  for (const rank_fields of [[], 'title', [1], ['a', 1], ['a', null], {}]) {
    await assertRefused({ ...two, rank_fields }, 'rank_fields', /list of names/);
  }
});

test('document objects pass to an upstream that takes them, except with rank_fields that it does not take', async () => {
  const body = { query: { text: 'q' }, documents: [{ image: 'x' }, 'b'] };
  assert.deepEqual(await bodiesFor(body, { wireFormat: { takesObjects: true } }), [body]);
  assert.deepEqual(await bodiesFor(body, { wireFormat: { takesObjects: 'documents' } }), [{ ...body, query: 'q' }]);
  const named = { ...body, rank_fields: ['image'] };
  assert.deepEqual(await bodiesFor(named, { wireFormat: { takesObjects: true } }), [
    { query: { text: 'q' }, documents: ['x', 'b'] },
  ]);
  assert.deepEqual(await bodiesFor(named, { wireFormat: { takesObjects: true, own: ['rank_fields'] } }), [named]);
});

test('unknown parameters pass unless the upstream is strict, and known parameters of other services never pass', async () => {
  assert.deepEqual(await bodiesFor({ ...two, new: 1, __proto__x: 2 }), [{ ...two, new: 1, __proto__x: 2 }]);
  await assertRefused({ ...two, new: 1 }, 'new', /no such parameter/, { wireFormat: { isStrict: true } });
  await assertRefused({ ...two, raw_scores: true }, 'raw_scores', /no such parameter/);
  await assertRefused({ ...two, a: 1 }, 'a', /says b/, { wireFormat: { cannot: { a: 'says b' } } });
  await assertRefused({ ...two, return_documents: 'yes' }, 'return_documents', /true or false/);
  const own = { wireFormat: { own: ['max_tokens_per_doc'] } };
  assert.deepEqual(await bodiesFor({ ...two, max_tokens_per_doc: 9 }, own), [{ ...two, max_tokens_per_doc: 9 }]);
});

test('optional parameters that the upstream lacks are dropped and reported, or refused if so configured', async () => {
  const body = { ...two, truncation: true, truncate: 'END', priority: 3, max_tokens_per_doc: 9, max_chunks_per_doc: 1 };
  const asked = askedFor(body);
  const { requests } = await translateRerank(plain).ask(asked);
  assert.deepEqual(
    requests.map((request) => plainly(request.body)),
    [two],
  );
  assert.deepEqual([...asked.ignored], Object.keys(body).slice(2));
  await assertRefused(body, 'truncation', /no such parameter/, { unsupported: 'refuse' });
  assert.deepEqual(await bodiesFor({ ...two, raw_scores: true }, { unsupported: 'drop' }), [two]);
});

test('asks the upstream for at most as many results as there are documents', async () => {
  assert.deepEqual(await bodiesFor({ ...two, top_n: 9 }), [{ ...two, top: 2 }]);
});

test('an empty list of documents makes one call and gives no results', async () => {
  assert.deepEqual(indexesIn(await answerTo({ query: 'q', documents: [] }, ['{"results":[]}'])), []);
});

const version2 = { api_version: { version: '2' }, billed_units: {} };
const mixed = { query: 'four', documents: [{ text: 'eight888', id: 1 }, 'b'], return_documents: true };
const scores = [result(1, 0.5), result(0, 0.25)];
const shaped = async (shape: RerankShape | undefined, body: object, answer: string) => {
  const conversation = await converse(body, shape === undefined ? {} : { shape });
  const { body: made, isEstimated } = await read(conversation, answer);
  return { made: plainly(made), isEstimated };
};

/** One token of the query with each document, two of the first, one of the second. */
const estimated = { prompt_tokens: 5, total_tokens: 5 };
const common = {
  id: 'rerank-id',
  object: 'list',
  model: 'upstream-model',
  results: [
    { index: 1, relevance_score: 0.5, document: { text: 'b' } },
    { index: 0, relevance_score: 0.25, document: { text: 'eight888', id: 1 } },
  ],
  meta: version2,
  usage: estimated,
};

test('a rerank response always has id, model, meta and usage', async () => {
  for (const shape of [undefined, 'cohere', 'jina'] as const) {
    assert.deepEqual(await shaped(shape, mixed, results(...scores)), { made: common, isEstimated: true }, `${shape}`);
  }
  const said = `{"id":"r","model":"x","usage":{"total_tokens":9},${results(...scores).slice(1)}`;
  assert.deepEqual(await shaped(undefined, mixed, said), {
    made: { ...common, id: 'r', model: 'x', usage: { prompt_tokens: 9, total_tokens: 9 } },
    isEstimated: false,
  });
});

test("a rerank response keeps the upstream's meta with its units, and adds a version and empty billed_units", async () => {
  const metaOf = async (answers: readonly string[]) => {
    const made: unknown = JSON.parse(await answerTo(two, answers));
    return isMapping(made) && made.meta;
  };
  const withMeta = (meta: string, list: string) => `{"meta":${meta},${list.slice(1)}`;
  const own = '{"tokens":{"input_tokens":3}}';
  assert.deepEqual(await metaOf([withMeta(own, results(...scores))]), { ...version2, tokens: { input_tokens: 3 } });
  const first = { api_version: { version: '1' } };
  assert.deepEqual(await metaOf([withMeta(JSON.stringify(first), results(...scores))]), { ...version2, ...first });
  for (const none of ['null', '[]', '"x"']) {
    assert.deepEqual(await metaOf([withMeta(none, results(...scores))]), version2, none);
  }
  const units = { billed_units: { search_units: 2 } };
  assert.deepEqual(await metaOf([withMeta(JSON.stringify(units), results(...scores))]), { ...version2, ...units });
});

test("a client of Jina's API gets its documents back unless return_documents is false", async () => {
  const { return_documents: _, ...unsaid } = mixed;
  const { made } = await shaped('jina', unsaid, results(...scores));
  assert.deepEqual(made, common);
  const without = await shaped('jina', { ...mixed, return_documents: false }, results(...scores));
  assert.deepEqual(without.made, {
    ...common,
    results: common.results.map(({ document: _unwanted, ...rest }) => rest),
  });
});

test("a client of Voyage's API gets documents as texts in the data list", async () => {
  const data = [
    { index: 1, relevance_score: 0.5, document: 'b' },
    { index: 0, relevance_score: 0.25, document: 'eight888' },
  ];
  assert.deepEqual(await shaped('voyage', mixed, results(...scores)), { made: { ...common, data }, isEstimated: true });
});

test('returned documents that are objects without text are unchanged', async () => {
  const body = { query: 'q', documents: [{ image: 'i' }], return_documents: true };
  const setting = { wireFormat: { takesObjects: true } } as const;
  const answers = [results(result(0, 0.5))];
  assert.deepEqual(JSON.parse(await answerTo(body, answers, { ...setting, shape: 'tei' })), [
    { index: 0, score: 0.5, text: { image: 'i' } },
  ]);
  assert.deepEqual(JSON.parse(await answerTo(body, answers, { ...setting, shape: 'voyage' })).data, [
    { index: 0, relevance_score: 0.5, document: { image: 'i' } },
  ]);
});
