import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, digest, readParts, toBody } from '../../../test/support/local-models.ts';
import { chatByEcho, completeByEcho, editByInstruction } from './echo.ts';

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly text: string;
    readonly index: number;
    readonly logprobs: null;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Usage | null;
}

interface Edited {
  readonly object: string;
  readonly created: number;
  readonly choices: readonly { readonly text: string; readonly index: number }[];
  readonly usage: Usage;
}

async function complete(fields: object): Promise<Completion> {
  const { status, json, text } = await ask<Completion>(completeByEcho, { model: 'local/echo', ...fields });
  assert.equal(status, 200, text.slice(0, 200));
  return json;
}

async function stream(fields: object): Promise<{ chunks: Completion[]; events: string[] }> {
  const { headers, text } = await ask(completeByEcho, { model: 'local/echo', stream: true, ...fields });
  assert.equal(headers.get('content-type'), 'text/event-stream');
  const events = text.split('\n\n').map((event) => event.replace(/^data: /, ''));
  assert.equal(events.pop(), '');
  assert.equal(events.pop(), '[DONE]');
  return { events, chunks: events.map((event): Completion => JSON.parse(event)) };
}

const texts = ({ choices }: Completion): string[] => choices.map(({ text }) => text);

test('a completion repeats the prompt, in the OpenAI shape', async () => {
  const answer = await complete({ model: 'my-name', prompt: 'Say this again' });
  assert.match(answer.id, /^cmpl-[0-9a-f]{24}$/);
  assert.deepEqual(answer, {
    id: answer.id,
    object: 'text_completion',
    created: 1_767_225_600,
    model: 'my-name',
    choices: [{ text: 'Say this again', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
  });
});

test('a completion stops after max_tokens words, 16 by default, with finish_reason length', async () => {
  const prompt = Array.from({ length: 20 }, (_, at) => `w${at}`).join(' ');
  const byDefault = await complete({ prompt });
  assert.equal(byDefault.choices[0]?.text, prompt.split(' ').slice(0, 16).join(' '));
  assert.equal(byDefault.choices[0]?.finish_reason, 'length');
  assert.deepEqual(byDefault.usage, { prompt_tokens: 20, completion_tokens: 16, total_tokens: 36 });

  const rows: [maxTokens: number | null, text: string, reason: string][] = [
    [0, '', 'length'],
    [1, '  a', 'length'],
    [2, '  a\n\tb', 'length'],
    [3, '  a\n\tb c  ', 'stop'],
    [4, '  a\n\tb c  ', 'stop'],
    [null, '  a\n\tb c  ', 'stop'],
  ];
  for (const [max_tokens, text, reason] of rows) {
    const { choices } = await complete({ prompt: '  a\n\tb c  ', max_tokens });
    assert.deepEqual([choices[0]?.text, choices[0]?.finish_reason], [text, reason]);
  }
});

test('a completion has n choices per prompt, in the order of prompts', async () => {
  const answer = await complete({ prompt: ['a', 'b c'], n: 2 });
  assert.deepEqual(texts(answer), ['a', 'a', 'b c', 'b c']);
  assert.deepEqual(
    answer.choices.map(({ index }) => index),
    [0, 1, 2, 3],
  );
  assert.deepEqual(answer.usage, { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
});

test('a completion begins with the prompt if echo is set', async () => {
  assert.deepEqual(texts(await complete({ prompt: 'one two', max_tokens: 1, echo: true })), ['one twoone']);
});

test('a completion ends before the first stop sequence', async () => {
  const rows: [stop: unknown, text: string, reason: string][] = [
    ['c', 'a b ', 'stop'],
    [['d', 'b'], 'a ', 'stop'],
    ['zzz', 'a b c d', 'stop'],
    [null, 'a b c d', 'stop'],
    ['', 'a b c d', 'stop'],
    ['a', '', 'stop'],
  ];
  for (const [stop, text, reason] of rows) {
    const { choices } = await complete({ prompt: 'a b c d', stop });
    assert.deepEqual([choices[0]?.text, choices[0]?.finish_reason], [text, reason]);
  }
  // Cut by length before the stop sequence.
  const { choices } = await complete({ prompt: 'a b c d', stop: 'd', max_tokens: 2 });
  assert.deepEqual([choices[0]?.text, choices[0]?.finish_reason], ['a b', 'length']);
});

test('an empty prompt gives an empty completion, and an empty list of prompts gives none', async () => {
  const empty = await complete({ prompt: '' });
  assert.deepEqual(texts(empty), ['']);
  assert.deepEqual(empty.usage, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  assert.deepEqual(texts(await complete({ prompt: [] })), []);
});

test('a stream has one word per event, and a finish_reason per choice', async () => {
  const { chunks } = await stream({ prompt: ['one two  three ', 'four'], max_tokens: 3 });
  assert.deepEqual(
    chunks.map(({ choices }) => choices.map(({ text, index, finish_reason }) => [index, text, finish_reason])),
    [
      [[0, 'one', null]],
      [[0, ' two', null]],
      [[0, '  three ', null]],
      [[0, '', 'stop']],
      [[1, 'four', null]],
      [[1, '', 'stop']],
    ],
  );
  const [first] = chunks;
  assert.equal(first?.object, 'text_completion');
  assert.ok(
    chunks.every(({ id, created, model }) => id === first?.id && created === first.created && model === first.model),
  );
  assert.ok(chunks.every((chunk) => !('usage' in chunk)));
});

test('a stream has the same text as the plain response', async () => {
  for (const fields of [
    { prompt: ' a  b\n' },
    { prompt: 'a b c', echo: true, max_tokens: 2 },
    { prompt: '   ' },
    { prompt: '' },
    { prompt: 'a b c', stop: 'b' },
  ]) {
    const whole = await complete(fields);
    const { chunks } = await stream(fields);
    assert.deepEqual(chunks.flatMap(texts).join(''), texts(whole).join(''));
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, whole.choices[0]?.finish_reason);
  }
});

test('a stream ends with usage on request, and then every other chunk has usage null', async () => {
  const { chunks } = await stream({ prompt: 'a b c', n: 2, stream_options: { include_usage: true } });
  const last = chunks.pop();
  assert.deepEqual(last?.choices, []);
  assert.deepEqual(last?.usage, { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
  assert.ok(chunks.every(({ usage }) => usage === null));
});

test('yields to the event loop between stream events', async () => {
  const answer = await completeByEcho(toBody({ prompt: 'a b c d', stream: true }), new AbortController().signal);
  let turns = 0;
  const count = () => {
    turns += 1;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  const parts = await readParts(answer);
  clearImmediate(pending);
  assert.equal(parts.length, 6);
  assert.ok(turns >= 4, `${turns} turns`);
});

test('a stream stops when the client disconnects', async () => {
  const leaving = new AbortController();
  const answer = await completeByEcho(
    toBody({ prompt: 'a '.repeat(1_000), max_tokens: 1_000, stream: true }),
    leaving.signal,
  );
  assert.ok(!Buffer.isBuffer(answer.body));
  let events = 0;
  await assert.rejects(
    async () => {
      for await (const _ of answer.body) {
        events += 1;
        if (events === 3) leaving.abort();
      }
    },
    { name: 'AbortError' },
  );
  assert.equal(events, 3);
});

test('a completion ends before the earliest of several stop sequences, wherever it occurs in a word', async () => {
  const text = 'x'.repeat(40_000);
  for (const at of [0, 1, 16_383, 16_384, 16_390, 39_990]) {
    const prompt = `${text.slice(0, at)}END${text.slice(at)}`;
    const { json } = await ask<Completion>(completeByEcho, { prompt, stop: ['xEND!', 'ND', 'END'] });
    assert.equal(json.choices[0]?.text, text.slice(0, at));
  }
  const { status, json } = await ask(completeByEcho, { prompt: 'a', stop: 's'.repeat(1_001) });
  assert.equal(status, 400);
  assert.match(json.error.message, /more than 1000 characters/);
});

test('refuses an invalid completion request and names the field', async () => {
  const prompt = 'a';
  const rows: [fields: object, param: string, message: RegExp][] = [
    [{}, 'prompt', /missing/],
    [{ prompt: [1, 2] }, 'prompt', /token ids.*send the prompt as text/],
    [{ prompt: [[1], [2]] }, 'prompt', /token ids/],
    [{ prompt: 5 }, 'prompt', /not a number/],
    [{ prompt: ['a', true] }, 'prompt[1]', /not a boolean/],
    [{ prompt, n: 0 }, 'n', /from 1 to 128/],
    [{ prompt: Array.from({ length: 1025 }, () => 'a'), n: 2 }, 'n', /more than 2048 choices/],
    [{ prompt, max_tokens: -1 }, 'max_tokens', /at least 0, not -1/],
    [{ prompt, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /at most 4/],
    [{ prompt, stop: 5 }, 'stop', /not a number/],
    [{ prompt, stream: 'yes' }, 'stream', /true or false/],
    [{ prompt: 'x'.repeat(1_000_000), n: 2 }, 'max_tokens', /longer than 1048576 characters/],
  ];
  for (const [fields, param, message] of rows) {
    const { status, json } = await ask(completeByEcho, fields);
    assert.equal(status, 400);
    assert.equal(json.error.type, 'invalid_request_error');
    assert.equal(json.error.param, param);
    assert.match(json.error.message, message);
  }
});

test('a field of null counts as absent, and unsupported fields are ignored', async () => {
  const plain = await complete({ prompt: 'a b' });
  const more = await complete({
    prompt: 'a b',
    n: null,
    echo: null,
    suffix: 'c',
    best_of: 3,
    logprobs: 5,
    temperature: 2,
    logit_bias: {},
  });
  assert.deepEqual(more.choices, plain.choices);
});

test('a completion repeats prompts with any characters and of any length', async () => {
  for (const prompt of [
    'x'.repeat(1_000_000),
    '\ud800 x',
    '🎉 🎉',
    'שלום עולם',
    ' '.repeat(100_000),
    'a '.repeat(50_000),
    '\0',
  ]) {
    assert.deepEqual(texts(await complete({ prompt, max_tokens: 1_000_000 })), [prompt]);
  }
});

test('gives identical bytes for identical requests, on every machine', async () => {
  const fields = { model: 'local/echo', prompt: ['The quick brown fox', '東京 🎉'], n: 2, max_tokens: 3 };
  const whole = await ask<Completion>(completeByEcho, fields);
  const streamed = await ask<null>(completeByEcho, {
    ...fields,
    stream: true,
    stream_options: { include_usage: true },
  });
  const edited = await ask<Edited>(editByInstruction, {
    model: 'local/echo',
    input: 'b\na',
    instruction: 'sort lines',
  });
  assert.equal(digest(whole.text), 'c1854a40c34c4b6d');
  assert.equal(digest(streamed.text), '842830badff36780');
  assert.equal(digest(edited.text), '8ea8071dc7e0b0f4');
});

test("edits follow the instruction, and have the shape of OpenAI's former edits endpoint", async () => {
  const { status, json } = await ask<Edited>(editByInstruction, {
    input: 'make me loud',
    instruction: 'upper case',
    n: 2,
  });
  assert.equal(status, 200);
  assert.deepEqual(json, {
    object: 'edit',
    created: 1_767_225_600,
    choices: [
      { text: 'MAKE ME LOUD', index: 0 },
      { text: 'MAKE ME LOUD', index: 1 },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
  });
});

test('an edit with an unknown instruction returns the input unchanged', async () => {
  const { json } = await ask<Edited>(editByInstruction, { input: 'Some tekst', instruction: 'Fix the spelling' });
  assert.equal(json.choices[0]?.text, 'Some tekst');
});

test('an edit without input counts as an edit of an empty text', async () => {
  for (const input of [undefined, null, '']) {
    const { json } = await ask<Edited>(editByInstruction, { input, instruction: 'trim' });
    assert.deepEqual(json.choices, [{ text: '', index: 0 }]);
  }
});

test('refuses an invalid edit request and names the field', async () => {
  const rows: [fields: object, param: string, message: RegExp][] = [
    [{ input: 'a' }, 'instruction', /missing/],
    [{ input: 'a', instruction: ['trim'] }, 'instruction', /not a list/],
    [{ input: 5, instruction: 'trim' }, 'input', /not a number/],
    [{ input: 'a', instruction: 'trim', n: 21 }, 'n', /from 1 to 20/],
    [{ input: 'a'.repeat(600_000), instruction: 'trim' }, 'input', /longer than 131072 characters/],
    [
      { input: 'a'.repeat(1_000), instruction: `replace "a" with "${'b'.repeat(1_000)}"` },
      'instruction',
      /longer than 131072/,
    ],
  ];
  for (const [fields, param, message] of rows) {
    const { status, json } = await ask(editByInstruction, fields);
    assert.equal(status, 400);
    assert.equal(json.error.param, param);
    assert.match(json.error.message, message);
  }
});

const user = (content: unknown) => ({ role: 'user', content });

test("a chat completion repeats the user's last message", async () => {
  const messages = [
    { role: 'system', content: 'Be brief' },
    user('first'),
    { role: 'assistant', content: null },
    user('Say this'),
  ];
  const { status, json } = await ask<Record<string, unknown>>(chatByEcho, {
    model: 'my-name',
    messages,
    n: 2,
    top_p: 1,
  });
  assert.equal(status, 200);
  assert.match(String(json.id), /^chatcmpl-[0-9a-f]{24}$/);
  const choice = {
    message: { role: 'assistant', content: 'Say this', refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  };
  assert.deepEqual(json, {
    id: json.id,
    object: 'chat.completion',
    created: 1_767_225_600,
    model: 'my-name',
    choices: [
      { ...choice, index: 0 },
      { ...choice, index: 1 },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  });
});

test('chat reads messages that consist of parts, and stops at a token limit or stop sequence', async () => {
  const messages = [
    user([
      { type: 'text', text: 'one two' },
      { type: 'text', text: 'three' },
    ]),
  ];
  const contentOf = async (more: object) => {
    const { json } = await ask<{ choices: { message: { content: string }; finish_reason: string }[] }>(chatByEcho, {
      messages,
      ...more,
    });
    return json.choices.map(({ message, finish_reason: reason }) => [message.content, reason])[0];
  };
  assert.deepEqual(await contentOf({}), ['one two\nthree', 'stop']);
  assert.deepEqual(await contentOf({ max_tokens: 2 }), ['one two', 'length']);
  assert.deepEqual(await contentOf({ max_completion_tokens: 1, max_tokens: 2 }), ['one', 'length']);
  assert.deepEqual(await contentOf({ stop: [' two'] }), ['one', 'stop']);
});

test('a chat stream has the role, one word per event and the finish_reason, with usage on request', async () => {
  const fields = { messages: [user('one two')], stream: true, stream_options: { include_usage: true } };
  const { headers, text } = await ask(chatByEcho, fields);
  assert.equal(headers.get('content-type'), 'text/event-stream');
  const events = text.split('\n\n').map((event) => event.replace(/^data: /, ''));
  assert.deepEqual(events.splice(-2), ['[DONE]', '']);
  const chunks = events.map((event) => JSON.parse(event));
  assert.ok(chunks.every(({ object }) => object === 'chat.completion.chunk'));
  assert.deepEqual(
    chunks.map(({ choices: [choice] }) => choice && [choice.delta, choice.finish_reason]),
    [
      [{ role: 'assistant', content: '', refusal: null }, null],
      [{ content: 'one' }, null],
      [{ content: ' two' }, null],
      [{}, 'stop'],
      undefined,
    ],
  );
  assert.deepEqual(chunks.at(-1).usage, { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 });
});

test('refuses an invalid chat request and names the field', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
  for (const [messages, param] of [
    [undefined, 'messages'],
    ['hello', 'messages[0]'],
    [[user('x'), 7], 'messages[1]'],
    [[user(7)], 'messages[0].content'],
    [[user([{ type: 'text', text: 'x' }, image])], 'messages[0].content[1]'],
  ] as const) {
    const { status, json } = await ask(chatByEcho, { messages });
    assert.deepEqual([status, json.error.param], [400, param]);
  }
});
