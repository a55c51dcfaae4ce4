import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextSlice } from 'node:timers/promises';
import { slowClock } from '../../../test/support/time/slow-clock.ts';
import type { RequestEstimate } from '../../core/accounting/price.ts';
import type { Candidate } from '../../core/dispatch.ts';
import type { Offer } from '../../core/family.ts';
import type { Route } from '../../core/route.ts';
import type { Target } from '../../core/snapshot.ts';
import { type Json, JsonNumber } from '../../lib/json/json-text.ts';
import { routes } from '../../routes/index.ts';
import { questionReaderOf } from '../question.ts';
import { estimateOf } from './request-estimate.ts';

function routeOf(path: string): Route {
  const route = routes.find((one) => one.path === path);
  assert.ok(route);
  return route;
}

interface Served {
  readonly offer?: Partial<Offer>;
  readonly defaults?: Readonly<Record<string, Json>>;
}

const estimate = (path: string, body: object | string, ...served: readonly Served[]): Promise<RequestEstimate> =>
  estimateOfModel({}, path, body, ...served);

async function estimateOfModel(
  model: { readonly context?: number; readonly maxOutput?: number },
  path: string,
  body: object | string,
  ...served: readonly Served[]
): Promise<RequestEstimate> {
  const tier = served.map(({ offer = {}, defaults = {} }): Candidate => {
    return { target: { defaults } as Target, offer: { path: '/', ...offer }, lifted: false };
  });
  const route = routeOf(path);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return estimateOf(await questionReaderOf(route)(bytes), route, { tiers: [tier], model });
}

test('counts the items of a list input, and one item for any other input', async () => {
  const rows: readonly [path: string, body: object, items: number][] = [
    ['/v1/embeddings', { input: 'a' }, 1],
    ['/v1/embeddings', { input: ['a', 'b, c', 'd"'] }, 3],
    ['/v1/embeddings', { input: [1, 2, 3] }, 1],
    ['/v1/embeddings', { input: [[1, 2], [3]] }, 2],
    ['/v1/embeddings', { input: [] }, 0],
    ['/v1/embeddings', { messages: [{ role: 'user', content: 'x' }] }, 1],
    ['/v1/engines/{model}/embeddings', { input: ['a', 'b'] }, 2],
    ['/v1/moderations', { input: ['a', 'b'] }, 2],
    [
      '/v1/moderations',
      {
        input: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      1,
    ],
    ['/v1/completions', { prompt: ['a', 'b', 'c'] }, 3],
    ['/v1/completions', { prompt: [1, 2] }, 1],
    ['/v1/rerank', { query: 'q', documents: [{ text: 'a, b' }, { text: 'c' }] }, 2],
    ['/v1/edits', { input: 'a', instruction: 'b' }, 1],
  ];
  for (const [path, body, items] of rows) {
    assert.equal((await estimate(path, { model: 'm', ...body })).items, items, JSON.stringify(body));
  }
});

test('counts token IDs exactly, and estimates text by its size', async () => {
  const input = async (value: unknown) =>
    (await estimate('/v1/embeddings', { model: 'm', input: value })).likelyInputTokens;
  assert.equal(await input('x'.repeat(400)), 100);
  assert.equal(await input([1, 22, 333]), 3);
  assert.equal(await input(Array(5000).fill(12_345)), 5000);
  assert.equal(await input(Array(70).fill([1, 2, 3])), 210);
  assert.equal(await input([]), 0);
});

test('no tokenizer makes more tokens than the body has bytes', async () => {
  const body = JSON.stringify({ model: 'm', input: 'é'.repeat(50) });
  assert.equal((await estimate('/v1/embeddings', body)).mostInputTokens, Buffer.byteLength(body));
});

test('a reranker reads the query once per document', async () => {
  const body = { model: 'm', query: 'q'.repeat(40), documents: Array(10).fill('d'.repeat(98)) };
  const { likelyInputTokens, mostInputTokens } = await estimate('/v1/rerank', body);
  const size = Buffer.byteLength(JSON.stringify(body));
  assert.equal(likelyInputTokens, Math.ceil((10 * 100 + 9) / 4) + 10 * 10);
  assert.equal(mostInputTokens, size + 10 * 40);
});

test('a rerank counts one search unit per 100 documents, where a long document counts as several', async () => {
  const units = async (count: number, length: number, query = 'q') =>
    (await estimate('/v1/rerank', { model: 'm', query, documents: Array(count).fill('d'.repeat(length)) }))
      .mostSearchUnits;
  assert.equal(await units(1, 1), 1);
  assert.equal(await units(100, 1), 1);
  assert.equal(await units(101, 1), 2);
  assert.equal(await units(60, 1000), 2);
  assert.equal(await units(60, 1000, 'q'.repeat(1000)), 3);
});

test('completions are bounded by max_tokens per choice and prompt', async () => {
  const most = async (fields: object | string) =>
    (
      await estimate(
        '/v1/completions',
        typeof fields === 'string'
          ? `{"model":"m","prompt":"x",${fields}}`
          : { model: 'm', prompt: ['a', 'b'], ...fields },
      )
    ).mostOutputTokens;
  assert.equal(await most({}), 32);
  assert.equal(await most({ max_tokens: 100, n: null }), 200);
  assert.equal(await most({ max_tokens: 100 }), 200);
  assert.equal(await most({ max_tokens: 100, n: 3 }), 600);
  assert.equal(await most({ max_tokens: 100, n: 3, best_of: 5 }), 1000);
  // Some treat it as absent.
  assert.equal(await most({ max_tokens: 0 }), 2 * 131_072);
  assert.equal(await most({ max_tokens: -1 }), 2 * 131_072);
  assert.equal(await most('"max_tokens":1e1'), 10);
  assert.equal(await most('"max_tokens":1e400,"n":1e400'), 1_000_000_000);
  assert.equal(await most('"MAX_TOKENS":5'), 1_000_000_000);
  // Upstreams may read it as 7, or otherwise.
  for (const odd of ['"7"', 'true', '[7]', '{}']) assert.equal(await most(`"max_tokens":${odd}`), 1_000_000_000);
  for (const name of ['n', 'best_of']) assert.equal(await most(`"max_tokens":7,"${name}":"9"`), 70_000);
  // vLLM and llama.cpp treat it as no limit.
  assert.equal(await most({ max_tokens: null }), 2 * 131_072);
  assert.equal((await estimate('/v1/completions', { model: 'm', prompt: [] })).mostOutputTokens, 16);
});

test('another name for max_tokens can raise the estimated output, never lower it', async () => {
  const most = async (fields: object) =>
    (await estimate('/v1/completions', { model: 'm', prompt: 'x', ...fields })).mostOutputTokens;
  assert.equal(await most({ max_tokens: 5, n_predict: 100 }), 100);
  assert.equal(await most({ max_tokens: 5, n_predict: -1 }), 131_072);
  assert.equal(await most({ max_tokens: 5, max_completion_tokens: 70 }), 70);
  assert.equal(await most({ max_tokens: 5, n_predict: 1 }), 5);
  assert.equal(await most({ n_predict: 1 }), 16);
  assert.equal(await most({ n_predict: null }), 16);
});

test('without max_tokens and an upstream default, the output has the global maximum', async () => {
  const plain: Served = {};
  const chat: Served = { offer: { isUnlimited: true } };
  const bounded: Served = { ...chat, defaults: { max_tokens: new JsonNumber('256') } };
  const most = async (path: string, body: object, ...served: Served[]) =>
    (await estimate(path, { model: 'm', ...body }, ...served)).mostOutputTokens;
  const completion = { prompt: 'x' };
  assert.equal(await most('/v1/completions', completion, plain), 16);
  assert.equal(await most('/v1/completions', completion, plain, chat), 131_072);
  assert.equal(await most('/v1/completions', completion, bounded), 256);
  assert.equal(await most('/v1/completions', completion, bounded, chat), 131_072);
  assert.equal(await most('/v1/completions', { ...completion, max_tokens: 9 }, chat), 9);
  assert.equal(await most('/v1/completions', { ...completion, n_predict: 1 }, chat), 131_072);
  const edit = { input: 'x', instruction: 'write a book' };
  assert.ok((await most('/v1/edits', edit, plain)) < 100);
  assert.equal(await most('/v1/edits', { ...edit, n: 2 }, chat), 2 * 131_072);
  assert.equal(await most('/v1/edits', { ...edit, max_tokens: 900 }, chat), 900);
  assert.ok((await most('/v1/edits', { ...edit, max_tokens: 0 }, plain)) > 16);
});

test('counts the tokens that translating the request for its upstream adds to each item', async () => {
  const guard: Served = { offer: { addedTokens: { input: 2_000, output: 100 } } };
  const body = { model: 'm', input: ['a', 'b', 'c'] };
  const plain = await estimate('/v1/moderations', body);
  const { mostInputTokens, mostOutputTokens } = await estimate('/v1/moderations', body, {}, guard);
  assert.deepEqual([mostInputTokens, mostOutputTokens], [plain.mostInputTokens + 6_000, 300]);
});

test('detects a streaming request', async () => {
  for (const [stream, is] of [
    ['true', true],
    ['false', false],
    ['null', false],
    ['"true"', false],
  ] as const) {
    assert.equal((await estimate('/v1/completions', `{"model":"m","prompt":"x","stream":${stream}}`)).isStream, is);
  }
  assert.equal((await estimate('/v1/completions', '{"model":"m","prompt":"x"}')).isStream, false);
});

test("an edit's output is estimated to be at most as long as its request, per choice", async () => {
  const body = { model: 'm', input: 'some text', instruction: 'do', n: 3 };
  assert.equal((await estimate('/v1/edits', body)).mostOutputTokens, 3 * JSON.stringify(body).length);
});

test('images are counted as images, not as text', async () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } };
  const text = { type: 'text', text: 'an "image_url": one' };
  const { images, items, likelyInputTokens } = await estimate('/v1/moderations', {
    model: 'm',
    input: [text, image, image],
  });
  assert.deepEqual([images, items, likelyInputTokens], [2, 1, 2000]);
});

test('a long list is counted in slices, with the same result', async () => {
  const { items } = await estimate('/v1/embeddings', {
    model: 'm',
    input: Array(20_000).fill('some text of some length, and "more"'),
  });
  assert.equal(items, 20_000);
});

const chat = '/v1/chat/completions';
const user = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });

test('counts Unicode characters with escapes decoded; long texts in slices with the same result', async (t) => {
  const count = async (input: string): Promise<number | undefined> =>
    (await estimate('/v1/audio/speech', `{"model":"m","input":${input}}`)).characters;
  const piece = 'aé🚀\\u00e9\\ud83d\\ude80\\n\\"\\\\\\ud83d\\u0041\\ude80\\ud83dx';
  const characters = [...JSON.parse(`"${piece}"`)].length;
  assert.equal(characters, 13);
  for (const [text, expected] of [
    ['', 0],
    [piece, characters],
    ['\\ud83d\\ud83d\\ude80', 2],
    ['\\uD83D\\uDE80', 1],
  ] as const) {
    assert.equal(await count(`"${text}"`), expected, text);
  }
  await slowClock(t);
  let slices = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; slices += 1) await nextSlice();
  })();
  assert.equal(await count(`"${piece.repeat(20_000)}"`), 20_000 * characters);
  isOver = true;
  await counting;
  assert.ok(slices > 45, `${slices} slices`);
});

test('chat counts its maximum output per choice', async () => {
  const rows: readonly [body: object, most: number][] = [
    [{ max_tokens: 10 }, 10],
    [{ max_completion_tokens: 30, max_tokens: 10 }, 30],
    [{ max_tokens: 10, n: 3 }, 30],
    [{ max_tokens: 10, n: 2, n_cmpl: 3 }, 30],
    [{ max_tokens: 9_000 }, 500],
    [{}, 500],
    [{ n: 2 }, 1_000],
    [{ max_tokens: null }, 500],
  ];
  for (const [body, most] of rows) {
    const { mostOutputTokens } = await estimateOfModel({ maxOutput: 500 }, chat, { ...user('x'), ...body });
    assert.equal(mostOutputTokens, most, JSON.stringify(body));
  }
  assert.equal((await estimate(chat, user('x'))).mostOutputTokens, 131_072);
});

test("text-only chat is bounded by its bytes and the model's context", async () => {
  const body = { ...user('x'.repeat(4_000)), max_tokens: 1 };
  const { mostInputTokens, likelyInputTokens, items, unbounded } = await estimate(chat, body);
  assert.deepEqual([mostInputTokens, items, unbounded], [JSON.stringify(body).length + 256, 1, undefined]);
  assert.ok(likelyInputTokens > 1_000 && likelyInputTokens < 1_100, `${likelyInputTokens}`);
  assert.equal((await estimateOfModel({ context: 500 }, chat, body)).mostInputTokens, 500);
});

test("images and files count up to the model's context, and are unbounded without one", async () => {
  const url = `data:image/png;base64,${'A'.repeat(8_000)}`;
  for (const [part, name] of [
    [{ type: 'image_url', image_url: { url } }, 'image_url'],
    [{ type: 'image_url', image_url: { url: 'https://h/x.png' } }, 'image_url'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'input_audio'],
    [{ type: 'file', file: { file_id: 'f' } }, 'file'],
  ] as const) {
    const body = user([{ type: 'text', text: 'what is it?' }, part]);
    assert.equal((await estimate(chat, body)).unbounded, name);
    const { mostInputTokens, unbounded } = await estimateOfModel({ context: 128_000 }, chat, body);
    assert.deepEqual([mostInputTokens, unbounded], [128_000, undefined]);
  }
  const contents = [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(8_000) } }] }];
  for (const { likelyInputTokens } of [
    await estimate(chat, user([{ type: 'image_url', image_url: { url } }])),
    await estimate('/v1beta/models/{model}:generateContent', { contents }),
  ]) {
    assert.ok(likelyInputTokens > 1_000 && likelyInputTokens < 1_100, `${likelyInputTokens}`);
  }
});

test("recognises a content part's type in any spelling, and not inside text", async () => {
  const bounded = async (text: string) => (await estimate(chat, text)).unbounded;
  assert.equal(
    await bounded('{"model":"m","messages":[{"content":[{"image\\u005furl":{"url":"https://h"}}]}]}'),
    'messages',
  );
  assert.equal(
    await bounded('{"model":"m","messages":[{"content":[{"image_url"\n : {"url":"https://h"}}]}]}'),
    'image_url',
  );
  assert.equal(await bounded(JSON.stringify(user('say "image_url": and \\u0041 and é'))), undefined);
  assert.equal(await bounded(JSON.stringify({ ...user(['image_url', 'file']) })), undefined);
  assert.equal(
    await bounded(
      '{"model":"m","messages":[{"content":"caf\\u00e9 \\u0022quoted\\u0022 \\u000a \\u003ca href\\u003d\\u0027x\\u0027\\u003e \\u0026"}]}',
    ),
    undefined,
  );
});

test('a request with tools that the upstream runs and does not report has no cost bound', async () => {
  const withTools = (tools: unknown) => estimateOfModel({ context: 1_000 }, chat, { ...user('x'), tools });
  assert.equal((await withTools([{ type: 'function', function: { name: 'f' } }])).unbounded, undefined);
  assert.equal((await withTools(null)).unbounded, undefined);
  assert.equal(
    (await withTools([{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }])).unbounded,
    'tools',
  );
  const unboundedBy = async (more: object) =>
    (await estimateOfModel({ context: 1_000 }, chat, { ...user('x'), ...more })).unbounded;
  assert.equal(await unboundedBy({ Web_Search_Options: {} }), 'web_search_options');
  assert.equal(await unboundedBy({ Tools: [{ type: 'web_search' }] }), 'tools');
  assert.equal(await unboundedBy({ plugins: [{ id: 'web' }] }), 'plugins');
  assert.equal(await unboundedBy({ search_parameters: { mode: 'on' } }), 'search_parameters');
  assert.equal(await unboundedBy({ enable_search: true }), 'enable_search');
  assert.equal(await unboundedBy({ enable_search: false, plugins: null }), undefined);
  const servers = { ...user('x'), max_tokens: 1, mcp_servers: [{ url: 'https://example.com' }] };
  assert.equal((await estimateOfModel({ context: 1_000 }, '/v1/messages', servers)).unbounded, 'mcp_servers');
});

test('calls of tools that the upstream runs and reports are bounded by request, model settings and context', async () => {
  const read = async (model: object, path: '/v1/responses' | '/v1/messages' | typeof chat, body: object) => {
    const { tools, unbounded, mostInputTokens } = await estimateOfModel(model, path, body);
    return [tools?.kinds, tools?.most, unbounded, mostInputTokens];
  };
  const search = [{ type: 'web_search_preview_2025_03_11' }, { type: 'function' }, { type: 'code_interpreter' }];
  const asked = { input: 'x', tools: search };
  const kinds = ['web_search', 'code_interpreter'];
  const holds = { context: 1_000 };
  assert.deepEqual(await read(holds, '/v1/responses', { ...asked, max_tool_calls: 3 }), [kinds, 3, undefined, 4_000]);
  assert.deepEqual((await read(holds, '/v1/responses', asked)).slice(1, 3), [undefined, 'tools']);
  assert.deepEqual((await read(holds, '/v1/responses', { ...asked, max_tool_calls: '3' })).slice(1, 3), [
    undefined,
    'tools',
  ]);
  assert.deepEqual((await read({}, '/v1/responses', { ...asked, max_tool_calls: 3 }))[2], 'tools');
  const model = { ...holds, maxToolCalls: 2 };
  assert.deepEqual(await read(model, '/v1/responses', { ...asked, max_tool_calls: 9 }), [kinds, 2, undefined, 3_000]);
  const uses = (max_uses?: number) => ({ type: 'web_search_20250305', name: 'web_search', max_uses });
  const message = (tools: readonly object[]) => ({ ...user('x'), max_tokens: 1, tools });
  const messages = '/v1/messages';
  assert.deepEqual(await read(holds, messages, message([uses(2)])), [['web_search'], 2, undefined, 3_000]);
  assert.deepEqual((await read(holds, messages, message([uses(2), uses()])))[2], 'tools');
  assert.deepEqual((await read(holds, messages, message([{ type: 'advisor_20260301', max_uses: 1 }])))[2], 'tools');
  const options = { ...user('x'), web_search_options: {} };
  assert.deepEqual(await read(holds, chat, options), [['web_search'], 1, undefined, 2_000]);
  assert.deepEqual((await read({}, chat, options))[2], 'web_search_options');
});

test('predicted text, reasoning and compaction summaries count as output', async () => {
  const most = async (path: '/v1/messages' | typeof chat, body: object, model = {}) =>
    (await estimateOfModel(model, path, { ...user('x'), ...body })).mostOutputTokens;
  const prediction = { type: 'content', content: 'y'.repeat(1_000) };
  assert.equal(await most(chat, { max_tokens: 5, n: 2, prediction }), 10 + 2 * JSON.stringify(prediction).length);
  assert.equal(await most('/v1/messages', { max_tokens: 50, thinking: { type: 'enabled', budget_tokens: 20 } }), 50);
  assert.equal(await most('/v1/messages', { max_tokens: 50, thinking: { type: 'enabled', budget_tokens: 70 } }), 120);
  const shorter = { max_tokens: 50, context_management: { edits: [{ type: 'compact_20260112' }] } };
  assert.equal(await most('/v1/messages', shorter, { context: 500, maxOutput: 90 }), 140);
  const unbounded = await estimateOfModel({ context: 500 }, '/v1/messages', { ...user('x'), ...shorter });
  assert.equal(unbounded.unbounded, 'context_management');
});

test('counts the tokens that services add for tool descriptions', async () => {
  const around = async (tools: readonly object[]): Promise<number> => {
    const body = JSON.stringify({ ...user('x'), max_tokens: 1, tools });
    return (await estimate('/v1/messages', body)).mostInputTokens - body.length;
  };
  assert.equal(await around([]), 256);
  assert.equal(await around([{ name: 'f', input_schema: {} }]), 256 + 1_024);
  assert.equal(await around([{ name: 'f' }, { type: 'bash_20250124', name: 'bash' }]), 256 + 2 * 1_024);
});
