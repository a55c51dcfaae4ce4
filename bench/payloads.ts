/** The benchmark's payloads, one per row: request bytes, response bytes, and the number of connections. */

export interface Payload {
  readonly name: string;
  readonly title: string;
  readonly operation: 'completions' | 'rerank' | 'moderations' | 'embeddings' | 'chat' | 'transcriptions';
  /** What clients call, and what the gateway calls under the upstream's base URL. */
  readonly path: string;
  /** Holds `firstCounter` once; what is sent holds another number there each time. */
  readonly request: Buffer;
  readonly requestType: string;
  /** The offset of the number. */
  readonly counterAt: number;
  readonly contentType: string;
  readonly answer: Buffer;
  /** Ends of the answer's events within it: sent as one chunk each. */
  readonly eventEnds?: readonly number[];
  readonly connections: number;
  /** Whether the upstream is spoken to over TLS. */
  readonly overTls?: boolean;
}

export const model = 'bench-model';

/** Ten digits, and ten remain for as long as a run can last; it is one token among others if the request consists of tokens. */
export const firstCounter = 1_000_000_000;

/** The same on every run: rows of two runs must hold the same bytes. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = createRandom(20_260_101);

const words = 'the query of a user finds documents by meaning not by letters and each passage has its own score'.split(
  ' ',
);

function toText(bytes: number): string {
  let text = '';
  while (text.length < bytes) text += `${words[Math.floor(random() * words.length)]} `;
  return text.slice(0, bytes);
}

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Written out, not stringified: an upstream's digits, nine behind the point. */
function toVector(dimensions: number): string {
  return `[${list(dimensions, () => ((random() - 0.5) / 4).toFixed(9)).join(',')}]`;
}

/** The same vectors as bytes. */
function toBase64Vector(dimensions: number): string {
  const floats = Float32Array.from(list(dimensions, () => (random() - 0.5) / 4));
  return `"${Buffer.from(floats.buffer).toString('base64')}"`;
}

function embeddingsAnswer(count: number, dimensions: number, write = toVector): Buffer {
  const items = list(count, (index) => `{"object":"embedding","index":${index},"embedding":${write(dimensions)}}`).join(
    ',',
  );
  return Buffer.from(
    `{"object":"list","data":[${items}],"model":"${model}","usage":{"prompt_tokens":${count * 8},"total_tokens":${count * 8}}}`,
  );
}

function rerankAnswer(count: number): Buffer {
  const results = list(count, (index) => ({ index, relevance_score: Number(random().toFixed(9)) }));
  return json({ id: 'rerank-bench', model, results, usage: { total_tokens: 1234 } });
}

function moderationsAnswer(): Buffer {
  const names =
    'harassment harassment/threatening hate hate/threatening illicit illicit/violent self-harm self-harm/intent ' +
    'self-harm/instructions sexual sexual/minors violence violence/graphic';
  const each = <Value>(make: () => Value): Record<string, Value> =>
    Object.fromEntries(names.split(' ').map((name) => [name, make()]));
  return json({
    id: 'modr-bench',
    model,
    results: [{ flagged: false, categories: each(() => false), category_scores: each(random) }],
  });
}

function completionsAnswer(): Buffer {
  return json({
    id: 'cmpl-bench',
    object: 'text_completion',
    created: 1_767_225_600,
    model,
    choices: [{ index: 0, text: toText(200), logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12_000, completion_tokens: 40, total_tokens: 12_040 },
  });
}

interface EventStream {
  readonly answer: Buffer;
  readonly eventEnds: readonly number[];
}

function completionStream(count: number): EventStream {
  const chunk = (text: string, more: object): object => ({
    id: 'cmpl-bench',
    object: 'text_completion',
    created: 1_767_225_600,
    model,
    choices: [{ index: 0, text, logprobs: null, finish_reason: null }],
    ...more,
  });
  const usage = { prompt_tokens: 8, completion_tokens: count - 2, total_tokens: count + 6 };
  return toStream(list(count - 1, (index) => chunk(toText(5), index === count - 2 ? { usage } : {})));
}

function chatAnswer(): Buffer {
  return json({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_767_225_600,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: toText(400), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: chatUsage(90),
  });
}

const chatUsage = (completionTokens: number): object => ({
  prompt_tokens: 240,
  completion_tokens: completionTokens,
  total_tokens: 240 + completionTokens,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

/** As services send it if usage is requested: the role, the texts, the end, the usage, `[DONE]`. */
function chatStream(count: number): EventStream {
  const chunk = (choices: readonly object[], usage: object | null): object => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model,
    choices,
    usage,
  });
  const delta = (inner: object, reason: string | null = null): object =>
    chunk([{ index: 0, delta: inner, logprobs: null, finish_reason: reason }], null);
  return toStream([
    delta({ role: 'assistant', content: '', refusal: null }),
    ...list(count - 4, () => delta({ content: toText(5) })),
    delta({}, 'stop'),
    chunk([], chatUsage(count - 4)),
  ]);
}

function toStream(chunks: readonly object[]): EventStream {
  const events = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
  let end = 0;
  const eventEnds = events.map((event) => {
    end += Buffer.byteLength(event);
    return end;
  });
  return { answer: Buffer.from(events.join('')), eventEnds };
}

const boundary = 'bench-boundary-0123456789';

/** A form as SDKs of Python write it: the texts first, then the file. */
function uploadOf(fileBytes: number): Buffer {
  const part = (head: string, value: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name=${head}\r\n\r\n${value}\r\n`;
  const file = Buffer.alloc(fileBytes);
  for (let at = 0; at + 4 <= fileBytes; at += 4) file.writeUInt32LE(Math.floor(random() * 2 ** 32), at);
  return Buffer.concat([
    Buffer.from(part('"prompt"', String(firstCounter)) + part('"model"', model)),
    Buffer.from(part('"file"; filename="a.mp3"\r\nContent-Type: audio/mpeg', '').slice(0, -2)),
    file,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}

/** JSON within JSON within JSON: every second byte is a backslash or a quote. */
function escapeHeavyText(bytes: number): string {
  const row = JSON.stringify({ path: 'C:\\a\\b', quote: '"x"', lines: 'a\n\tb' });
  const twice = JSON.stringify(JSON.stringify({ row }));
  return twice.repeat(Math.ceil(bytes / JSON.stringify(twice).length));
}

type Derived = 'path' | 'connections' | 'contentType' | 'requestType' | 'counterAt';

function define(row: Omit<Payload, Derived> & Partial<Payload>): Payload {
  const counterAt = row.request.indexOf(String(firstCounter));
  const types = { contentType: 'application/json', requestType: 'application/json' };
  return { path: `/v1/${row.operation}`, connections: 64, ...types, counterAt, ...row };
}

/** A text that is another in every request. */
const toCountedText = (bytes: number): string => `${firstCounter} ${toText(bytes - 11)}`;

const toCountedTexts = (length: number, bytes: number): string[] =>
  list(length, (index) => (index === 0 ? toCountedText(bytes) : toText(bytes)));

export const payloads: readonly Payload[] = [
  define({
    name: 'rerank-10',
    title: 'rerank, 10 documents of 100 bytes',
    operation: 'rerank',
    request: json({ model, query: toCountedText(40), documents: list(10, () => toText(100)) }),
    answer: rerankAnswer(10),
  }),
  define({
    name: 'moderation-1',
    title: 'moderation, 1 text',
    operation: 'moderations',
    request: json({ model, input: toCountedText(200) }),
    answer: moderationsAnswer(),
  }),
  define({
    name: 'embed-1',
    title: 'embeddings, 1 text, one vector of 1536',
    operation: 'embeddings',
    request: json({ model, input: toCountedText(60) }),
    answer: embeddingsAnswer(1, 1536),
  }),
  define({
    name: 'embed-1-tls',
    title: 'embeddings, 1 text, one vector of 1536, the upstream over TLS',
    operation: 'embeddings',
    request: json({ model, input: toCountedText(60) }),
    answer: embeddingsAnswer(1, 1536),
    overTls: true,
  }),
  define({
    name: 'embed-1-known',
    title: 'embeddings, 1 text that is the same each time, one vector of 1536',
    operation: 'embeddings',
    request: json({ model, input: toText(60), user: `${firstCounter}` }),
    answer: embeddingsAnswer(1, 1536),
  }),
  define({
    name: 'embed-100',
    title: 'embeddings, 100 texts, vectors of 1536',
    operation: 'embeddings',
    request: json({ model, input: toCountedTexts(100, 200) }),
    answer: embeddingsAnswer(100, 1536),
    connections: 8,
  }),
  define({
    name: 'embed-base64',
    title: 'embeddings, 230 texts, vectors of 1536 in base64',
    operation: 'embeddings',
    request: json({ model, input: toCountedTexts(230, 200), encoding_format: 'base64' }),
    answer: embeddingsAnswer(230, 1536, toBase64Vector),
    connections: 8,
  }),
  define({
    name: 'embed-2048-in',
    title: 'embeddings, 2048 texts, vectors of one number (the request side, mostly)',
    operation: 'embeddings',
    request: json({ model, input: toCountedTexts(2048, 40) }),
    answer: embeddingsAnswer(2048, 1),
  }),
  define({
    name: 'embed-2048',
    title: 'embeddings, 2048 texts, vectors of 256',
    operation: 'embeddings',
    request: json({ model, input: toCountedTexts(2048, 40), dimensions: 256 }),
    answer: embeddingsAnswer(2048, 256),
    connections: 8,
  }),
  define({
    name: 'embed-tokens',
    title: 'embeddings, a token array of 64 KB, one vector of 1536',
    operation: 'embeddings',
    request: json({ model, input: [firstCounter, ...list(11_000, () => 10_000 + Math.floor(random() * 90_000))] }),
    answer: embeddingsAnswer(1, 1536),
  }),
  define({
    name: 'rerank-100',
    title: 'rerank, 100 documents of 1 KB',
    operation: 'rerank',
    request: json({ model, query: toCountedText(40), documents: list(100, () => toText(1024)) }),
    answer: rerankAnswer(100),
  }),
  define({
    name: 'sse-200',
    title: 'completions, 200 events, a chunk each',
    operation: 'completions',
    request: json({ model, prompt: toCountedText(60), stream: true }),
    contentType: 'text/event-stream',
    ...completionStream(200),
  }),
  define({
    name: 'escapes',
    title: 'completions, a prompt of escape-heavy JSON, 64 KB',
    operation: 'completions',
    request: json({ model, prompt: `${firstCounter}${escapeHeavyText(64 * 1024)}` }),
    answer: completionsAnswer(),
  }),
  define({
    name: 'chat-1',
    title: 'chat, messages of 1 KB',
    operation: 'chat',
    path: '/v1/chat/completions',
    request: json({
      model,
      messages: [
        { role: 'system', content: toText(300) },
        { role: 'user', content: toCountedText(700) },
      ],
    }),
    answer: chatAnswer(),
  }),
  define({
    name: 'chat-sse-200',
    title: 'chat, 200 events, a chunk each',
    operation: 'chat',
    path: '/v1/chat/completions',
    request: json({
      model,
      messages: [{ role: 'user', content: toCountedText(60) }],
      stream: true,
      stream_options: { include_usage: true },
    }),
    contentType: 'text/event-stream',
    ...chatStream(200),
  }),
  define({
    name: 'upload-10mb',
    title: 'transcription, a form with a file of 10 MB',
    operation: 'transcriptions',
    path: '/v1/audio/transcriptions',
    request: uploadOf(10_000_000),
    requestType: `multipart/form-data; boundary=${boundary}`,
    answer: json({ text: toText(400), usage: { type: 'duration', seconds: 312 } }),
    connections: 8,
  }),
];
