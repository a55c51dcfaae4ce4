import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Asked, type Glance, type TokenIds } from '../../../core/translation.ts';
import { compileWatchedKeys, scanJson } from '../../../lib/json/json-scan.ts';
import { isJsonObject, type Json, parseJson, writeJson } from '../../../lib/json/json-text.ts';
import { holdsTokens, type OpenaiEmbeddingFacts, openaiEmbeddings, readOpenaiEmbeddings } from './openai-embeddings.ts';

const watched = compileWatchedKeys(['model', 'input', 'documents', 'dimensions', 'encoding_format', 'messages']);

function glanceAt(text: string, tokenIds: TokenIds = 'decode'): Glance {
  const body = Buffer.from(text);
  const scan = scanJson(body, watched);
  assert.ok(scan.ok, text);
  return { body, fields: scan.fields, shape: undefined, tokenIds };
}

function askedFor(text: string, tokenIds: TokenIds = 'decode'): Asked {
  const body = parseJson(Buffer.from(text));
  assert.ok(isJsonObject(body));
  return new Asked({
    body,
    model: 'their-model',
    publicModel: 'm',
    shape: undefined,
    tokenIds,
    options: {},
    id: 'x',
    nowS: 0,
    unsupported: undefined,
    upstreamId: 'up',
  });
}

const isNeeded = (facts: OpenaiEmbeddingFacts, text: string, tokenIds?: TokenIds): boolean | undefined =>
  openaiEmbeddings(facts).isNeeded?.(glanceAt(text, tokenIds));

async function written(facts: OpenaiEmbeddingFacts, text: string, tokenIds?: TokenIds): Promise<string[]> {
  const { requests } = await openaiEmbeddings(facts).ask(askedFor(text, tokenIds));
  return requests.map(({ body }) => writeJson(body).toString());
}

const resultOf = (text: string) => readOpenaiEmbeddings({ body: parseJson(Buffer.from(text)), headers: [] });

test('encoding_format is recognised in any case and with escapes, and longer texts are not', () => {
  const long = `"${'base64'.repeat(1_000)}"`;
  assert.equal(openaiEmbeddings({}).isNeeded?.(glanceAt(`{"input":"a","encoding_format":${long}}`)), false);
  const escaped = [...'base64'].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');
  assert.equal(openaiEmbeddings({}).isNeeded?.(glanceAt(`{"input":"a","encoding_format":"${escaped}"}`)), true);
});

describe('token IDs in the input', () => {
  test('token IDs are found anywhere in the input list', () => {
    for (const text of ['[1,2]', '[[1],[2]]', '["a",[1]]', '["a",1]', '[[]]', '[1e3]']) {
      assert.equal(holdsTokens(glanceAt(`{"input":${text}}`)), true, text);
    }
    for (const text of ['"[1]"', '[]', '["1"]', '[{"a":[1]}]', '[null]', 'null']) {
      assert.equal(holdsTokens(glanceAt(`{"input":${text}}`)), false, text);
    }
    assert.equal(holdsTokens(glanceAt('{"messages":[[1]]}')), false);
  });

  test('token IDs are not looked for with token_ids: pass', () => {
    assert.equal(holdsTokens(glanceAt('{"input":[1]}', 'pass')), false);
    assert.equal(holdsTokens(glanceAt('{"input":[1]}', 'o200k_base')), true);
  });

  test('token IDs are decoded for an upstream that would misread them', async () => {
    const facts = { misreadsTokens: true };
    assert.deepEqual(await written(facts, '{"input":[9906,1917]}'), ['{"model":"their-model","input":"Hello world"}']);
    assert.deepEqual(await written(facts, '{"input":[[9906,1917],"x",[1578]]}'), [
      '{"model":"their-model","input":["Hello world","x"," again"]}',
    ]);
    assert.deepEqual(await written(facts, '{"input":[13225,2375]}', 'o200k_base'), [
      '{"model":"their-model","input":"Hello world"}',
    ]);
  });

  test('token IDs stay unchanged with token_ids: pass', async () => {
    const facts = { misreadsTokens: true };
    assert.equal(isNeeded(facts, '{"input":[[1],[2],[3]]}', 'pass'), false);
    assert.deepEqual(await written(facts, '{"input":[[1,2],[3],"x"]}', 'pass'), [
      '{"model":"their-model","input":[[1,2],[3],"x"]}',
    ]);
    assert.deepEqual(await written(facts, '{"input":[1,2,3]}', 'pass'), ['{"model":"their-model","input":[1,2,3]}']);
  });

  test('token IDs stay unchanged for an upstream that reads them, whatever else changes', async () => {
    assert.deepEqual(await written({ lacksBase64: true }, '{"input":[[1,2]],"encoding_format":"base64"}'), [
      '{"model":"their-model","input":[[1,2]],"encoding_format":"float"}',
    ]);
  });
});

describe('requests that pass without translation', () => {
  test('any request passes without translation to an upstream that supports everything', () => {
    for (const text of [
      '{"input":[1]}',
      '{"input":"a","encoding_format":"float","dimensions":4}',
      '{"input":"a","encoding_format":null}',
    ]) {
      assert.equal(isNeeded({}, text), false, text);
    }
  });

  test('a conversation instead of the input passes without translation, with any parameters', () => {
    const lacks = { misreadsTokens: true, lacksBase64: true, lacksDimensions: true };
    const facts: OpenaiEmbeddingFacts = { ...lacks, refusesNull: ['encoding_format', 'dimensions'] };
    const asked = ['"encoding_format":"base64"', '"encoding_format":null', '"dimensions":4', '"x":1'];
    for (const more of asked) {
      assert.equal(isNeeded(facts, `{"messages":[{"role":"user","content":"a"},{}],${more}}`), false, more);
      assert.equal(isNeeded(facts, `{"input":null,"messages":[],${more}}`), false, more);
    }
  });

  test('a request is translated for an upstream without base64 only if it asks for base64, in any spelling', () => {
    for (const facts of [{ lacksBase64: true }, {}]) {
      for (const format of ['"base64"', String.raw`"b\u0061se64"`, '"BASE64"']) {
        assert.equal(isNeeded(facts, `{"input":"a","encoding_format":${format}}`), true, format);
      }
      for (const format of ['"float"', 'null', '64', '["base64"]', '"base"']) {
        assert.equal(isNeeded(facts, `{"input":"a","encoding_format":${format}}`), false, format);
      }
    }
  });

  test('a request is translated for a fixed-width upstream only if it has dimensions', async () => {
    const facts = { lacksDimensions: true };
    assert.equal(isNeeded(facts, '{"input":"a","dimensions":4}'), true);
    assert.equal(isNeeded(facts, '{"input":"a","dimensions":null}'), false);
    assert.equal(isNeeded(facts, '{"input":"a"}'), false);
    const asked = askedFor('{"input":"a","dimensions":4}');
    const { requests } = await openaiEmbeddings(facts).ask(asked);
    assert.equal(writeJson(requests[0]?.body ?? null).toString(), '{"model":"their-model","input":"a"}');
    assert.deepEqual([...asked.ignored], ['dimensions']);
  });

  test('a request is translated for an upstream that rejects null only if the field is null', async () => {
    const facts: OpenaiEmbeddingFacts = { refusesNull: ['encoding_format'] };
    assert.equal(isNeeded(facts, '{"input":"a","encoding_format":null}'), true);
    assert.equal(isNeeded(facts, '{"input":"a","encoding_format":"null"}'), false);
    assert.equal(isNeeded(facts, '{"input":"a","dimensions":null}'), false);
    assert.equal(isNeeded({ refusesNull: ['dimensions'] }, '{"input":"a","dimensions":null}'), true);
  });
});

describe('base64 embeddings', () => {
  const half = 'AAAAPw==';
  const element = (index: number, embedding: string) => `{"index":${index},"embedding":${embedding}}`;
  const two = `{"data":[${element(0, `"${half}"`)},${element(1, `"${half}"`)}],"usage":{"prompt_tokens":2}}`;

  async function reply(text: string, answers: readonly string[], facts: OpenaiEmbeddingFacts = {}, options = {}) {
    const { requests, read } = await openaiEmbeddings(facts, options).ask(askedFor(text));
    const { body, isAsItCame } = await read(
      answers.map((answer) => ({ body: parseJson(Buffer.from(answer)), headers: [] })),
    );
    return {
      formats: requests.map((request) => request.body.encoding_format),
      text: writeJson(body).toString(),
      isAsItCame,
    };
  }

  const ask = '{"input":["a","b"],"encoding_format":"base64"}';

  test('base64 is requested from the upstream, and a base64 response is passed on unchanged', async () => {
    const { formats, isAsItCame } = await reply(ask, [two]);
    assert.deepEqual(formats, ['base64']);
    assert.equal(isAsItCame, true);
    assert.equal(
      (await reply('{"input":"a","encoding_format":"BASE64"}', [`{"data":[${element(0, `"${half}"`)}]}`])).isAsItCame,
      true,
    );
  });

  test('base64 is made from floats that come instead, in all or some elements', async () => {
    for (const second of ['[0.50]', `"${half}"`]) {
      const { text, isAsItCame } = await reply(ask, [`{"data":[${element(0, '[5e-1]')},${element(1, second)}]}`]);
      assert.equal(isAsItCame, false);
      assert.deepEqual(text.match(/(?<="embedding":)[^}]+/g), [`"${half}"`, `"${half}"`]);
    }
  });

  test('a base64 response is rewritten if the response or the request had to be changed', async () => {
    const turned = `{"data":[${element(1, `"${half}"`)},${element(0, `"${half}"`)}]}`;
    assert.equal((await reply(ask, [turned])).isAsItCame, false);
    const tokens = '{"input":[[9906,1917],[1578]],"encoding_format":"base64"}';
    assert.equal((await reply(tokens, [two], { misreadsTokens: true })).isAsItCame, false);
    assert.equal((await reply(tokens, [two])).isAsItCame, true);
    const dimensions = ask.replace('{', '{"dimensions":1,');
    assert.equal((await reply(dimensions, [two], { lacksDimensions: true })).isAsItCame, false);
    assert.equal((await reply(dimensions, [two])).isAsItCame, true);
    const floats = '{"input":["a"]}';
    assert.equal((await reply(floats, [`{"data":[${element(0, '[1]')}]}`])).isAsItCame, false);
  });

  test('a base64 response is validated like any other response', async () => {
    const nan = Buffer.from('0000c07f', 'hex').toString('base64');
    for (const [answer, fact] of [
      [`{"data":[${element(0, `"${half}"`)}]}`, /1 vectors for 2 inputs/],
      [`{"data":[${element(0, `"${half}"`)},${element(1, '"AAAAPwAAgL8="')}]}`, /vectors of 1 and of 2 numbers/],
      [`{"data":[${element(0, `"${half}"`)},${element(1, `"${nan}"`)}]}`, /no number/],
      [`{"data":[${element(0, `"${half}"`)},${element(1, '""')}]}`, /no base64/],
      [`{"data":[${element(0, `"${half}"`)},${element(1, '[1e39]')}]}`, /no 32-bit float/],
    ] as const) {
      await assert.rejects(reply(ask, [answer]), { name: 'Unfit', message: fact }, answer);
    }
  });

  test('a base64 response of another number type that the client requested is not validated', async () => {
    const facts = { forOtherNumbers: ['embed_dtype'] };
    const answer = `{"data":[${element(0, '"AH4="')},${element(1, '"AHwAfA=="')}]}`;
    const wanted = ask.replace('{', '{"embed_dtype":"float16",');
    assert.equal((await reply(wanted, [answer], facts)).isAsItCame, true);
    await assert.rejects(reply(ask, [answer], facts), { name: 'Unfit' });
    await assert.rejects(reply(wanted, [answer]), { name: 'Unfit' });
  });

  test('with base64: convert, floats are requested from the upstream and converted to base64', async () => {
    const answer = `{"data":[${element(0, '[0.5]')},${element(1, '[0.5]')}]}`;
    const { formats, text, isAsItCame } = await reply(ask, [answer], {}, { base64: 'convert' });
    assert.deepEqual(formats, ['float']);
    assert.deepEqual(text.match(/(?<="embedding":)[^}]+/g), [`"${half}"`, `"${half}"`]);
    assert.equal(isAsItCame, false);
    assert.deepEqual((await reply(ask, [two], {}, { base64: 'pass' })).formats, ['base64']);
  });
});

describe('the request to an OpenAI-compatible upstream', () => {
  test('the request has one text as text, a list as list, and nothing that the client did not send', async () => {
    assert.deepEqual(await written({}, '{"input":"a"}'), ['{"model":"their-model","input":"a"}']);
    assert.deepEqual(await written({}, '{"input":["a"]}'), ['{"model":"their-model","input":["a"]}']);
    assert.deepEqual(await written({}, '{"input":[]}'), ['{"model":"their-model","input":[]}']);
    assert.deepEqual(await written({}, '{"input":""}'), ['{"model":"their-model","input":""}']);
  });

  test('the request keeps numbers in their digits, and unknown fields unchanged', async () => {
    assert.deepEqual(await written({}, '{"input":"a","dimensions":1.0e1,"user":"u","x":{"y":[1.50]},"__proto__":1}'), [
      '{"user":"u","x":{"y":[1.50]},"__proto__":1,"model":"their-model","input":"a","dimensions":1.0e1}',
    ]);
  });

  test('the request has at most as many inputs as configured, else as the family allows', () => {
    const facts = { maxItems: 4, maxItemsOption: 'most' };
    assert.deepEqual(openaiEmbeddings(facts, {}).limits, { items: 4 });
    assert.deepEqual(openaiEmbeddings(facts, { most: '1' }).limits, { items: 1 });
    assert.equal(openaiEmbeddings({}, {}).limits, undefined);
  });
});

describe('the parsed response of an OpenAI-compatible upstream', () => {
  const element = (index: string, embedding: string): string => `{"index":${index},"embedding":${embedding}}`;
  const answer = (...elements: string[]): string => `{"data":[${elements.join()}]}`;
  const vectors = (text: string): string[] =>
    resultOf(text).vectors.map((vector: Json) => writeJson(vector).toString());

  test('a parsed response has vectors by index, in their digits', () => {
    assert.deepEqual(vectors(answer(element('2', '[3.0]'), element('0', '[1e0]'), element('1', '"AACAPw=="'))), [
      '[1e0]',
      '"AACAPw=="',
      '[3.0]',
    ]);
    assert.deepEqual(vectors(answer(element('0.0', '[1]'))), ['[1]']);
  });

  test('a response needs each index exactly once', () => {
    for (const [text, fact] of [
      [answer(element('0', '[1]'), element('0', '[1]')), /index 0 stands twice/],
      [answer(element('1', '[1]')), /the index 1, and there are 1/],
      [answer('{"embedding":[1]}'), /no index/],
      [answer(element('null', '[1]')), /no index/],
      [answer(element('"0"', '[1]')), /no index/],
      [answer(element('-1', '[1]')), /no index/],
      [answer(element('0.5', '[1]')), /no index/],
      [answer(element('1e30', '[1]')), /no index/],
      [answer('{"index":0}'), /no embedding/],
      [answer('[1]'), /is no object/],
      ['{"data":{}}', /data is no list/],
      ['{"data":[1,2]}', /data is no list/],
      ['{}', /data is no list/],
      ['[]', /the answer is no object/],
    ] as const) {
      assert.throws(() => resultOf(text), { name: 'Unfit', message: fact }, text);
    }
  });

  test('a parsed response has the reported usage, even if some counts are missing', () => {
    const counts = (usage: string) => {
      const { promptTokens, totalTokens } = resultOf(`{"data":[],"usage":${usage}}`);
      return [promptTokens, totalTokens];
    };
    assert.deepEqual(counts('{"prompt_tokens":3,"total_tokens":4}'), [3, 4]);
    assert.deepEqual(counts('{"total_tokens":4}'), [4, 4]);
    assert.deepEqual(counts('{"prompt_tokens":0,"total_tokens":4}'), [4, 4]);
    assert.deepEqual(counts('{"prompt_tokens":3}'), [3, undefined]);
    assert.deepEqual(counts('{"prompt_tokens":-3,"total_tokens":"4"}'), [undefined, undefined]);
    assert.deepEqual(counts('null'), [undefined, undefined]);
    assert.deepEqual(counts('[]'), [undefined, undefined]);
  });

  test("a parsed response has the upstream's model name if that is a text", () => {
    assert.equal(resultOf('{"data":[],"model":"bge"}').model, 'bge');
    assert.equal(resultOf('{"data":[],"model":null}').model, undefined);
  });
});
