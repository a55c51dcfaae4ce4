import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, digest, readParts, toBody } from '../../../test/support/local-models.ts';
import { slowClock } from '../../../test/support/time/slow-clock.ts';
import { embedByHash } from './hash-embed.ts';

interface Embeddings {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly data: readonly { readonly object: string; readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

async function embed(input: unknown, more: object = {}): Promise<readonly (readonly number[])[]> {
  const { status, json, text } = await ask<Embeddings>(embedByHash, { model: 'local/hash-embed', input, ...more });
  assert.equal(status, 200, text.slice(0, 200));
  return json.data.map(({ embedding }) => embedding);
}

const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

function assertUnit(vector: readonly number[] | undefined): void {
  assert.ok(vector !== undefined);
  assert.ok(vector.every(Number.isFinite));
  assert.ok(Math.abs(Math.sqrt(dot(vector, vector)) - 1) < 1e-5);
}

test('responses have the OpenAI shape: one vector per text, in order, with words counted as tokens', async () => {
  const { json, headers } = await ask<Embeddings>(embedByHash, {
    model: 'my-name',
    input: ['two words', 'and three more'],
  });
  assert.equal(headers.get('content-type'), 'application/json');
  assert.deepEqual(Object.keys(json), ['id', 'object', 'model', 'data', 'usage']);
  assert.match(json.id, /^embd-[0-9a-f]{24}$/);
  assert.equal(json.object, 'list');
  assert.equal(json.model, 'my-name');
  assert.deepEqual(
    json.data.map(({ object, index }) => [object, index]),
    [
      ['embedding', 0],
      ['embedding', 1],
    ],
  );
  assert.deepEqual(json.usage, { prompt_tokens: 5, total_tokens: 5 });
});

test('accepts a text, a list of texts, and objects with a text', async () => {
  const [fromText] = await embed('same words');
  const [fromList, fromObject] = await embed(['same words', { text: 'same words' }]);
  assert.deepEqual(fromList, fromText);
  assert.deepEqual(fromObject, fromText);
});

test('vectors have unit length and 512 dimensions, or the requested number', async () => {
  assert.equal((await embed('hello'))[0]?.length, 512);
  for (const dimensions of [1, 2, 7, 256, 1000, 4096]) {
    const [vector] = await embed('the quick brown fox jumps over the lazy dog', { dimensions });
    assert.equal(vector?.length, dimensions);
    assertUnit(vector);
  }
});

test('an unknown encoding_format counts as float, and is reported as ignored', async () => {
  const ignoredFor = async (encoding_format: string) => {
    const answer = await embedByHash(toBody({ input: 'a', encoding_format }), new AbortController().signal);
    assert.match(Buffer.concat(await readParts(answer)).toString(), /"embedding":\[/);
    return answer.ignored ?? [];
  };
  assert.deepEqual(await ignoredFor('none'), ['encoding_format']);
  assert.deepEqual(await ignoredFor('FLOAT'), []);
});

test('float and base64 vectors have the same bits', async () => {
  const input = ['the quick brown fox', 'naïve 東京 🎉', 'x', ''];
  const floats = await embed(input, { encoding_format: 'float' });
  const { json } = await ask<{ data: { embedding: string }[] }>(embedByHash, { input, encoding_format: 'base64' });
  for (const [index, { embedding }] of json.data.entries()) {
    const bytes = Buffer.from(embedding, 'base64');
    const decoded = Array.from({ length: 512 }, (_, at) => bytes.readFloatLE(at * 4));
    assert.deepEqual(
      decoded,
      floats[index]?.map((value) => Math.fround(value)),
    );
    assert.equal(bytes.toString('base64'), embedding);
  }
});

test('writes each number as the shortest text for that float32', async () => {
  const [vector] = await embed('the quick brown fox jumps over the lazy dog');
  for (const value of vector ?? []) {
    const shorter = String(
      Number(value.toPrecision(Math.max(1, String(Math.round(Math.abs(value) * 1e7)).length - 1))),
    );
    if (Number(shorter) !== value) assert.notEqual(Math.fround(Number(shorter)), Math.fround(value));
  }
});

test('the nearest vector belongs to the text that a person would call the most similar', async () => {
  const pairs = [
    ['How do I reset my password?', 'I forgot my pasword and want to reset it'],
    ['Best pizza restaurants in Naples', 'restaurant for pizza near naples'],
    ['The cat sat on the mat', 'cats sitting on mats'],
    ['Stock markets fall on inflation fears', 'inflation fears push the stock market down'],
    ['Return policy for damaged items', 'returning an item that was damaged'],
    ['Weather forecast for Berlin tomorrow', "tomorrow's wether in Berlin"],
    ['Installing PostgreSQL on Ubuntu', 'how to install postgres under ubuntu linux'],
    ['JavaScript array sorting', 'sort arrays in javascript'],
    ['Opening hours of the public library', 'when does the library open'],
    ['The president signed the treaty', 'treaty signing by the presidents'],
    ['Recipe for chocolate cake', 'choclate cake recipes'],
    ['Train timetable from Paris to Lyon', 'trains paris lyon timetables'],
    ['Symptoms of the common cold', 'common cold symptom list'],
    ['Cancel my subscription', 'how can I cancel subscriptions'],
    ['東京の今日の天気', '今日の東京は天気がいい'],
    ['大阪のおいしいラーメン屋', '大阪でラーメンを食べる'],
    ['Где находится ближайшая аптека', 'ближайшие аптеки рядом'],
    ['Straße nach München', 'strassen in MÜNCHEN'],
  ] as const;
  const questions = await embed(pairs.map(([question]) => question));
  const texts = await embed(pairs.map(([, text]) => text));
  for (const [index, question] of questions.entries()) {
    const likeness = texts.map((text) => dot(question, text));
    assert.equal(likeness.indexOf(Math.max(...likeness)), index, String(pairs[index]));
  }
});

test('a different word order gives a nearby but different vector', async () => {
  const [first = [], second = [], third = []] = await embed(['dog bites man', 'man bites dog', 'rain in spain']);
  assert.ok(dot(first, second) > 0.7);
  assert.ok(dot(first, second) < 0.99);
  assert.ok(dot(first, third) < 0.3);
});

test('an empty text gets the first unit vector', async () => {
  const [empty, blank, one] = await embed(['', ' \n ', 'word'], { dimensions: 4 });
  assert.deepEqual(empty, [1, 0, 0, 0]);
  assert.deepEqual(blank, empty);
  assertUnit(one);
});

test('gives identical bytes for identical requests, on every machine', async () => {
  const request = {
    model: 'local/hash-embed',
    input: ['The quick brown fox', '東京 🎉 naïve Straße', ''],
    dimensions: 64,
  };
  const { text } = await ask<Embeddings>(embedByHash, request);
  assert.equal(digest(text), '66ada8e92459e108');
});

test('the vector of a text does not depend on the other inputs of the request', async () => {
  const [alone] = await embed('a lonely text');
  const many = await embed([...Array.from({ length: 500 }, (_, at) => `filler ${at}`), 'a lonely text']);
  assert.deepEqual(many[500], alone);
});

test('decodes inputs of token IDs to their text', async () => {
  const [hello, again] = await embed(['Hello world', ' again']);
  assert.deepEqual(await embed([9906, 1917]), [hello]);
  assert.deepEqual(await embed([[9906, 1917], [1578]]), [hello, again]);
  assert.deepEqual(await embed([' again', [9906, 1917]]), [again, hello]);
});

test('refuses numbers that are not token IDs', async () => {
  for (const input of [[100_300], [[1], [-1]], [1.5], [[1e300]]]) {
    const { status, json } = await ask(embedByHash, { input });
    assert.equal(status, 400);
    assert.equal(json.error.param, 'input');
    assert.match(json.error.message, /no token ID of cl100k_base; send text/);
  }
});

test('refuses a body over the size limit before parsing it', async () => {
  const { status, json } = await ask(embedByHash, { input: 'x'.repeat(8 * 1024 * 1024) });
  assert.equal(status, 413);
  assert.equal(json.error.code, 'body_too_large');
  assert.match(json.error.message, /8388608 bytes.*smaller requests/);
  const many = await ask(embedByHash, { input: Array(60_000).fill('a') });
  assert.equal(many.status, 413);
  assert.match(many.json.error.message, /50000 elements in one list/);
});

test('refuses invalid input and names the field', async () => {
  const rows: [fields: object | string, param: string | null, message: RegExp][] = [
    [{}, 'input', /missing; send a text or a list of texts/],
    [{ input: null }, 'input', /missing/],
    [{ input: ['a', { image: 'x' }] }, 'input[1]', /reads text only/],
    [{ input: true }, 'input', /not a boolean/],
    [{ input: 'a', dimensions: 0 }, 'dimensions', /from 1 to 4096, not 0/],
    [{ input: 'a', dimensions: 4097 }, 'dimensions', /from 1 to 4096/],
    [{ input: 'a', dimensions: 1.5 }, 'dimensions', /whole number/],
    [{ input: 'a', dimensions: '8' }, 'dimensions', /not a text/],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format', /"float" or "base64"/],
    [{ input: Array.from({ length: 2049 }, () => 'a') }, 'input', /2049 items.*at most 2048.*split it/],
    ['{"input":', null, /not valid JSON/],
    ['[]', null, /JSON object/],
  ];
  for (const [fields, param, message] of rows) {
    const { status, json } = await ask(embedByHash, fields);
    assert.equal(status, 400);
    assert.equal(json.error.param, param);
    assert.match(json.error.message, message);
    assert.equal(typeof json.error.code, 'string');
  }
});

test('treats null as absent and ignores unknown fields', async () => {
  const plain = await embed('a');
  assert.deepEqual(
    await embed('a', { dimensions: null, encoding_format: null, user: 'me', input_type: 'query' }),
    plain,
  );
});

test('returns an empty list for an empty list', async () => {
  assert.deepEqual(await embed([]), []);
});

test('every vector is finite and of unit length, for any text', async () => {
  const texts = [
    '\ud800',
    '🎉'.repeat(1_000),
    '!!!',
    '\u0301'.repeat(5_000),
    '\ufdfa'.repeat(1_000),
    'שלום '.repeat(1_000),
    '\0',
    'x'.repeat(1_000_000),
  ];
  for (const vector of await embed(texts)) assertUnit(vector);
});

test('takes 2048 texts at once', async () => {
  const vectors = await embed(Array.from({ length: 2048 }, (_, at) => `text number ${at}`));
  assert.equal(vectors.length, 2048);
  assert.notDeepEqual(vectors[0], vectors[2047]);
});

test('yields to the event loop during a long request', async (t) => {
  await slowClock(t);
  let turns = 0;
  const count = () => {
    turns += 1;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  await embed('some words '.repeat(50_000));
  clearImmediate(pending);
  assert.ok(turns > 20, `${turns} turns`);
});

test('stops when the client disconnects', async () => {
  const leaving = new AbortController();
  const answer = embedByHash(toBody({ input: 'some words '.repeat(500_000) }), leaving.signal);
  setImmediate(() => leaving.abort());
  await assert.rejects(async () => answer, { name: 'AbortError' });
});
