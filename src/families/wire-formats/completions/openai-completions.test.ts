import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../core/errors.ts';
import { Asked, type Conversation, type TokenIds, Unfit } from '../../../core/translation.ts';
import { compileWatchedKeys, scanJson } from '../../../lib/json/json-scan.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '../../../lib/json/json-text.ts';
import { openaiCompletions } from './openai-completions.ts';

const json = (text: string): Json => parseJson(Buffer.from(text));

function object(text: string): JsonObject {
  const value = json(text);
  return isJsonObject(value) ? value : assert.fail(text);
}

function asked(body: string, tokenIds: TokenIds = 'decode'): Asked {
  return new Asked({
    body: object(body),
    model: 'up',
    publicModel: 'm',
    shape: undefined,
    tokenIds,
    options: {},
    id: 'x1',
    nowS: 5,
    unsupported: undefined,
    upstreamId: 'u',
  });
}

const both = { onePromptACall: true, misreadsTokens: true };

async function ask(facts: Parameters<typeof openaiCompletions>[0], body: string, tokenIds?: TokenIds) {
  const conversation = await openaiCompletions(facts).ask(asked(body, tokenIds));
  return { conversation, sent: conversation.requests.map((request) => writeJson(request.body).toString()) };
}

const read = async ({ read: toReply }: Conversation, ...answers: string[]) =>
  toReply(answers.map((answer) => ({ body: json(answer), headers: [] })));

test('a completions request is translated only if the upstream lacks something that the request uses', () => {
  const watched = compileWatchedKeys(['prompt']);
  const isNeeded = (facts: Parameters<typeof openaiCompletions>[0], prompt: string, tokenIds: TokenIds = 'decode') => {
    const body = Buffer.from(`{"prompt":${prompt}}`);
    const scan = scanJson(body, watched);
    assert.ok(scan.ok);
    return openaiCompletions(facts).isNeeded?.({ body, fields: scan.fields, shape: undefined, tokenIds });
  };
  for (const [facts, prompt, wanted] of [
    [both, '"a"', false],
    [both, '[]', false],
    [both, '["a"]', true],
    [both, '[1]', true],
    [both, '[[1]]', true],
    [{ onePromptACall: true }, '[1]', false],
    [{ onePromptACall: true }, '[[1],[2]]', true],
    [{ misreadsTokens: true }, '["a","b"]', false],
    [{ misreadsTokens: true }, '[1]', true],
    [{ misreadsTokens: true }, '[[1]]', true],
    [{}, '[[1]]', false],
  ] as const) {
    assert.equal(isNeeded(facts, prompt), wanted, prompt);
  }
  assert.equal(isNeeded(both, '[1]', 'pass'), false);
  assert.equal(isNeeded(both, '[[1]]', 'pass'), true);
  assert.equal(isNeeded({ misreadsTokens: true }, '[[1]]', 'pass'), false);
});

test('a list of prompts becomes one call per prompt, with all other fields unchanged', async () => {
  const { sent } = await ask(both, '{"n":1.0,"prompt":["a",[9906,1917]],"odd":[1e2],"model":"m"}');
  assert.deepEqual(sent, [
    '{"n":1.0,"prompt":"a","odd":[1e2],"model":"up"}',
    '{"n":1.0,"prompt":"Hello world","odd":[1e2],"model":"up"}',
  ]);
});

test('an upstream that takes lists of prompts gets one list, with token IDs decoded to text', async () => {
  const facts = { misreadsTokens: true };
  assert.deepEqual((await ask(facts, '{"prompt":[[9906,1917],[1578]]}')).sent, [
    '{"prompt":["Hello world"," again"],"model":"up"}',
  ]);
  assert.deepEqual((await ask(facts, '{"prompt":[9906,1917]}')).sent, ['{"prompt":"Hello world","model":"up"}']);
});

test('token IDs are sent unchanged to an upstream that uses the same vocabulary', async () => {
  assert.deepEqual((await ask(both, '{"prompt":[[7],[8,9],"a"]}', 'pass')).sent, [
    '{"prompt":[7],"model":"up"}',
    '{"prompt":[8,9],"model":"up"}',
    '{"prompt":"a","model":"up"}',
  ]);
  assert.deepEqual((await ask({ onePromptACall: true }, '{"prompt":[[7],[8]]}')).sent.length, 2);
});

test('refuses prompts that are neither text nor token IDs, and streams of several prompts', async () => {
  for (const [body, tokenIds] of [
    ['{"prompt":["a",{"text":"b"}]}'],
    ['{"prompt":[[1],[]]}', 'pass'],
    ['{"prompt":[[99999999]]}'],
    ['{"prompt":["a","b"],"stream":true}'],
  ] as const) {
    await assert.rejects(ask(both, body, tokenIds), (error) => {
      return error instanceof GatewayError && error.code === 'unsupported_parameter' && error.param === 'prompt';
    });
  }
  assert.ok((await ask(both, '{"prompt":["a"],"stream":true}')).conversation.stream);
  assert.equal((await ask(both, '{"prompt":["a","b"],"stream":false}')).conversation.stream, undefined);
});

test('an upstream with one prompt per call refuses an empty list and a list of more than 2048 prompts', async () => {
  const prompts = (count: number) => JSON.stringify({ prompt: Array.from({ length: count }, () => [9906]) });
  assert.equal((await ask(both, prompts(2048))).sent.length, 2048);
  for (const count of [0, 2049, 20_000]) {
    await assert.rejects(ask(both, prompts(count)), (error) => {
      return error instanceof GatewayError && error.code === 'unsupported_parameter' && error.param === 'prompt';
    });
  }
  await assert.rejects(ask(both, prompts(2049)), /2048 of them in a request at most/);
  assert.deepEqual((await ask({}, '{"prompt":[]}')).sent, ['{"prompt":[],"model":"up"}']);
});

test('choices of several calls are in the order of prompts, and their usage is added up', async () => {
  const { conversation } = await ask(both, '{"prompt":["a","b"],"n":2}');
  const answer = (first: string, second: string, count: number) =>
    `{"id":"cmpl-${first}","object":"text_completion","created":7,"model":"real","system_fingerprint":"fp","choices":[{"index":1,"text":"${second}","finish_reason":"length","stop_reason":1.0},{"index":0,"text":"${first}","finish_reason":"stop"}],"usage":{"prompt_tokens":${count},"completion_tokens":2,"total_tokens":${count + 2},"details":{"cached":${count}},"cost":0.5}}`;
  const { body, usage } = await read(conversation, answer('A', 'B', 1), answer('C', 'D', 10));
  assert.equal(
    writeJson(body).toString(),
    '{"id":"cmpl-A","object":"text_completion","created":7,"model":"real","system_fingerprint":"fp","choices":[' +
      '{"index":0,"text":"A","finish_reason":"stop"},{"index":1,"text":"B","finish_reason":"length","stop_reason":1.0},' +
      '{"index":2,"text":"C","finish_reason":"stop"},{"index":3,"text":"D","finish_reason":"length","stop_reason":1.0}],' +
      '"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15,"details":{"cached":11}}}',
  );
  assert.deepEqual(usage, { promptTokens: 11, completionTokens: 4, totalTokens: 15, searchUnits: null });
});

test('fills in a missing id and created, and drops usage that one of several calls lacks', async () => {
  const { conversation } = await ask(both, '{"prompt":["a","b"]}');
  const { body, usage } = await read(
    conversation,
    '{"choices":[{"index":0,"text":"A"}]}',
    '{"choices":[{"index":0,"text":"B"}],"usage":{"prompt_tokens":1}}',
  );
  assert.equal(
    writeJson(body).toString(),
    '{"id":"cmpl-x1","object":"text_completion","created":5,"model":"up","choices":[{"index":0,"text":"A"},{"index":1,"text":"B"}]}',
  );
  assert.equal(usage, null);
});

test('refuses an upstream response that does not have the shape of a completion', async () => {
  const { conversation } = await ask(both, '{"prompt":["a"]}');
  for (const answer of [
    '[]',
    '{"choices":{}}',
    '{"choices":[]}',
    '{"choices":[7]}',
    '{"choices":[{"index":0}]}',
    '{"choices":[{"text":"A"}]}',
    '{"choices":[{"index":1,"text":"A"}]}',
    '{"choices":[{"index":0,"text":null}]}',
    '{"choices":[{"index":0,"text":"A","finish_reason":7}]}',
    '{"choices":[{"index":0,"text":"A","finish_reason":"error"}]}',
    '{"choices":[{"index":0,"text":"A","logprobs":{"token_logprobs":[-1e999]}}]}',
    '{"choices":[{"index":0,"text":"A","logprobs":{"top_logprobs":[null,{"A":-1e999}]}}]}',
    '{"choices":[{"index":0,"text":"A"},{"index":0,"text":"B"}]}',
    '{"choices":[{"index":0,"text":"A"},{"index":1,"text":"B"}]}',
  ]) {
    await assert.rejects(read(conversation, answer), Unfit, answer);
  }
});

test('drops invalid token counts of an upstream, alone and in sums', async () => {
  const usageFor = async (...usages: string[]) => {
    const prompts = usages.map(() => 'a');
    const { conversation } = await ask(both, JSON.stringify({ prompt: prompts }));
    const answers = usages.map((usage) => `{"choices":[{"index":0,"text":"A"}],"usage":${usage}}`);
    const { body, usage } = await read(conversation, ...answers);
    const [, said] = /,"usage":(.*)\}$/.exec(writeJson(body).toString()) ?? [];
    return { said, usage };
  };
  const good = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}';
  for (const bad of [
    '{"prompt_tokens":-1,"completion_tokens":2,"total_tokens":1}',
    '{"prompt_tokens":1,"completion_tokens":1e999,"total_tokens":1e999}',
    '{"prompt_tokens":1.5,"completion_tokens":2,"total_tokens":3.5}',
    '{"prompt_tokens":"1","completion_tokens":2,"total_tokens":3}',
  ]) {
    assert.deepEqual(await usageFor(bad), { said: undefined, usage: null }, bad);
    assert.deepEqual(await usageFor(good, bad), { said: undefined, usage: null }, bad);
  }
  const extra = '{"prompt_tokens":1,"cost":0.50,"odd":-1e999,"details":{"cached":-1,"a":[1,2]},"speeds":[1,1e999]}';
  assert.equal((await usageFor(extra)).said, '{"prompt_tokens":1,"cost":0.50,"details":{"a":[1,2]}}');
  const lacking = '{"completion_tokens":2,"total_tokens":3}';
  assert.deepEqual(await usageFor(good, lacking), { said: undefined, usage: null });
  assert.equal((await usageFor(lacking, lacking)).said, '{"completion_tokens":4,"total_tokens":6}');
});

test("the number of choices in a response is not checked if the request's n is invalid", async () => {
  const { conversation } = await ask(both, '{"prompt":["a"],"n":"two"}');
  await read(conversation, '{"choices":[{"index":0,"text":"A"},{"index":1,"text":"B"}]}');
});

test('passes stream chunks unchanged, and a stream is complete when each choice has a finish_reason', async () => {
  const { conversation } = await ask(both, '{"prompt":["a"],"n":2,"stream":true}');
  const { stream } = conversation;
  assert.ok(stream);
  const chunk = (index: number, reason: string) =>
    json(`{"odd":1.0,"choices":[{"index":${index},"text":"A","finish_reason":${reason}}]}`);
  for (const [index, reason, isComplete] of [
    [0, 'null', false],
    [0, '"stop"', false],
    [1, '"length"', true],
  ] as const) {
    const event = chunk(index, reason);
    assert.deepEqual(stream.event(event), [event]);
    assert.equal(stream.isComplete, isComplete);
  }
  stream.event(json('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'));
  assert.deepEqual(stream.usage, { promptTokens: 1, completionTokens: 2, totalTokens: null, searchUnits: null });
  assert.deepEqual(stream.end(), []);
  for (const bad of [
    '{}',
    '[]',
    '{"choices":[{"index":2,"text":""}]}',
    '{"choices":[{"text":""}]}',
    '{"choices":[{"index":0}]}',
  ]) {
    assert.throws(() => stream.event(json(bad)), Unfit, bad);
  }
});

const streamOf = async (more = '') => {
  const { conversation } = await ask(both, `{"prompt":"a","stream":true${more}}`);
  return conversation.stream ?? assert.fail('no stream');
};

const saying = (reason: string, index = 0): Json =>
  json(`{"choices":[{"index":${index},"text":"A","finish_reason":${reason}}]}`);

test('a stream\'s finish_reason that is empty or the text "null" does not end the choice', async () => {
  const stream = await streamOf();
  for (const reason of ['""', '"null"', 'null']) stream.event(saying(reason));
  assert.equal(stream.isComplete, false);
  assert.throws(() => stream.end(), Unfit);
  assert.throws(() => stream.event(saying('"error"')), Unfit);
  stream.event(saying('"stop"'));
  assert.deepEqual([stream.isComplete, stream.end()], [true, []]);
});

test("an upstream's [DONE] ends the stream successfully only if each choice has finished", async () => {
  for (const events of [
    [],
    [saying('"stop"')],
    [saying('null'), saying('null', 1)],
    [saying('"stop"'), saying('null', 1)],
  ]) {
    const stream = await streamOf(',"n":2');
    for (const event of events) stream.event(event);
    assert.throws(() => stream.end(), Unfit);
  }
  const unknown = await streamOf(',"n":"two"');
  unknown.event(saying('"stop"', 1));
  assert.deepEqual(unknown.end(), []);
});

test('a stream chunk that has usage and no choices gets an empty list of choices', async () => {
  const stream = await streamOf();
  for (const [chunk, passed, promptTokens] of [
    ['{"usage":{"prompt_tokens":1}}', '{"usage":{"prompt_tokens":1},"choices":[]}', 1],
    ['{"choices":null,"usage":{"prompt_tokens":2}}', '{"choices":[],"usage":{"prompt_tokens":2}}', 2],
    ['{"choices":[],"usage":{"prompt_tokens":-2}}', '{"choices":[],"usage":null}', undefined],
  ] as const) {
    assert.equal(
      stream
        .event(json(chunk))
        .map((event) => writeJson(event).toString())
        .join(),
      passed,
    );
    assert.equal(stream.usage?.promptTokens, promptTokens);
  }
  assert.throws(() => stream.event(json('{"usage":null}')), Unfit);
});
