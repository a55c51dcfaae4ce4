/** Ollama's `generate` at its client API: completions, whole and as lines, over a service that has them and one that only chats. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientApiRig, startClientApis } from '../support/gateways/client-apis.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };

const whole: Handler = (request, reply) =>
  reply.json(200, {
    choices: [
      request.path === '/completions'
        ? { index: 0, text: 'good day', finish_reason: 'length' }
        : { index: 0, message: { role: 'assistant', content: 'good day' }, finish_reason: 'length' },
    ],
    usage,
  });

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const part = (text: string, finish: string | null = null): string =>
  event({ choices: [{ index: 0, text, finish_reason: finish }] });

const streaming =
  (...parts: readonly string[]): Handler =>
  (_request, reply) =>
    reply.bytes(200, [['content-type', 'text/event-stream']], parts.join(''));

const models = [
  { id: 'words', operations: ['completions'], targets: [{ upstream: 'openai', model: 'real' }] },
  { id: 'bridged', operations: ['completions'], targets: [{ upstream: 'openai', model: 'real', bridge: 'chat' }] },
];

async function generate({ rig }: ClientApiRig, body: object) {
  const answer = await rig.post('/api/generate', { model: 'words', prompt: 'say it', ...body });
  const lines = answer.body.toString().split('\n').filter(Boolean);
  return { answer, lines: lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

test('a plain response has text, finish reason and token counts', async (t) => {
  const clientApis = await startClientApis(t, whole, { models });
  for (const model of ['words', 'words:latest', 'bridged']) {
    const { answer, lines } = await generate(clientApis, { model, stream: false, options: null, system: '' });
    assert.equal(answer.status, 200, answer.body.toString());
    const [{ created_at: at, total_duration: ns, eval_duration: spent, ...said } = {}] = lines;
    assert.deepEqual(said, {
      model,
      response: 'good day',
      done: true,
      done_reason: 'length',
      load_duration: 0,
      prompt_eval_count: 4,
      eval_count: 2,
    });
    assert.ok(!Number.isNaN(Date.parse(String(at))) && Number.isSafeInteger(ns) && Number.isSafeInteger(spent));
    const { usage: counted } = await clientApis.rig.exchange(clientApis.rig.settled.length);
    assert.deepEqual([counted?.promptTokens, counted?.completionTokens], [4, 2]);
  }
});

test('options have the names of completions, and a negative number means no limit', async (t) => {
  const clientApis = await startClientApis(t, whole, { models });
  const options = { num_predict: 7, temperature: 0.5, top_p: null, stop: ['x'], seed: 1, num_ctx: 4096 };
  await generate(clientApis, { stream: false, suffix: 'end', raw: true, keep_alive: 0, context: [1], options });
  const wanted = {
    model: 'real',
    prompt: 'say it',
    suffix: 'end',
    temperature: 0.5,
    seed: 1,
    stop: ['x'],
    max_tokens: 7,
  };
  assert.deepEqual((await clientApis.asked()).body, wanted);
  await generate(clientApis, { stream: false, options: { num_predict: -1 } });
  assert.deepEqual((await clientApis.asked()).body, { model: 'real', prompt: 'say it' });
});

test('streams lines by default, the last one done', async (t) => {
  const counted = event({ choices: [], usage });
  const script = streaming(part('good '), part('day'), part('', 'stop'), counted, 'data: [DONE]\n\n');
  const clientApis = await startClientApis(t, script, { models });
  for (const more of [{}, { stream: true }, { stream: null }]) {
    const { answer, lines } = await generate(clientApis, more);
    assert.equal(answer.header('content-type'), 'application/x-ndjson');
    assert.equal(answer.complete, true);
    assert.ok(!answer.body.includes('\n\n') && !answer.body.includes('data:'));
    assert.deepEqual(
      lines.map(({ response, done }) => [response, done]),
      [
        ['good ', false],
        ['day', false],
        ['', true],
      ],
    );
    const last = lines.at(-1) ?? {};
    assert.deepEqual([last.done_reason, last.prompt_eval_count, last.eval_count], ['stop', 4, 2]);
    assert.equal((await clientApis.asked()).body.stream, true);
    const { usage: counted, outcome } = await clientApis.rig.exchange(clientApis.rig.settled.length);
    assert.deepEqual([counted?.completionTokens, outcome], [2, 'ok']);
  }
});

test('a broken or failed stream never ends with done', async (t) => {
  const cut = await startClientApis(t, streaming(part('good ')), { models });
  const broken = await generate(cut, {});
  assert.equal(broken.answer.complete, false);
  assert.deepEqual(
    broken.lines.map(({ done }) => done),
    [false],
  );
  const failing = await startClientApis(t, streaming(part('good '), event({ error: { message: 'out of it' } })), {
    models,
  });
  const failed = await generate(failing, {});
  assert.deepEqual(failed.lines.at(-1), { error: 'out of it' });
  assert.equal(failed.answer.complete, false);
  assert.equal((await failing.rig.exchange()).outcome, 'cut');
});

test('a generate request without a prompt reports the model as loaded or unloaded, without an upstream call', async (t) => {
  const clientApis = await startClientApis(t, whole, { models });
  for (const [more, reason] of [
    [{ prompt: '' }, 'load'],
    [{ prompt: null, keep_alive: 0 }, 'unload'],
  ] as const) {
    const { lines } = await generate(clientApis, more);
    assert.deepEqual([lines.length, lines[0]?.done, lines[0]?.done_reason], [1, true, reason]);
  }
  assert.equal(clientApis.upstream.requests.length, 0);
});

test('fields that completions lack are refused by name', async (t) => {
  const clientApis = await startClientApis(t, whole, { models });
  const rows: readonly (readonly [field: string, value: unknown])[] = [
    ['system', 'be brief'],
    ['template', '{{ .Prompt }}'],
    ['images', ['AA==']],
    ['format', 'json'],
    ['format', { type: 'object' }],
    ['think', true],
    ['logprobs', true],
    ['prompt', ['a']],
    ['stream', 'no'],
    ['options', []],
  ];
  for (const [field, value] of rows) {
    const { answer } = await generate(clientApis, { [field]: value });
    assert.equal(answer.status, 400, field);
    assert.match(answer.body.toString(), new RegExp(`^\\{"error":"The field \\\\"${field}\\\\" `), field);
  }
  assert.equal(clientApis.upstream.requests.length, 0);
});
