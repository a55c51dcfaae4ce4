import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Usage } from '../../core/accounting/usage.ts';
import { reusedBytes } from '../../wire/connect.ts';
import { createUsageObserver } from './usage.ts';

const json = 'application/json';
const events = 'text/event-stream; charset=utf-8';

interface Observed {
  readonly type?: string;
  readonly encoding?: string;
  readonly cut?: boolean;
}

async function observe(chunks: readonly (string | Buffer)[], { type = json, encoding, cut }: Observed = {}) {
  const observer = createUsageObserver(type, encoding);
  for (const chunk of chunks) observer.push(Buffer.from(chunk));
  return observer.finish(cut);
}

const unknown: Usage = {
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
  searchUnits: null,
  cachedTokens: null,
};
const counted = (usage: Partial<Usage>): Usage => ({ ...unknown, ...usage });

/** Some megabytes of digits. */
const vectors = (count: number): string =>
  Array.from({ length: count }, (_, index) => {
    const numbers = Array.from({ length: 512 }, (_, i) => `-0.0${(index * 512 + i) % 1_000_003}`);
    return `{"object":"embedding","index":${index},"embedding":[${numbers.join(',')}]}`;
  }).join(',');

const twoTokens = '"usage":{"prompt_tokens":2,"total_tokens":3}';
const decoy = '{"text":"a","usage":{"prompt_tokens":666,"total_tokens":666},"meta":{"tokens":{"input_tokens":666}}}';

test('reads usage in every shape that upstreams use', async () => {
  const rows: readonly [answer: string, usage: Usage | null][] = [
    [
      '{"id":"cmpl-1","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}',
      counted({ promptTokens: 4, completionTokens: 1, totalTokens: 5 }),
    ],
    [
      '{"usage":{"prompt_tokens":9,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":8}}}',
      counted({ promptTokens: 9, totalTokens: 10, cachedTokens: 8 }),
    ],
    [
      '{"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}}',
      counted({ promptTokens: 9, completionTokens: 1, cachedTokens: 4 }),
    ],
    [
      '{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":-8},"prompt_cache_hit_tokens":null}}',
      counted({ promptTokens: 9 }),
    ],
    ['{"data":[],"usage":{"prompt_tokens":3,"total_tokens":3}}', counted({ promptTokens: 3, totalTokens: 3 })],
    ['{"data":[],"model":"voyage-4","usage":{"total_tokens":26}}', counted({ totalTokens: 26 })],
    [
      '{"results":[],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}',
      counted({ searchUnits: 1 }),
    ],
    ['{"embeddings":{},"meta":{"billed_units":{"input_tokens":2}}}', counted({ promptTokens: 2 })],
    [
      '{"results":[],"meta":{"tokens":{"input_tokens":12,"output_tokens":0}}}',
      counted({ promptTokens: 12, completionTokens: 0 }),
    ],
    [
      '{"meta":{"billed_units":{"input_tokens":7},"tokens":{"input_tokens":9,"output_tokens":1}}}',
      counted({ promptTokens: 7, completionTokens: 1 }),
    ],
    [
      '{"usage":{"total_tokens":1},"meta":{"billed_units":{"search_units":5}}}',
      counted({ totalTokens: 1, searchUnits: 5 }),
    ],
    [
      '{"results":[],"meta":{"billed_units":{"search_units":5}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      counted({ promptTokens: 4, totalTokens: 4, searchUnits: 5 }),
    ],
    [
      '{"results":[{"document":{"meta":{"billed_units":{"search_units":5}}}}],"usage":{"total_tokens":4}}',
      counted({ totalTokens: 4 }),
    ],
    ['{"usage":null,"meta":{"billed_units":{"search_units":5}}}', counted({ searchUnits: 5 })],
    ['{"id":"modr-1","results":[{"flagged":false}]}', null],
  ];
  for (const [answer, usage] of rows) assert.deepEqual(await observe([answer]), usage, answer);
});

test('ignores usage counts that are no non-negative safe integers', async () => {
  for (const value of ['-1', '1.5', '"3"', 'null', 'true', '[1]', '{}', '1e300']) {
    assert.equal(await observe([`{"usage":{"prompt_tokens":${value}}}`]), null, value);
    assert.deepEqual(
      await observe([`{"usage":{"prompt_tokens":${value},"total_tokens":0}}`]),
      counted({ totalTokens: 0 }),
    );
  }
  for (const usage of ['null', '7', '"usage"', '[]', '{}', '[{"total_tokens":1}]']) {
    assert.equal(await observe([`{"usage":${usage},"other":"usage"}`]), null, usage);
  }
});

test('finds usage before, between and after megabytes of vectors and white space', async () => {
  const data = `"data":[${vectors(400)}]`;
  const expected = counted({ promptTokens: 2, totalTokens: 3 });
  const answers = [
    `{"object":"list",${data},"model":"m",${twoTokens}}`,
    `{"object":"list",${twoTokens},${data},"model":"m"}`,
    `{\n  "object" : "list",\n  ${data},\n  "usage" :\n\t{ "prompt_tokens" : 2, "total_tokens" : 3 }\n}\n`,
    `{\n  "usage" :\n\t{ "prompt_tokens" : 2, "total_tokens" : 3 } ,\n  ${data}\n}\n`,
  ];
  for (const answer of answers) {
    assert.deepEqual(await observe([answer]), expected);
    const halves = [answer.slice(0, answer.length / 2), answer.slice(answer.length / 2)];
    assert.deepEqual(await observe(halves), expected);
  }
  assert.deepEqual(
    await observe([`{${data},"texts":["a"],"meta":{"billed_units":{"input_tokens":9}}}`]),
    counted({ promptTokens: 9 }),
  );
  assert.equal(await observe([`{${data},"model":"m"}`]), null);
});

test('reads usage correctly although the buffers of long chunks are overwritten after each push', () => {
  const numbers = `"data":[${'0.5,'.repeat(100_000)}0.5]`;
  for (const body of [
    `{${twoTokens},${numbers}}`,
    `{${numbers},${twoTokens}}`,
    `{"a":1,${numbers},${twoTokens},"b":"${'x'.repeat(9_000)}"}`,
  ]) {
    const observer = createUsageObserver(json, undefined);
    assert.equal(observer.keepsNothing, true);
    for (let start = 0; start < body.length; start += 20_000) {
      const chunk = Buffer.from(body.slice(start, start + 20_000));
      observer.push(chunk);
      if (chunk.length >= reusedBytes) chunk.fill(0x20);
    }
    assert.deepEqual(observer.finish(), counted({ promptTokens: 2, totalTokens: 3 }));
  }
});

test('ignores usage inside a document that the upstream returned', async () => {
  const filler = `"filler":[${vectors(20)}]`;
  const own = counted({ promptTokens: 2, totalTokens: 3 });
  const rows: readonly [answer: string, usage: Usage | null][] = [
    [`{"results":[{"document":${decoy}}]}`, null],
    [`{"results":[{"document":${decoy}}],${twoTokens}}`, own],
    [`{${twoTokens},"results":[{"document":${decoy}}]}`, own],
    [`{${filler},"results":[{"document":${decoy}}]}`, null],
    [`{"results":[{"document":${decoy}}],${filler}}`, null],
    [`{${twoTokens},"results":[{"document":${decoy}}],${filler}}`, own],
    [`{"results":[{"document":${decoy}}],${twoTokens},${filler}}`, own],
    [`{${filler},${twoTokens},"results":[{"document":${decoy}},{"document":${decoy}}]}`, own],
    [`{${filler},"other":${decoy}}`, null],
    [`{${filler},"text":"usage","usages":${decoy},"a":["usage"]}`, null],
    [`[${decoy}]`, null],
    [`{${filler},"text":${JSON.stringify(`a, ${twoTokens}}`)}}`, null],
    [`{${filler},"odd\\"usage":{"total_tokens":666}}`, null],
  ];
  for (const [answer, usage] of rows) assert.deepEqual(await observe([answer]), usage, answer.slice(-200));
});

test('reads nothing from malformed JSON', async () => {
  for (const answer of [
    `{"a":[],${twoTokens}`,
    `{${twoTokens}}}`,
    `{"a":1 ${twoTokens} 2}`,
    `{"a":1,${twoTokens},}`,
    '',
  ]) {
    assert.equal(await observe([answer]), null, answer);
  }
});

test('reads usage of a truncated answer only where it precedes the rest, not inside a returned document', async () => {
  const filler = `"filler":[${vectors(20)}]`;
  const looksWhole = `{${filler},"results":[{"document":${decoy.slice(0, decoy.indexOf(',"meta"'))}}`;
  assert.notEqual(await observe([looksWhole]), null);
  assert.equal(await observe([looksWhole], { cut: true }), null);
  const head = `{${twoTokens},${filler},"results":[{"document":${decoy}`;
  assert.deepEqual(await observe([head], { cut: true }), counted({ promptTokens: 2, totalTokens: 3 }));
  assert.equal(await observe(['{"usage":{"total_tokens":12'], { cut: true }), null);
});

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const words = (usage: unknown) => ({ choices: [{ text: 'a "usage":{"total_tokens":666} b' }], usage });

test('reads the last usage of a stream', async () => {
  const last = event(words({ prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 }));
  const nulls = event(words(null)).repeat(300);
  const expected = counted({ promptTokens: 4, completionTokens: 2, totalTokens: 6 });
  const first = event(words({ prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 }));
  const streams = [
    `${nulls}${last}data: [DONE]\n\n`,
    `${nulls}${last.trimEnd()}`,
    `${first}${last}${nulls.slice(0, 2000)}`,
    `${first}${last}data: [DONE]\n\n: keep-alive\n\n`,
    `${first}${last}data: {"choices":[],"usage":{"prompt_to`,
    `${first}${last}`.replaceAll('\n', '\r\n'),
    `${first}${last}`.replaceAll('data: ', 'data:'),
    `event: usage\nid: 1\n${last}`,
  ];
  for (const stream of streams) {
    assert.deepEqual(await observe([stream], { type: events }), expected, stream.slice(-100));
    assert.deepEqual(await observe([stream], { type: events, cut: true }), expected);
  }
});

test('reads the usage of a stream with any line ends, and with data on several lines', async () => {
  const usage = ['"usage":{"prompt_tokens":2,', '"completion_tokens":3,', '"total_tokens":5}}'];
  const expected = counted({ promptTokens: 2, completionTokens: 3, totalTokens: 5 });
  for (const end of ['\n', '\r\n', '\r']) {
    for (const between of ['', end, `${end}data:`, `${end}data: `]) {
      const first = `data: {"choices":[{"text":"\u00e9 usage"}],"usage":null}${end}${end}`;
      const last = `event: message${end}data: {"choices":[],${usage.join(between)}${end}${end}`;
      const stream = `${first.repeat(500)}${last}data: [DONE]${end}${end}`;
      const isField = between === '' || between !== end;
      assert.deepEqual(await observe([stream], { type: events }), isField ? expected : null, JSON.stringify(between));
    }
  }
});

test('reads usage nested in stream events of other APIs, with any line ends and data on several lines', async () => {
  const many = (text: string): string => `data: ${JSON.stringify({ delta: { text } })}\n\n`.repeat(500);
  const counts = '{"input_tokens":2,\n"output_tokens":3}';
  const streams = [
    [
      'message',
      `data: {"message":{"usage":{"input_tokens":2,\n"output_tokens":1}}}`,
      'data: {"usage":{"output_tokens":3}}',
    ],
    ['chunks', '', 'data: {"usageMetadata":{"promptTokenCount":2,\n"candidatesTokenCount":3}}'],
    ['delta', '', `data: {"delta":{"usage":${counts}}}`],
    ['interaction', '', `data: {"interaction":{"usage":${counts}}}`],
    ['response', '', `data: {"response":{"usage":${counts}}}`],
  ] as const;
  for (const [countsIn, first, last] of streams) {
    for (const end of ['\n', '\r\n', '\r']) {
      for (const between of ['', `${end}data:`]) {
        const inLines = (event: string): string => `${event.replace('\n', between)}${end}${end}`;
        const stream = inLines(first) + many('a').replaceAll('\n', end) + inLines(last);
        const observer = createUsageObserver(events, undefined, undefined, { countsIn, counting: 'contents' });
        observer.push(Buffer.from(stream));
        const usage = await observer.finish();
        const which = `${countsIn} ${JSON.stringify([end, between])}`;
        assert.deepEqual([usage?.promptTokens, usage?.completionTokens], [2, 3], which);
      }
    }
  }
});

test('reads the last value of each count in a stream of chunks, also from an unterminated last line', async () => {
  const chunk = (usageMetadata: object) => event({ candidates: [], usageMetadata });
  const chunks = [
    chunk({ promptTokenCount: 4, candidatesTokenCount: 1, totalTokenCount: 5 }),
    chunk({ candidatesTokenCount: 2, totalTokenCount: 6 }),
  ].join('');
  for (const stream of [chunks, chunks.trimEnd(), chunks.replaceAll('\n', '\r\n')]) {
    const observer = createUsageObserver(events, undefined, undefined, { countsIn: 'chunks', counting: 'contents' });
    observer.push(Buffer.from(stream));
    const usage = await observer.finish();
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens, usage?.totalTokens], [4, 2, 6], stream.slice(-20));
  }
});

test('reads nothing from a stream without usage', async () => {
  const streams = [
    `${event(words(null)).repeat(300)}data: [DONE]\n\n`,
    event({ choices: [{ usage: { total_tokens: 666 } }] }),
    event({ interaction: { usage: { total_tokens: 666 } } }),
    `: "usage" ${twoTokens}\nevent: {${twoTokens}}\n\n`,
    event({ choices: [], usage: {} }),
    '',
  ];
  for (const stream of streams) assert.equal(await observe([stream], { type: events }), null, stream.slice(-100));
});

const encoders = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'Deflate ': deflateRawSync,
  zstd: zstdCompressSync,
};

test('counts generated text by other field names in whole answers than in stream events', () => {
  const texts = { names: { whole: ['text'], events: ['delta'] }, areMany: false };
  for (const [type, body] of [
    [json, '{"text":"four","delta":"-"}'],
    [events, event({ delta: 'four', text: '-' })],
  ] as const) {
    const observer = createUsageObserver(type, undefined, texts);
    observer.push(Buffer.from(body));
    assert.equal(observer.written()?.bytes, 4, type);
  }
});

test('reads compressed answers and streams', async () => {
  const answer = `{"data":[${vectors(20)}],${twoTokens}}`;
  const stream = `${event(words(null)).repeat(300)}data: {${twoTokens}}\r\n\r\ndata: [DONE]\r\n\r\n`;
  const expected = counted({ promptTokens: 2, totalTokens: 3 });
  for (const [encoding, encode] of Object.entries(encoders)) {
    for (const [type, text] of [
      [json, answer],
      [events, stream],
    ] as const) {
      const compressed = encode(text);
      const chunks = Array.from({ length: Math.ceil(compressed.length / 1000) }, (_, i) =>
        compressed.subarray(i * 1000, i * 1000 + 1000),
      );
      assert.deepEqual(await observe(chunks, { type, encoding }), expected, `${type} ${encoding}`);
    }
  }
});

test('reads nothing from a compressed answer that is truncated, damaged or of another format', async () => {
  const answer = `{"data":[${vectors(10)}],${twoTokens}}`;
  for (const [encoding, encode] of Object.entries(encoders)) {
    const whole = encode(answer);
    for (const length of [1, 5, whole.length >> 1, whole.length - 1]) {
      assert.equal(await observe([whole.subarray(0, length)], { encoding }), null, `${encoding} cut at ${length}`);
    }
    const damaged = Buffer.from(whole).fill(0xff, whole.length >> 1, (whole.length >> 1) + 100);
    assert.equal(await observe([damaged], { encoding }), null, `${encoding} damaged`);
    assert.equal(await observe([answer, answer], { encoding }), null, `${encoding} plain`);
    assert.equal(await observe([], { encoding }), null, `${encoding} empty`);
  }
});

test('reports the uncompressed length of an answer, also if it broke off', async () => {
  const text = `data: {"text":"${'x'.repeat(50_000)}"}\n\n`;
  for (const [body, cut] of [
    [gzipSync(text), false],
    [Buffer.concat([gzipSync(text), gzipSync(text).subarray(0, 20)]), true],
  ] as const) {
    const observer = createUsageObserver(events, 'gzip');
    observer.push(body);
    await observer.finish(cut);
    assert.ok((observer.decodedLength() ?? 0) >= text.length, String(observer.decodedLength()));
  }
  const plain = createUsageObserver(events, undefined);
  plain.push(Buffer.from(text));
  await plain.finish();
  assert.equal(plain.decodedLength(), undefined);
});

test('gives up on a compressed answer that expands without bound', async () => {
  const mebibyte = gzipSync(Buffer.alloc(1024 * 1024, ' '));
  const bomb = Buffer.concat([...Array.from({ length: 257 }, () => mebibyte), gzipSync(`{${twoTokens}}`)]);
  assert.equal(await observe([bomb], { encoding: 'gzip' }), null);
});

test('gives up on a compressed answer that arrives faster than it can be read', async () => {
  const stored = (bytes: number): Buffer => gzipSync(`{"a":"${'x'.repeat(bytes)}",${twoTokens}}`, { level: 0 });
  const inChunks = (body: Buffer): Buffer[] =>
    Array.from({ length: Math.ceil(body.length / 65_536) }, (_, i) => body.subarray(i * 65_536, (i + 1) * 65_536));
  const expected = counted({ promptTokens: 2, totalTokens: 3 });
  assert.deepEqual(await observe(inChunks(stored(4_000_000)), { encoding: 'gzip' }), expected);
  assert.equal(await observe(inChunks(stored(12_000_000)), { encoding: 'gzip' }), null);
});

test('uses one shared no-op observer for media types and encodings that cannot be read', () => {
  const blind = createUsageObserver('text/html', undefined);
  blind.push(Buffer.from(`{${twoTokens}}`));
  assert.equal(blind.finish(), null);
  for (const [type, encoding] of [
    [undefined, undefined],
    ['application/octet-stream', undefined],
    ['audio/mpeg', 'gzip'],
    [json, 'gzip, br'],
    [json, 'compress'],
    [json, 'constructor'],
  ] as const) {
    assert.equal(createUsageObserver(type, encoding), blind, `${type} ${encoding}`);
  }
});

test('reads JSON under every JSON media type', async () => {
  for (const type of [
    ...['application/json; charset=utf-8', 'Application/JSON', 'application/problem+json'],
    ...['text/plain; charset=utf-8', 'text/json'],
  ]) {
    assert.notEqual(await observe([`{${twoTokens}}`], { type, encoding: 'identity' }), null, type);
  }
});

test('gives the same result for any chunk boundaries', async () => {
  const answers: readonly [text: string, type: string][] = [
    [`{"results":[{"document":${decoy}}],${twoTokens},"é":"€"}`, json],
    [`{"data":[${vectors(6)}],${twoTokens}}`, json],
    [`{${twoTokens},"data":[${vectors(6)}],"other":${decoy}}`, json],
    [`${event(words(null)).repeat(250)}data: {${twoTokens}}\n\n${event(words(null)).repeat(150)}`, events],
    // Just within and just outside the kept part: the same result for all chunkings.
    [`{"a":[${vectors(5)}],${twoTokens},"z":"${'z'.repeat(16_330)}"}`, json],
    [`{"a":[${vectors(5)}],${twoTokens},"z":"${'z'.repeat(16_350)}"}`, json],
    [`{"a":"${'a'.repeat(4040)}",${twoTokens},"z":[${vectors(6)}]}`, json],
    [`{"a":"${'a'.repeat(4060)}",${twoTokens},"z":[${vectors(6)}]}`, json],
  ];
  for (const [text, type] of answers) {
    const body = Buffer.from(text);
    const expected = await observe([body], { type });
    for (let at = 0; at <= body.length; at += isTelling(at, body.length) ? 1 : 97) {
      const observer = createUsageObserver(type, undefined);
      observer.push(body.subarray(0, at));
      observer.push(body.subarray(at));
      assert.deepEqual(observer.finish(), expected, `cut at ${at} of ${text.slice(0, 40)}`);
    }
    for (const size of [1, 3, 100, 1000, 4096]) {
      const observer = createUsageObserver(type, undefined);
      for (let at = 0; at < body.length; at += size) observer.push(body.subarray(at, at + size));
      assert.deepEqual(observer.finish(), expected, `chunks of ${size} of ${text.slice(0, 40)}`);
    }
  }
});

/** Every offset near the ends and near the limits of the kept part is tried. */
function isTelling(at: number, length: number): boolean {
  return [0, 4096, length - 16_384, length].some((path) => Math.abs(at - path) < 300);
}

test('adds tokens of usage iterations that the total leaves out, and marks those of another model', async () => {
  const usageOf = (iterations: readonly object[]) => {
    const counted = { input_tokens: 10, output_tokens: 5, iterations };
    const observer = createUsageObserver('application/json', undefined);
    observer.push(Buffer.from(JSON.stringify({ content: [], usage: counted })));
    return observer.finish();
  };
  const own = { type: 'message', input_tokens: 10, output_tokens: 5 };
  const shorter = { type: 'compaction', input_tokens: 100, output_tokens: 30, cache_read_input_tokens: 7 };
  const said = await usageOf([shorter, own]);
  assert.deepEqual(
    [said?.promptTokens, said?.completionTokens, said?.cachedTokens, said?.isOfOthers],
    [117, 35, 7, undefined],
  );
  const advised = await usageOf([own, { type: 'advisor_message', model: 'other', input_tokens: 3, output_tokens: 2 }]);
  assert.deepEqual([advised?.promptTokens, advised?.completionTokens, advised?.isOfOthers], [13, 7, true]);
  assert.equal((await usageOf([own]))?.promptTokens, 10);
});
